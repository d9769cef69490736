//! Finds an object in each frame of a video, and draws its outline.
//!
//! ```sh
//! harris track object.png video.y4m --out tracked.y4m --table places.csv
//! ```

mod args;
mod report;
mod video;

use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use harris_core::ImageView;

pub use self::args::Args;
use self::report::{COLUMNS, TrackReport};
use self::video::OutlinedVideo;
use crate::input::{self, ReadOptions};
use crate::matching::MIN_SUPPORT;
use crate::messages::{self, wrong};
use crate::output::{FRAMES, OutputPlan, Target, VIDEO};
use crate::stream::{self, Engine, Overlays, Rows, Run, RunOptions, Source};

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    if input::is_stdin(&args.object) && input::is_stdin(&args.video) {
        bail!(wrong("standard input cannot be both the object and the video"));
    }
    args.detector.check_stdin([&args.object, &args.video])?;
    let choice = args.detector.choice()?;
    let source = Source::new(&args.video, args.color.color(&choice), &args.read)?;
    let mut plan = OutputPlan::new();
    plan.reads("object", [&args.object]);
    plan.reads("video", source.files());
    if let Some(folder) = &args.overlay {
        plan.folder("--overlay", folder, Overlays::takes)?;
    }
    let out = args.out.as_ref().map(|path| plan.file("--out", path, &VIDEO)).transpose()?;
    let table = args.table.as_ref().map(|path| plan.file("--table", path, &FRAMES)).transpose()?;
    let to_stdout = out.iter().chain(&table).any(Target::is_standard_output);
    if args.json && to_stdout {
        bail!(wrong("--json needs standard output for itself"));
    }
    plan.finish()?;

    // The object is seen as the frames are: of a video only the luma is used.
    let object_options = ReadOptions { raw: None, ..args.read.clone() };
    let object = input::read_image(&args.object, source.has_colors(), &object_options)?;
    let config = args.matching.features(&choice.detection)?;
    let mut features = args.backend.features(&config)?;
    let name = || input::name(&args.object);
    let trained = features.detect_and_describe(&ImageView::try_from(&object)?).with_context(name)?;
    ensure!(
        trained.keypoints.len() >= MIN_SUPPORT,
        "{} has {}, too few to find it: {MIN_SUPPORT} are needed",
        name(),
        messages::count(trained.keypoints.len(), "keypoint"),
    );
    drop(features);

    let keep_planes = args.out.is_some();
    let frames = source.open(keep_planes)?;
    let mut engine = Engine::features(&mut args.backend, &config, args.pace.in_flight.into())?;
    let matcher = args.matching.matcher(&mut args.backend)?;
    let options = RunOptions {
        backend: &args.backend,
        rate: args.pace.rate,
        repeat: 1,
        searches: true,
        keep_planes,
        print_on_signals: (!to_stdout).then_some(args.json),
    };
    let (mut ended, mut video_written) = (None, Ok(()));
    let table_written = stream::write_to(table.as_ref(), |table| {
        let mut rows = table.map(|out| Rows::new(out, &COLUMNS)).transpose()?;
        // A video that cannot be written leaves the table of the frames so far.
        video_written = stream::write_to(out.as_ref(), |out| {
            let report = TrackReport {
                trained: &trained,
                size: [object.width(), object.height()],
                matcher,
                homography: args.homography,
                video: out.map(|out| OutlinedVideo::new(out, frames.header().cloned())),
                table: rows.as_mut(),
                overlays: args.overlay.clone().map(Overlays),
            };
            let (report, how) = Run::all(report, &source, frames, &mut engine, &options);
            ended = Some(how);
            report.video.map_or(Ok(()), OutlinedVideo::finish)
        });
        rows.as_mut().map_or(Ok(()), Rows::finish)
    });
    stream::conclude(ended, table_written.and(video_written), to_stdout, args.json)
}
