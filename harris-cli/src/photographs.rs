//! The photographs that come with the program, for measurements.

use anyhow::{Context, Result};
use image::DynamicImage;

/// The files, with their names.
const FILES: [(&str, &[u8]); 3] = [
    ("brick", include_bytes!("../data/brick.png")),
    ("camera", include_bytes!("../data/camera.png")),
    ("coffee", include_bytes!("../data/coffee.png")),
];

/// Returns one photograph.
///
/// # Errors
/// There is none of this name.
pub fn named(name: &str) -> Result<DynamicImage> {
    let (_, file) = FILES.iter().find(|(other, _)| *other == name).context("no such photograph")?;
    Ok(image::load_from_memory(file)?)
}

/// Returns all photographs with their names: `brick` and `camera` are gray, `coffee` is in colour.
///
/// # Errors
/// Never: the files are part of the program.
pub fn all() -> Result<Vec<(String, DynamicImage)>> {
    FILES.iter().map(|(name, file)| Ok(((*name).to_owned(), image::load_from_memory(file)?))).collect()
}
