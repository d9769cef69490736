//! The photographs of the experiments.

use std::collections::HashSet;
use std::path::Path;

use crate::input;
use anyhow::{Result, ensure};
use harris_core::{Error, ImageView};
use image::imageops::FilterType;
use image::{DynamicImage, GrayImage};
use ndarray::Array2;

/// Reads all photographs of a folder with their names, in colour if they have it.
pub(crate) fn read(folder: Option<&Path>) -> Result<Vec<(String, DynamicImage)>> {
    let Some(folder) = folder else { return crate::photographs::all() };
    let files = input::expand(&[folder.to_owned()])?;
    let read = |path: &Path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, input::read_image(path, true, &input::ReadOptions::default())?.into_dynamic()))
    };
    let photographs: Vec<_> = files.iter().map(|path| read(path)).collect::<Result<_>>()?;
    let mut names = HashSet::new();
    for (name, _) in &photographs {
        // Tables and charts are called by these names.
        ensure!(names.insert(name), "{} has two photographs of the name {name}", folder.display());
    }
    Ok(photographs)
}

/// Returns the photograph in gray, scaled to a size.
pub(crate) fn scaled(photograph: &DynamicImage, width: usize, height: usize) -> GrayImage {
    photograph.resize_exact(width as u32, height as u32, FilterType::Triangle).to_luma8()
}

/// Returns the first photograph in colour, scaled to a size: in gray for one channel. Without a
/// photograph in colour, returns a gray one.
pub(crate) fn with_channels(
    photographs: &[(String, DynamicImage)],
    (width, height): (usize, usize),
    channels: usize,
) -> DynamicImage {
    let colour = photographs.iter().find(|(_, photograph)| photograph.color().has_color());
    let (_, photograph) = colour.unwrap_or(&photographs[0]);
    let scaled = photograph.resize_exact(width as u32, height as u32, FilterType::Triangle);
    if channels == 1 { scaled.to_luma8().into() } else { scaled.to_rgb8().into() }
}

/// Returns the photograph in gray, tiled to a size, so that the density of corners stays.
pub(crate) fn tiled(photograph: &DynamicImage, width: usize, height: usize) -> GrayImage {
    let gray = photograph.to_luma8();
    GrayImage::from_fn(width as u32, height as u32, |x, y| {
        *gray.get_pixel(x % gray.width(), y % gray.height())
    })
}

/// Returns a photograph in gray, with levels from 0 to 1.
pub(crate) fn levels(photograph: &DynamicImage) -> Array2<f64> {
    let gray = photograph.to_luma8();
    Array2::from_shape_fn((gray.height() as usize, gray.width() as usize), |(y, x)| {
        f64::from(gray.get_pixel(x as u32, y as u32).0[0]) / 255.0
    })
}

pub(crate) fn gray_view(image: &GrayImage) -> Result<ImageView<'_>, Error> {
    ImageView::gray(image.as_raw(), image.width() as usize, image.height() as usize)
}
