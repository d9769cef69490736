//! Runs an engine over all frames of a source, and reports each frame in order.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use harris::cuda::MAX_IN_FLIGHT;
use harris_core::Error;
use image::RgbImage;
use indicatif::{ProgressBar, ProgressStyle};

use super::engine::{Done, Engine};
use super::frames::{Frame, Frames, Missing, Source};
use super::tally::{Counts, Summary, Tally};
use crate::messages;
use crate::options::{BackendOptions, number, whole};
use crate::output::{self, Format};

/// Options for the pace of frames.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct PaceOptions {
    /// Maximum number of frames per second, 0.001 to 1000000; by default all are processed
    #[arg(
        long,
        value_name = "FRAMES",
        value_parser = number(0.001..=1e6, "frames per second"),
        help_heading = "Input"
    )]
    pub(crate) rate: Option<f64>,
    /// Frames in flight on each GPU, 1 to 256; the CPU works on one frame at a time
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 6,
        value_parser = whole::<u16>(1..=MAX_IN_FLIGHT as u64),
        help_heading = "Backend"
    )]
    pub(crate) in_flight: u16,
}

/// What is done with the finished frames.
pub(crate) trait Report {
    /// What the engine makes of a frame.
    type Output;

    /// What is told of a frame.
    type Found;

    /// Works out what is told of a frame. An error is that of this frame alone.
    fn examine(&mut self, output: Self::Output) -> Result<Self::Found, Error>;

    /// Counts what was found in a frame, and describes it in a few words.
    fn count(&self, found: &Self::Found, counts: &mut Counts) -> String;

    /// Writes the results of a frame. One that cannot be read has no `frame`.
    ///
    /// # Errors
    /// A result cannot be written, which ends the work.
    fn write(
        &mut self,
        number: usize,
        frame: Option<&mut Frame>,
        found: Result<&Self::Found, &str>,
    ) -> Result<()>;
}

/// The state of all frames so far.
pub(crate) struct Run<R> {
    report: R,
    rate: Option<f64>,
    progress: ProgressBar,
    tally: Tally,
    start: Instant,
    /// The number of frames given to the engine.
    taken: usize,
    /// The time of the last progress message, and the number of frames at that time.
    told: (Instant, usize),
}

/// How a run ends: its summary, and what ended it before the last frame.
pub(crate) type Ended = (Summary, Result<()>);

/// How a run is done and told.
pub(crate) struct RunOptions<'a> {
    pub(crate) backend: &'a BackendOptions,
    pub(crate) rate: Option<f64>,
    pub(crate) repeat: u32,
    /// Whether the report searches for an object.
    pub(crate) searches: bool,
    /// Whether frames keep what they have beside their luma.
    pub(crate) keep_planes: bool,
    /// Whether a signal prints the summary, and whether that is JSON.
    pub(crate) print_on_signals: Option<bool>,
}

impl<R: Report> Run<R> {
    /// Runs an engine over all frames of a source. Returns the report for its end.
    pub(crate) fn all(
        report: R,
        source: &Source,
        mut frames: Frames,
        engine: &mut Engine<R::Output>,
        options: &RunOptions<'_>,
    ) -> (R, Ended) {
        let mut run = Self::new(report, options);
        if let Some(json) = options.print_on_signals {
            run.tally.print_on_signals(options.backend.shown(engine.describe()), json);
        }
        let mut ended = run.pass(&mut frames, engine);
        for _ in 1..options.repeat {
            ended = ended.and_then(|()| run.pass(&mut source.open(options.keep_planes)?, engine));
        }
        run.progress.finish_and_clear();
        let error = ended.as_ref().err().map(|error| format!("{error:#}"));
        let summary = run.tally.summary(options.backend.shown(engine.describe()), error);
        (run.report, (summary, ended))
    }

    fn new(report: R, options: &RunOptions<'_>) -> Self {
        let start = Instant::now();
        let style = ProgressStyle::with_template("{wide_msg}").unwrap_or(ProgressStyle::default_spinner());
        Self {
            report,
            rate: options.rate,
            // Drawn on a terminal alone.
            progress: ProgressBar::new_spinner().with_style(style),
            tally: Tally::new(start, options.searches),
            start,
            taken: 0,
            told: (start, 0),
        }
    }

