//! The places of several images in one file, found by the images' paths.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::input;

/// A place in an image: x and y in pixels.
pub(super) type Place = [f64; 2];

/// What a file tells of one image.
#[derive(Debug, Default)]
pub(super) struct Image {
    pub(super) places: Vec<Place>,
    /// Why there are no keypoints, in tables of detect.
    pub(super) error: Option<String>,
}

/// What a file tells of its images.
#[derive(Debug, Default)]
pub(super) struct Images {
    /// By their paths, as the file has them.
    by_path: HashMap<Vec<u8>, Image>,
    /// The paths by their last components.
    by_name: HashMap<Vec<u8>, Vec<Vec<u8>>>,
}

/// The rows of an image.
pub(super) struct Rows<'a> {
    /// The image's path, as the file has it.
    pub(super) file: &'a [u8],
    image: &'a Image,
    /// Whether that path is in another folder, and has only the name in common.
    pub(super) is_elsewhere: bool,
}

impl Images {
    /// Whether the file has no row.
    pub(super) fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// Returns the image of a path, to add to it.
    ///
    /// # Errors
    /// The path has no file name.
    pub(super) fn entry(&mut self, path: &[u8]) -> Result<&mut Image> {
        if !self.by_path.contains_key(path) {
            let Some(name) = last(path) else { bail!("there is no file name") };
            self.by_path.try_reserve(1)?;
            self.by_name.try_reserve(1)?;
            self.by_name.entry(name.to_vec()).or_default().push(path.to_vec());
        }
        Ok(self.by_path.entry(path.to_vec()).or_default())
    }

    /// Returns the places of an image.
    ///
    /// # Errors
    /// The file does not have it, or not for certain; it has an error for it.
    pub(super) fn of(&self, image: &Path) -> Result<&[Place]> {
        let Image { places, error } = self.find(image)?.image;
        match error {
            Some(error) => bail!("it has an error for this image: {error}"),
            None => Ok(places),
        }
    }

    /// Finds an image: by its whole path, else by as much of it as the file and the caller have in
    /// common, else by its name alone.
    ///
    /// # Errors
    /// The file does not have it, or several that it may be.
    pub(super) fn find(&self, image: &Path) -> Result<Rows<'_>> {
        let path = image.as_os_str().as_encoded_bytes();
        if let Some((file, image)) = self.by_path.get_key_value(path) {
            return Ok(Rows { file, image, is_elsewhere: false });
        }
        let name = last(path).unwrap_or(path);
        let same_name = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        let same_end: Vec<_> = same_name.iter().filter(|file| have_same_end(file, path)).collect();
        let (file, is_elsewhere) = match (&same_end[..], same_name) {
            ([file], _) => (*file, false),
            ([], [file]) => (file, true),
            ([], []) => bail!(
                "it has no row for {}; a row with x and y left empty is for an image without any",
                String::from_utf8_lossy(name)
            ),
            _ => bail!(
                "it has no row for {}, but rows for {} files of this name in other folders",
                input::name(image),
                same_name.len()
            ),
        };
        let name = || format!("it has no row for {}", input::name(image));
        let (file, image) = self.by_path.get_key_value(file).with_context(name)?;
        Ok(Rows { file, image, is_elsewhere })
    }
}

fn is_separator(byte: &u8) -> bool {
    *byte == b'/' || (cfg!(windows) && *byte == b'\\')
}

/// Returns the last component of a path, if it is a file's name.
fn last(path: &[u8]) -> Option<&[u8]> {
    path.rsplit(is_separator).next().filter(|name| !name.is_empty())
}

/// Whether two paths are equal as far as both go, from their ends. `.` and `..` do not count.
fn have_same_end(a: &[u8], b: &[u8]) -> bool {
    let names = |path| <[u8]>::rsplit(path, is_separator).filter(|name| !matches!(*name, b"" | b"." | b".."));
    names(a).zip(names(b)).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number that the image found has as x, and whether it is elsewhere.
    fn find(files: &[&str], image: &str) -> Result<(f64, bool)> {
        let mut images = Images::default();
        for (i, file) in files.iter().enumerate() {
            images.entry(file.as_bytes())?.places.push([i as f64, 0.0]);
        }
        let rows = images.find(Path::new(image))?;
        Ok((rows.image.places[0][0], rows.is_elsewhere))
    }

    #[test]
    fn the_whole_path_comes_first_then_its_end_then_the_name() {
        let two = ["da/x.png", "db/x.png"];
        for (files, image, expected) in [
            (&two[..], "da/x.png", (0.0, false)),
            (&two, "db/x.png", (1.0, false)),
            (&two, "./db/x.png", (1.0, false)),
            (&two, "../in/db/x.png", (1.0, false)),
            (&["../photos/x.png"], "photos/x.png", (0.0, false)),
            (&["x.png"], "da/x.png", (0.0, false)),
            (&["da/x.png"], "x.png", (0.0, false)),
            (&["../photos/x.png"], "mix/x.png", (0.0, true)),
            (&["x.png", "da/x.png"], "x.png", (0.0, false)),
        ] {
            assert_eq!(find(files, image).unwrap(), expected, "{files:?} {image}");
        }
        for image in ["x.png", "dc/x.png"] {
            assert!(find(&two, image).unwrap_err().to_string().contains("2 files of this name"), "{image}");
        }
        assert!(find(&two, "da/y.png").unwrap_err().to_string().contains("no row for y.png"));
        assert!(find(&["da/"], "da").is_err() && find(&[""], "").is_err());
    }
}
