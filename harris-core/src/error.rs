//! The error type: invalid images, masks and configurations, and failures of backends.

use crate::limits::{
    BOX_WINDOW_SIZES, INLIER_DISTANCES, LENGTH, MAGNIFICATIONS, MAX_SAMPLE, MAX_SCALE, ROSIN_BINS,
    SIGMA_RANGE,
};

/// An error of this library, one variant for each cause.
///
/// The message names the value that was wrong and the values that are valid. Objects that returned
/// an error can be used again. What a caller can do:
///
/// | variants | cause | remedy |
/// | --- | --- | --- |
/// | [`EmptyImage`], [`ImageTooLarge`], [`Channels`], [`StrideTooShort`], [`SliceTooShort`] | size, stride and samples do not fit each other | give [`ImageView`](crate::ImageView) the image's real dimensions |
/// | [`PixelFormat`], [`RowsNotContiguous`] | samples lie in memory as no detector takes them | copy: `to_rgb8()`, `as_standard_layout()` |
/// | [`NonFinite`], [`SampleTooLarge`], [`SampleOutOfRange`], [`RangeTooSmall`] | float samples out of range | scale them to 0..1, and replace NaN |
/// | [`ImageTooSmall`] | the filters are wider than the image | another [`Border`](crate::Border), smaller filters, or skip the image |
/// | [`MaskFormat`], [`MaskSize`] | the mask does not fit the image | an 8-bit gray mask of the image's size |
/// | [`Aperture`] to [`Magnification`], [`Ratio`], [`InlierDistance`], [`Confidence`], [`OutOfRange`], [`Tolerance`] | a configuration's value is out of range | show the message to whoever chose the value |
/// | [`Notation`], [`UnknownPreset`], [`UnknownFastHessianPreset`] | a text names no choice | show the message, which lists the choices |
/// | [`KeypointOutside`], [`KeypointScale`] | a keypoint cannot be described | drop it, or choose another magnification |
/// | [`DescriptorLength`], [`DescriptorValue`], [`MatchIndex`] | lists do not belong together, or were damaged | check where they come from |
/// | [`SingularHomography`] | a map that has no inverse | leave this pair of views out |
/// | [`OutOfMemory`] | the host has too little memory | smaller images or lists; `shrink_to_fit` |
/// | [`Backend`] | threads, driver or device failed | downcast for the cause; use another backend |
///
/// Sizes are in pixels, strides and lengths in samples, coordinates in pixels from the top left.
///
/// ```
/// use harris_core::{Error, HarrisConfig, ImageView, Window};
///
/// // A value of a configuration.
/// let error = HarrisConfig::builder().window(Window::Binomial { size: 4 }).build().unwrap_err();
/// assert_eq!(error.to_string(), "a binomial window has 3, 5 or 7 taps, not 4");
/// // An image: its samples are fewer than its size says.
/// let error = ImageView::gray(&[0_u8; 99], 10, 10).unwrap_err();
/// assert!(matches!(error, Error::SliceTooShort { len: 99, needed: 100 }));
/// ```
///
/// [`EmptyImage`]: Error::EmptyImage
/// [`ImageTooLarge`]: Error::ImageTooLarge
/// [`Channels`]: Error::Channels
/// [`StrideTooShort`]: Error::StrideTooShort
/// [`SliceTooShort`]: Error::SliceTooShort
/// [`PixelFormat`]: Error::PixelFormat
/// [`RowsNotContiguous`]: Error::RowsNotContiguous
/// [`NonFinite`]: Error::NonFinite
/// [`SampleTooLarge`]: Error::SampleTooLarge
/// [`SampleOutOfRange`]: Error::SampleOutOfRange
/// [`RangeTooSmall`]: Error::RangeTooSmall
/// [`ImageTooSmall`]: Error::ImageTooSmall
/// [`MaskFormat`]: Error::MaskFormat
/// [`MaskSize`]: Error::MaskSize
/// [`Aperture`]: Error::Aperture
/// [`Magnification`]: Error::Magnification
/// [`Ratio`]: Error::Ratio
/// [`InlierDistance`]: Error::InlierDistance
/// [`Confidence`]: Error::Confidence
/// [`OutOfRange`]: Error::OutOfRange
/// [`Tolerance`]: Error::Tolerance
/// [`Notation`]: Error::Notation
/// [`UnknownPreset`]: Error::UnknownPreset
/// [`UnknownFastHessianPreset`]: Error::UnknownFastHessianPreset
/// [`KeypointOutside`]: Error::KeypointOutside
/// [`KeypointScale`]: Error::KeypointScale
/// [`DescriptorLength`]: Error::DescriptorLength
/// [`DescriptorValue`]: Error::DescriptorValue
/// [`MatchIndex`]: Error::MatchIndex
/// [`SingularHomography`]: Error::SingularHomography
/// [`OutOfMemory`]: Error::OutOfMemory
/// [`Backend`]: Error::Backend
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The image has no pixels.
    #[error("the image is empty: {width} x {height} pixels")]
    EmptyImage {
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
    },
    /// A side is longer than [`MAX_SIDE`](crate::MAX_SIDE), or the product of the dimensions
    /// overflows.
    #[error(
        "the image is too large: {width} x {height} pixels of {channels} channel(s), rows {stride} samples apart"
    )]
    ImageTooLarge {
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
        /// Samples per pixel.
        channels: usize,
        /// Samples from one row to the next.
        stride: usize,
    },
    /// No pixel has its whole support in the image.
    ///
    /// Occurs under [`Border::Skip`](crate::Border::Skip), and for the smallest filters of the
    /// Fast-Hessian detector.
    #[error(
        "the image is too small: {width} x {height} pixels, where at least {needed} x {needed} are needed"
    )]
    ImageTooSmall {
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
        /// The least width and height that leave one valid pixel.
        needed: usize,
    },
    /// A number of samples per pixel other than one or three.
    #[error("an image has 1 or 3 channels, not {channels}")]
    Channels {
        /// Samples per pixel.
        channels: usize,
    },
    /// An image of the `image` crate whose format no detector takes, as with an alpha channel.
    ///
    /// Images are borrowed as they lie in memory, so the caller converts them.
    #[error("no detector takes an image of format {format}; convert it with `{conversion}()` first")]
    PixelFormat {
        /// The variant of `image::DynamicImage`, as `Rgba8`.
        format: &'static str,
        /// The method of `image::DynamicImage` that drops the alpha channel and keeps the sample
        /// type.
        conversion: &'static str,
    },
    /// The rows of the image would overlap: the stride is shorter than a row.
    #[error("the row stride is too short: {stride} samples, where a row has {needed}")]
    StrideTooShort {
        /// Samples from one row to the next.
        stride: usize,
        /// Samples in a row.
        needed: usize,
    },
    /// The slice ends before the image does.
    #[error("the slice is too short: {len} samples, where the image needs {needed}")]
    SliceTooShort {
        /// Samples in the slice.
        len: usize,
        /// Samples from the first of the image to its last.
        needed: usize,
    },
    /// The samples of a row do not lie side by side in memory, as in a transposed array.
    #[error("the samples of a row must lie side by side in memory; copy the array to standard layout first")]
    RowsNotContiguous,
    /// A sample is NaN or infinite.
    #[error("the sample at x {x}, y {y}, channel {channel} is not finite: {value}")]
    NonFinite {
        /// Column of the pixel.
        x: usize,
        /// Row of the pixel.
        y: usize,
        /// Channel of the sample.
        channel: usize,
        /// The sample.
        value: f32,
    },
    /// A float sample is so large that responses could overflow.
    #[error("the sample at x {x}, y {y}, channel {channel} is too large: {value}, where {limit} is the limit", limit = MAX_SAMPLE)]
    SampleTooLarge {
        /// Column of the pixel.
        x: usize,
        /// Row of the pixel.
        y: usize,
        /// Channel of the sample.
        channel: usize,
        /// The sample.
        value: f32,
    },
    /// Float samples that lie so close together that corners are lost among the subnormal numbers.
    ///
    /// No corner has a response that is a normal number, in an image that is not flat. Scale the
    /// samples, as to 0..1.
    #[error(
        "the samples differ by at most {range}, so that corners may be lost where {least} is not reached; scale the samples, as to 0..1"
    )]
    RangeTooSmall {
        /// The greatest difference of two samples of a channel.
        range: f32,
        /// The range from which on no corners are lost ([`MIN_RANGE`](crate::MIN_RANGE)).
        least: f32,
    },
    /// A float sample outside 0..=1, for a detector whose sums must be exact.
    #[error(
        "the sample at x {x}, y {y}, channel {channel} is {value}; exact sums of float samples need them in 0..=1"
    )]
    SampleOutOfRange {
        /// Column of the pixel.
        x: usize,
        /// Row of the pixel.
        y: usize,
        /// Channel of the sample.
        channel: usize,
        /// The sample.
        value: f32,
    },
    /// The mask's size is not the image's.
    #[error("the mask has {mask_width} x {mask_height} pixels, the image {width} x {height}")]
    MaskSize {
        /// Width of the mask.
        mask_width: usize,
        /// Height of the mask.
        mask_height: usize,
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
    },
    /// The mask is not an 8-bit image of one channel.
    #[error("a mask is an 8-bit image of one channel")]
    MaskFormat,
    /// A smoothing, gradient or window aperture that is even, too small or too large.
    #[error("the aperture of {stage} must be odd and from {least} to {most}, not {size}")]
    Aperture {
        /// The stage and its choice, as in `window box`.
        stage: &'static str,
        /// The size asked for.
        size: u32,
        /// The least size.
        least: u32,
        /// The greatest size.
        most: u32,
    },
    /// A box window that is too small or too large.
    #[error("a box window is from {least} to {most} pixels wide, not {size}", least = BOX_WINDOW_SIZES.start(), most = BOX_WINDOW_SIZES.end())]
    BoxWindowSize {
        /// The size asked for.
        size: u32,
    },
    /// A binomial window of a size that is not 3, 5 or 7.
    #[error("a binomial window has 3, 5 or 7 taps, not {size}")]
    BinomialSize {
        /// The size asked for.
        size: u32,
    },
    /// A smoothing, gradient and window whose integer sums could exceed 64 bits.
    #[error(
        "smoothing {smoothing} and gradient {gradient} with this window could overflow 64-bit sums: its taps sum to {taps} along an axis (a box of that size), and {most} is the most; a smaller or a Gaussian window will do"
    )]
    TensorOverflow {
        /// The smoothing, as a text.
        smoothing: String,
        /// The gradient, as a text.
        gradient: String,
        /// Sum of the window's taps along an axis: n for box n, 2ⁿ⁻¹ for binomial n.
        taps: u32,
        /// The greatest such sum for this smoothing and gradient.
        most: u32,
    },
    /// A standard deviation that is not finite or out of range.
    #[error("sigma must be from {least} to {most} pixels, not {sigma}", least = SIGMA_RANGE.start(), most = SIGMA_RANGE.end())]
    Sigma {
        /// The value asked for.
        sigma: f64,
    },
    /// A measure's parameter that is not finite or out of range.
    #[error("{parameter} must be {expected}, not {value}")]
    MeasureParameter {
        /// The measure and its parameter, as in `Harris's k`.
        parameter: &'static str,
        /// The value asked for.
        value: f32,
        /// The values that are valid, in words.
        expected: &'static str,
    },
    /// An absolute threshold that is not finite or negative.
    #[error("an absolute threshold must be finite and at least 0, not {value}")]
    AbsoluteThreshold {
        /// The value asked for.
        value: f32,
    },
    /// A relative threshold outside 0 to 1.
    #[error("a relative threshold must be from 0 to 1, not {quality}")]
    RelativeThreshold {
        /// The value asked for.
        quality: f64,
    },
    /// A histogram of too few or too many bins.
    #[error("Rosin's histogram must have from {least} to {most} bins, not {bins}", least = ROSIN_BINS.start(), most = ROSIN_BINS.end())]
    RosinBins {
        /// The number asked for.
        bins: u32,
    },
    /// A distance that is not finite or negative.
    #[error("the least distance must be finite and at least 0, not {distance}")]
    MinDistance {
        /// The value asked for.
        distance: f64,
    },
    /// A limit of no corners at all.
    #[error("the number of keypoints must be at least 1; leave the limit out for all")]
    MaxCorners,
    /// A whole number of a configuration that is out of range, as the octaves of a Fast-Hessian
    /// detector.
    #[error("the number of {what} must be from {least} to {most}, not {value}")]
    Count {
        /// What is counted, as in `octaves`.
        what: &'static str,
        /// The number asked for.
        value: u32,
        /// The least number.
        least: u32,
        /// The greatest number.
        most: u32,
    },
    /// A filter of the Fast-Hessian detector whose sums could exceed a signed 32-bit integer.
    #[error(
        "a Fast-Hessian filter of {filter} pixels could overflow 32-bit sums of samples up to {levels}: {most} pixels are the most"
    )]
    FilterTooLarge {
        /// Width of the largest filter in pixels.
        filter: usize,
        /// The greatest width for such samples, in pixels.
        most: usize,
        /// The gray level of full brightness.
        levels: u32,
    },
    /// A magnification of descriptor windows that is not finite or out of range.
    #[error("the magnification must be from {least} to {most}, not {magnification}", least = MAGNIFICATIONS.start(), most = MAGNIFICATIONS.end())]
    Magnification {
        /// The value asked for.
        magnification: f32,
    },
    /// A keypoint to describe that does not lie in the image.
    #[error("keypoint {index} lies at x {x}, y {y}, which is not in the image of {width} x {height} pixels")]
    KeypointOutside {
        /// The keypoint's index in the list.
        index: usize,
        /// The keypoint's column.
        x: f32,
        /// The keypoint's row.
        y: f32,
        /// Width of the image.
        width: usize,
        /// Height of the image.
        height: usize,
    },
    /// A keypoint to describe whose scale, magnified, is not positive or too large.
    #[error("keypoint {index} has a scale of {scale}, magnified, which is not above 0 and at most {most}", most = MAX_SCALE)]
    KeypointScale {
        /// The keypoint's index in the list.
        index: usize,
        /// The keypoint's scale times the magnification.
        scale: f32,
    },
    /// Descriptors whose length is not SURF's 64 values.
    #[error("a descriptor has {needed} values, not {found}", needed = LENGTH)]
    DescriptorLength {
        /// Values of the descriptors given.
        found: usize,
    },
    /// A descriptor to match has a value that is not finite.
    #[error("value {column} of descriptor {row} is not finite: {value}")]
    DescriptorValue {
        /// The descriptor's row.
        row: usize,
        /// The value's column.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A ratio of distances outside 0 to 1.
    #[error("the ratio of distances must be above 0 and at most 1, not {ratio}")]
    Ratio {
        /// The value asked for.
        ratio: f32,
    },
    /// A match of a keypoint that its list does not have.
    #[error("match {index} has keypoint {keypoint} of a list of {keypoints}")]
    MatchIndex {
        /// The match's index in the list.
        index: usize,
        /// The index of the keypoint.
        keypoint: usize,
        /// The number of keypoints in the list.
        keypoints: usize,
    },
    /// A greatest distance of inliers that is not finite or out of range.
    #[error("the distance of inliers must be from {least} to {most} pixels, not {distance}", least = INLIER_DISTANCES.start(), most = INLIER_DISTANCES.end())]
    InlierDistance {
        /// The value asked for, in pixels.
        distance: f64,
    },
    /// A confidence that is no probability between 0 and 1.
    #[error("the confidence must be above 0 and below 1, not {confidence}")]
    Confidence {
        /// The value asked for.
        confidence: f64,
    },
    /// A number of an evaluation that is not finite or out of range, as the scale of a view.
    #[error("the {what} must be from {least} to {most}, not {value}")]
    OutOfRange {
        /// What the number is, as in `scale`, with its unit.
        what: &'static str,
        /// The value asked for.
        value: f64,
        /// The least value.
        least: f64,
        /// The greatest value.
        most: f64,
    },
    /// A tolerance of an evaluation that is negative or not finite.
    #[error("the tolerance must be finite and at least 0, not {tolerance}")]
    Tolerance {
        /// The value asked for, in pixels.
        tolerance: f64,
    },
    /// A homography between two views that has no inverse.
    #[error("the homography between the views has no inverse")]
    SingularHomography,
    /// A text that names no choice.
    #[error("`{text}` is no {what}; write {expected}")]
    Notation {
        /// The choice that was expected, as in `window`.
        what: &'static str,
        /// The text.
        text: String,
        /// The valid forms, separated by bars.
        expected: &'static str,
    },
    /// A name that is no preset's.
    #[error("there is no preset `{name}`; the presets are {known}")]
    UnknownPreset {
        /// The name asked for.
        name: String,
        /// The names of all presets, separated by commas.
        known: String,
    },
    /// A name that is no Fast-Hessian preset's.
    #[error("there is no preset `{name}` of the Fast-Hessian detector; its presets are {known}")]
    UnknownFastHessianPreset {
        /// The name asked for.
        name: String,
        /// The names of all presets, separated by commas.
        known: String,
    },
    /// Memory of the host could not be had: an image or a list is too large for it.
    ///
    /// Memory of a device is the backend's failure.
    #[error("out of memory: {bytes} bytes were requested")]
    OutOfMemory {
        /// Bytes of the piece of memory that was asked for last.
        bytes: usize,
    },
    /// A failure of the backend itself: its threads, its driver, its device and the memory of that.
    ///
    /// `downcast_ref` gives the backend's own error: `CudaError` and `GpuError` of harris-cuda,
    /// `PoolError` of harris-cpu, `CudaNotBuilt` of harris.
    #[error(transparent)]
    Backend(Box<dyn std::error::Error + Send + Sync>),
}
