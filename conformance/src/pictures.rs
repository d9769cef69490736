//! Images that own their samples: drawn, random, and photographs.

use std::path::PathBuf;

use harris_core::ImageView;

/// An image with its samples, stride and mask.
#[derive(Clone)]
pub struct Picture {
    /// The samples, with rows [`stride`](Self::stride) samples apart.
    pub samples: Pixels,
    /// The width in pixels.
    pub width: usize,
    /// The height in pixels.
    pub height: usize,
    /// The number of channels, 1 or 3.
    pub channels: usize,
    /// The number of samples from row to row.
    pub stride: usize,
    /// A mask of width times height bytes, zero where no corner is wanted.
    pub mask: Option<Vec<u8>>,
}

/// Samples of one type.
#[derive(Clone)]
pub enum Pixels {
    /// 8 bits.
    U8(Vec<u8>),
    /// 16 bits.
    U16(Vec<u16>),
    /// Floats.
    F32(Vec<f32>),
}

/// A sample type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// 8 bits.
    U8,
    /// 16 bits.
    U16,
    /// Floats.
    F32,
}

/// All sample types.
pub const DEPTHS: [Depth; 3] = [Depth::U8, Depth::U16, Depth::F32];

impl Picture {
    /// Draws an image: `brightness(x, y, channel)`, from 0 to 1, is scaled to the sample type.
    pub fn draw(
        depth: Depth,
        (width, height, channels): (usize, usize, usize),
        brightness: impl Fn(usize, usize, usize) -> f64,
    ) -> Self {
        let values = (0..height * width * channels).map(|i| {
            let (pixel, channel) = (i / channels, i % channels);
            brightness(pixel % width, pixel / width, channel)
        });
        let samples = match depth {
            Depth::U8 => Pixels::U8(values.map(|v| (v * 255.0).round() as u8).collect()),
            Depth::U16 => Pixels::U16(values.map(|v| (v * 65535.0).round() as u16).collect()),
            Depth::F32 => Pixels::F32(values.map(|v| v as f32).collect()),
        };
        Self { samples, width, height, channels, stride: width * channels, mask: None }
    }

    /// Adds a gap of `gap` samples behind each row. Their values must not be read.
    #[must_use]
    pub fn with_gap(mut self, gap: usize) -> Self {
        let row = self.width * self.channels;
        let rows = self.height;
        self.stride = row + gap;
        match &mut self.samples {
            Pixels::U8(samples) => *samples = with_row_gaps(samples, row, rows, gap, 0xA5),
            Pixels::U16(samples) => *samples = with_row_gaps(samples, row, rows, gap, 0xA5A5),
            Pixels::F32(samples) => *samples = with_row_gaps(samples, row, rows, gap, f32::NAN),
        }
        self
    }

    /// Adds a mask: bytes from 1 to 255 where `wanted(x, y)`, else zero.
    #[must_use]
    pub fn with_mask(mut self, wanted: impl Fn(usize, usize) -> bool) -> Self {
        let (width, height) = (self.width, self.height);
        let byte = |i| if wanted(i % width, i / width) { 255 - (i % 255) as u8 } else { 0 };
        self.mask = Some((0..width * height).map(byte).collect());
        self
    }

    /// Returns a view, as detectors take it.
    ///
    /// # Panics
    /// If the picture's fields do not fit each other.
    #[must_use]
    pub fn view(&self) -> ImageView<'_> {
        let (w, h, c, stride) = (self.width, self.height, self.channels, self.stride);
        let view = match &self.samples {
            Pixels::U8(samples) => ImageView::strided(samples, w, h, c, stride),
            Pixels::U16(samples) => ImageView::strided(samples, w, h, c, stride),
            Pixels::F32(samples) => ImageView::strided(samples, w, h, c, stride),
        };
        let view = view.expect("a picture is a valid image");
        match &self.mask {
            Some(mask) => {
                let mask = ImageView::gray(mask, w, h).expect("a mask is a valid image");
                view.with_mask(mask).expect("the mask is of the picture's size")
            }
            None => view,
        }
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let depth = match self.samples {
            Pixels::U8(_) => Depth::U8,
            Pixels::U16(_) => Depth::U16,
            Pixels::F32(_) => Depth::F32,
        };
        let Self { width, height, channels, stride, .. } = self;
        write!(f, "{depth:?} {width}x{height}x{channels} stride {stride}")?;
        if self.mask.is_some() { write!(f, " masked") } else { Ok(()) }
    }
}

fn with_row_gaps<T: Copy>(samples: &[T], row: usize, rows: usize, gap: usize, filler: T) -> Vec<T> {
    let mut spaced = Vec::with_capacity((row + gap) * rows);
    for (i, samples) in samples.chunks(row).enumerate() {
        spaced.extend_from_slice(samples);
        // The last row has no gap behind it: reading there would be out of bounds.
        if i + 1 < rows {
            spaced.extend(std::iter::repeat_n(filler, gap));
        }
    }
    spaced
}

/// Returns noise from 0 to 1: a hash of seed, position and channel (SplitMix64, Steele et al.
/// 2014).
#[must_use]
pub fn noise(seed: u64, x: usize, y: usize, channel: usize) -> f64 {
    let place = (y as u64) << 34 | (x as u64) << 4 | channel as u64;
    let mut z = seed.wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) as f64 / u64::MAX as f64
}

/// Draws a lattice of dots 8 pixels apart, of brightness `levels` / 255, shifted by `moved`.
/// Hundreds of its corners are equally strong.
#[must_use]
pub fn dots(moved: usize, levels: u8) -> Picture {
    let is_dot = move |x: usize, y: usize| (x + moved) % 8 == 4 && (y + 3 * moved) % 8 == 4;
    let level = f64::from(levels) / 255.0;
    Picture::draw(Depth::U8, (200, 120, 1), |x, y, _| if is_dot(x, y) { level } else { 0.0 })
}

/// Reads the photographs of examples/data, or of the folder that HARRIS_DATA names. Returns their
/// names with RGB or gray images.
///
/// # Panics
/// If the folder or a file cannot be read.
#[must_use]
pub fn photographs() -> Vec<(String, image::DynamicImage)> {
    // Tests may run without the repository.
    let folder = std::env::var_os("HARRIS_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/data"), PathBuf::from);
    let mut paths: Vec<_> = (folder.read_dir().expect("examples/data is there"))
        .map(|entry| entry.expect("examples/data can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "png"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 2, "examples/data has photographs");
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, image::open(&path).expect("a photograph can be read"))
        })
        .collect()
}
