//! The video with the object's outline.

use std::io::Write;
use std::mem;

use anyhow::{Result, anyhow, bail};
use image::DynamicImage;
use tiny_skia::{FillRule, Mask, Path, Transform};

use crate::matching::outline;
use crate::overlay;
use crate::stream::Frame;
use crate::video::{Header, Planes, Writer, Ycbcr};

/// The colours of the outline's strokes, the dark edge first, in the range of a video's samples.
const COLORS: [Ycbcr; 2] = [Ycbcr([16, 128, 128]), Ycbcr([180, 72, 58])];

/// A video that is being written. Its header is that of the video that is read. Images have none:
/// the first tells the size then.
pub(super) struct OutlinedVideo<W> {
    header: Option<Header>,
    state: State<W>,
    /// How much of each pixel a line covers.
    coverage: Option<Mask>,
}

enum State<W> {
    Empty(W),
    Started(Writer<W>),
    /// It is incomplete, for this reason.
    Failed(String),
}

impl<W: Write> OutlinedVideo<W> {
    /// Makes a video without frames.
    pub(super) fn new(out: W, header: Option<Header>) -> Self {
        Self { header, state: State::Empty(out), coverage: None }
    }

    /// Writes a frame, with the outline of the object that has these corners.
    ///
    /// # Errors
    /// A frame of another size, or the error of the file. No more frames can be written then.
    pub(super) fn add(&mut self, frame: &mut Frame, corners: Option<&[[f64; 2]; 4]>) -> Result<()> {
        let added = match &self.header {
            Some(_) => {
                let Frame { picture, planes } = frame;
                self.write(picture.shown_mut(), planes, corners)
            }
            None => {
                overlay::check_memory(frame.picture.width(), frame.picture.height())?;
                let (mut luma, mut planes) = Planes::of_picture(&frame.picture.to_rgb8());
                self.write(&mut luma, &mut planes, corners)
            }
        };
        if let Err(error) = &added {
            self.state = State::Failed(format!("{error:#}"));
        }
        added
    }

    fn write(
        &mut self,
        luma: &mut DynamicImage,
        planes: &mut Planes,
        corners: Option<&[[f64; 2]; 4]>,
    ) -> Result<()> {
        let size = [luma.width(), luma.height()];
        let mut writer = self.start(size)?;
        writer.check(luma, planes)?;
        if let Some(path) = corners.and_then(|corners| outline::path(corners, size, 0.0)) {
            for (width, color) in outline::WIDTHS.into_iter().zip(COLORS) {
                let coverage = self.cover(&path, width, size)?;
                planes.draw(writer.header(), luma, coverage, color);
            }
        }
        writer.write(luma, planes)?;
        self.state = State::Started(writer);
        Ok(())
    }

    /// Returns the writer, after the header.
    fn start(&mut self, [width, height]: [u32; 2]) -> Result<Writer<W>> {
        match mem::replace(&mut self.state, State::Failed("a frame could not be written".to_owned())) {
            State::Started(writer) => Ok(writer),
            State::Failed(error) => Err(anyhow!(error)),
            State::Empty(out) => {
                let header = self.header.clone();
                Ok(Writer::new(out, header.unwrap_or_else(|| Header::of_pictures(width, height)))?)
            }
        }
    }

    /// Returns how much of each pixel a line of a width covers.
    fn cover(&mut self, path: &Path, width: f32, [columns, rows]: [u32; 2]) -> Result<&[u8]> {
        if self.coverage.as_ref().is_none_or(|mask| (mask.width(), mask.height()) != (columns, rows)) {
            overlay::check_memory(columns, rows)?;
            self.coverage = Mask::new(columns, rows);
        }
        let Some(mask) = &mut self.coverage else {
            bail!("a frame of {columns} x {rows} cannot be drawn on")
        };
        mask.clear();
        if let Some(line) = path.stroke(&outline::stroke(width, columns), 1.0) {
            mask.fill_path(&line, FillRule::Winding, true, Transform::identity());
        }
        Ok(mask.data())
    }

    /// Ends the video.
    ///
    /// # Errors
    /// It is incomplete, or has no frame to tell its size.
    pub(super) fn finish(self) -> Result<()> {
        match (self.state, self.header) {
            (State::Started(mut writer), _) => Ok(writer.finish()?),
            (State::Failed(error), _) => Err(anyhow!(error)),
            (State::Empty(out), Some(header)) => Ok(Writer::new(out, header)?.finish()?),
            (State::Empty(_), None) => bail!("no frame can be read"),
        }
    }
}