    /// Runs over all frames once, and waits for the last.
    fn pass(&mut self, frames: &mut Frames, engine: &mut Engine<R::Output>) -> Result<()> {
        let ended = self.push_all(frames, engine);
        // Frames before a fault are reported, too.
        let waited = self.wait(frames, engine);
        ended.and(waited)
    }

    fn push_all(&mut self, frames: &mut Frames, engine: &mut Engine<R::Output>) -> Result<()> {
        while let Some(frame) = frames.next() {
            let frame = match frame {
                Ok(frame) => frame,
                Err(Missing::One(error)) => {
                    self.wait(frames, engine)?;
                    self.fail(None, &format!("{error:#}"))?;
                    self.taken += 1;
                    continue;
                }
                Err(Missing::All(error)) => return Err(error),
            };
            while let Some(done) = engine.poll() {
                frames.recycle(self.add(done)?);
            }
            // Wait until the frame is due.
            while let Some(rest) = self.rest() {
                match engine.poll() {
                    Some(done) => frames.recycle(self.add(done)?),
                    None => std::thread::sleep(rest.min(Duration::from_micros(50))),
                }
            }
            self.taken += 1;
            if let Some(done) = engine.push(frame) {
                frames.recycle(self.add(done)?);
            }
        }
        Ok(())
    }

    /// Waits for all frames in flight.
    fn wait(&mut self, frames: &mut Frames, engine: &mut Engine<R::Output>) -> Result<()> {
        while let Some(done) = engine.wait() {
            frames.recycle(self.add(done)?);
        }
        Ok(())
    }

    /// Returns the time until the next frame is due.
    fn rest(&self) -> Option<Duration> {
        let due = Duration::try_from_secs_f64(self.taken as f64 / self.rate?).ok()?;
        due.checked_sub(self.start.elapsed()).filter(|rest| !rest.is_zero())
    }

    /// Reports and counts a frame that failed.
    fn fail(&mut self, frame: Option<&mut Frame>, error: &str) -> Result<()> {
        let number = self.tally.counts().done;
        let error = messages::one_line(error);
        self.progress.suspend(|| output::message(format_args!("error: frame {number}: {error}")));
        let mut counts = self.tally.counts();
        counts.failed += 1;
        counts.done += 1;
        drop(counts);
        self.report.write(number, frame, Err(&error))
    }

    /// Counts a frame, reports it, and returns it.
    fn add(&mut self, done: Done<R::Output>) -> Result<Frame> {
        let Done { mut frame, output, start } = done;
        let found = output.and_then(|output| self.report.examine(output));
        let number = self.tally.counts().done;
        self.tally.counts().latencies.push(start.elapsed());
        let words = match &found {
            Ok(found) => {
                let mut counts = self.tally.counts();
                let words = self.report.count(found, &mut counts);
                counts.done += 1;
                drop(counts);
                self.report.write(number, Some(&mut frame), Ok(found))?;
                words
            }
            Err(error) => {
                self.fail(Some(&mut frame), &error.to_string())?;
                "failed".to_owned()
            }
        };
        let (told, before) = self.told;
        if told.elapsed() >= Duration::from_secs(1) {
            let rate = (number + 1 - before) as f64 / told.elapsed().as_secs_f64();
            self.progress.set_message(format!("frame {number}: {rate:.1} frames a second, {words}"));
            self.told = (Instant::now(), number + 1);
        }
        Ok(frame)
    }
}

/// A folder for the frames with what was found drawn in.
pub(crate) struct Overlays(pub(crate) PathBuf);

impl Overlays {
    /// Writes the overlay of a frame.
    ///
    /// # Errors
    /// See [`output::whole`].
    pub(crate) fn write(&self, number: usize, picture: &RgbImage) -> Result<()> {
        let path = self.0.join(Self::name(number));
        output::whole(&path, |out| output::picture(picture, Format::Png, out))
    }

    /// Returns the name of a frame's overlay.
    fn name(number: usize) -> String {
        format!("{number:06}.png")
    }

    /// Whether a file may be a frame's overlay.
    pub(crate) fn takes(name: &OsStr) -> bool {
        let number = name.to_str().and_then(|name| name.strip_suffix(".png")?.parse().ok());
        number.is_some_and(|number| name == Self::name(number).as_str())
    }
}
