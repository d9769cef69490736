//! Planes of numbers, and their extension beyond the edges.

use std::ops::{Add, Mul, Sub};

use ndarray::Array2;

use super::border;
use crate::config::Border;
use crate::error::Error;
use crate::image::{ImageView, Raster, Sample, Samples};
use crate::memory;

/// A number type of the reference stages: exact `i32` and `i64`, or `f32`.
#[doc(hidden)]
pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// The value outside the image under [`Border::Zero`].
    const ZERO: Self;

    /// A small integer weight in this type, exactly.
    fn weight(value: u8) -> Self;
}

impl Number for i32 {
    const ZERO: Self = 0;
    fn weight(value: u8) -> Self {
        value.into()
    }
}

impl Number for i64 {
    const ZERO: Self = 0;
    fn weight(value: u8) -> Self {
        value.into()
    }
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    fn weight(value: u8) -> Self {
        value.into()
    }
}

/// One channel, H × W: integer until the first stage with float weights, then float.
#[derive(Clone, Debug, PartialEq)]
pub enum Plane {
    /// Exact samples or gradients of an integer image.
    Integer(Array2<i32>),
    /// Float samples or gradients.
    Float(Array2<f32>),
}

impl Plane {
    /// Splits an image into its channels.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn channels(image: &ImageView<'_>) -> Result<Vec<Plane>, Error> {
        match image.samples() {
            Samples::U8(raster) => split(raster, i32::from).map(|p| p.map(Plane::Integer)).collect(),
            Samples::U16(raster) => split(raster, i32::from).map(|p| p.map(Plane::Integer)).collect(),
            Samples::F32(raster) => split(raster, |v| v).map(|p| p.map(Plane::Float)).collect(),
        }
    }

    /// The plane as f32, exactly: wherever a stage calls this, integers are below 2²⁴ in magnitude.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn to_float(&self) -> Result<Array2<f32>, Error> {
        match self {
            Plane::Integer(plane) => memory::map(plane, |&v| v as f32),
            Plane::Float(plane) => memory::map(plane, |&v| v),
        }
    }

    /// A copy of the plane.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[doc(hidden)]
    pub fn copy(&self) -> Result<Self, Error> {
        match self {
            Plane::Integer(plane) => memory::map(plane, |&v| v).map(Plane::Integer),
            Plane::Float(plane) => memory::map(plane, |&v| v).map(Plane::Float),
        }
    }
}

/// The channels of a raster as planes, each sample converted.
fn split<'a, T: Sample, U>(
    raster: Raster<'a, T>,
    convert: impl Fn(T) -> U + Copy + 'a,
) -> impl Iterator<Item = Result<Array2<U>, Error>> + 'a {
    let (height, width, channels) = (raster.height(), raster.width(), raster.channels());
    (0..channels).map(move |channel| {
        memory::array_of((height, width), |y, x| convert(raster.row(y)[x * channels + channel]))
    })
}

/// A plane that is extended beyond its edges by a border rule.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Extended<'a, T> {
    plane: &'a Array2<T>,
    border: Border,
}

impl<'a, T: Number> Extended<'a, T> {
    /// Extends `plane` by `border`.
    #[must_use]
    pub fn new(plane: &'a Array2<T>, border: Border) -> Self {
        Self { plane, border }
    }

    /// Extends another plane by the same border rule.
    #[must_use]
    pub fn like<'b>(&self, plane: &'b Array2<T>) -> Extended<'b, T> {
        Extended::new(plane, self.border)
    }

    /// The value p(x, y).
    #[must_use]
    pub fn at(&self, x: isize, y: isize) -> T {
        let (height, width) = self.plane.dim();
        match (border::inside(self.border, x, width), border::inside(self.border, y, height)) {
            (Some(x), Some(y)) => self.plane[[y, x]],
            (None, _) | (_, None) => T::ZERO,
        }
    }

    /// A plane of equal size, each value computed from the neighbourhood of its place.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn map<U>(&self, mut value: impl FnMut(&Self, isize, isize) -> U) -> Result<Array2<U>, Error> {
        memory::array_of(self.plane.dim(), |y, x| value(self, x as isize, y as isize))
    }
}
