//! Finds an object in scenes: detects keypoints, describes them with SURF, matches them, and draws
//! the matches and the object's outline.
//!
//! ```sh
//! harris match object.png scene.png --out matches.png
//! ```

mod drawing;
mod pipeline;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::input::ReadOptions;
use crate::options::{BackendOptions, DetectorOptions};
use crate::output::{self, OutputPlan, PICTURE, Target};
use crate::{input, messages};
use anyhow::{Context, Result};
use clap::value_parser;
use harris_core::ImageView;
use harris_core::matching::{Homography, INLIER_DISTANCES, Match, Ransac, matched_pairs};
use serde_json::json;

use crate::matching::pipeline::{Features, Matching, MatchingOptions, Times};
use crate::matching::table::TableOptions;

/// Finds an object in scenes by matching features
#[derive(clap::Args)]
pub struct Args {
    /// Image of the object; - for standard input
    #[arg(value_name = "OBJECT")]
    object: PathBuf,
    /// Images to find it in, or folders of them
    #[arg(required = true, value_name = "SCENE")]
    scenes: Vec<PathBuf>,
    #[command(flatten)]
    detector: DetectorOptions,
    #[command(flatten)]
    matching: MatchingOptions,
    #[command(flatten)]
    backend: BackendOptions,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    read: ReadOptions,
    /// Draw the matches side by side, as .png or .jpg; a folder for several scenes
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Fraction of the matches that is drawn, the nearest first
    #[arg(long, value_name = "FRACTION", default_value_t = 0.1, value_parser = fraction)]
    top: f64,
    /// Distance in pixels within which a match agrees with the homography
    #[arg(long, value_name = "PIXELS", default_value_t = 3.0, value_parser = distance)]
    inlier_distance: f64,
    /// Do not search for the object's outline
    #[arg(long)]
    no_homography: bool,
    /// Number of runs for each scene, 1 to 10000; the medians of their times are printed
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = value_parser!(u16).range(1..=10_000))]
    repeat: u16,
    /// Print a line of JSON for the object and for each scene
    #[arg(long)]
    json: bool,
}

fn fraction(text: &str) -> Result<f64, String> {
    let fraction = text.parse().ok().filter(|fraction| *fraction > 0.0 && *fraction <= 1.0);
    fraction.ok_or_else(|| "a fraction is above 0 and at most 1".to_owned())
}

fn distance(text: &str) -> Result<f64, String> {
    let distance = text.parse().ok().filter(|distance| INLIER_DISTANCES.contains(distance));
    distance.ok_or_else(|| "a distance is from 0.000000001 to 1000000 pixels".to_owned())
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    let scenes = input::expand(&args.scenes)?;
    let one = args.scenes.len() == 1 && !args.scenes[0].is_dir();
    let mut plan = OutputPlan::new();
    plan.reads("object", [&args.object]);
    plan.reads("scene", &scenes);
    let outs =
        (args.out.as_ref()).map(|out| plan.results("--out", out, &PICTURE, &scenes, one)).transpose()?;
    plan.finish()?;
    let object = input::read_image(&args.object, false, &args.read)?;
    if args.table.wanted() {
        let scene = input::read_image(&scenes[0], false, &args.read)?;
        table::print(&args.table, &object, &scene, &args.detector, &args.matching, args.backend)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut matching = Matching::new(args.detector.choice()?.detection, &args.matching, &mut args.backend)?;
    let name = |path: &Path| path.display().to_string();
    let view = ImageView::try_from(&object).with_context(|| name(&args.object))?;
    let trained = matching.features(&view).with_context(|| name(&args.object))?.0;
    // A drawing on standard output is there alone.
    let draws_to_stdout = outs.iter().flatten().any(Target::is_standard_output);
    let print = |text: &str| if draws_to_stdout { Ok(()) } else { output::print(text) };
    let (keypoints, backend) = (trained.keypoints.len(), matching.describe());
    print(&match args.json {
        true => format!(
            "{}\n",
            json!({ "object": name(&args.object), "keypoints": keypoints, "backend": backend })
        ),
        false => format!("{}: {keypoints} keypoints ({backend})\n", name(&args.object)),
    })?;

    let mut failed = false;
    for (i, path) in scenes.iter().enumerate() {
        let out = outs.as_ref().and_then(|outs| outs.get(i));
        match find(&args, &mut matching, &trained, path, out) {
            Ok(summary) => print(&summary)?,
            Err(error) => {
                failed = true;
                if args.json {
                    print(&format!("{}\n", json!({ "scene": name(path), "error": format!("{error:#}") })))?;
                }
                output::message(messages::error_line(&error));
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Matches one scene, draws it, and returns the result in words.
fn find(
    args: &Args,
    matching: &mut Matching,
    trained: &Features,
    path: &Path,
    out: Option<&Target>,
) -> Result<String> {
    let name = || path.display().to_string();
    let scene = input::read_image(path, false, &args.read)?;
    let view = ImageView::try_from(&scene).with_context(name)?;
    let mut runs = Vec::new();
    for _ in 1..args.repeat {
        runs.push(matching.run(&view, trained).with_context(name)?.2);
    }
    let (found, mut matches, times) = matching.run(&view, trained).with_context(name)?;
    runs.push(times);
    let fit = match args.no_homography {
        true => None,
        false => {
            let pairs = matched_pairs(&matches, &found.keypoints, &trained.keypoints).with_context(name)?;
            let config = Ransac::builder().distance(args.inlier_distance).build()?;
            Homography::ransac(&pairs, &config).with_context(name)?
        }
    };
    // Random pairs may have a homography with some inliers.
    let fit = fit.filter(|fit| fit.support >= 8.max(matches.len() / 10));
    let times = Times::median(&runs);
    let in_words = || {
        let mut text =
            format!("{}: {} keypoints, {} matches\n", name(), found.keypoints.len(), matches.len());
        match &fit {
            Some(fit) => text += &format!("  found the object: {} matches agree\n", fit.inliers.len()),
            None if args.no_homography => {}
            None => text += "  did not find the object: too few matches agree\n",
        }
        text + &times.to_string()
    };
    let text = if args.json {
        let line = json!({
            "scene": name(),
            "keypoints": found.keypoints.len(),
            "matches": matches.len(),
            "inliers": fit.as_ref().map(|fit| fit.inliers.len()),
            "homography": fit.as_ref().map(|fit| fit.homography.matrix),
            "detect_ms": times.detect.as_secs_f64() * 1e3,
            "describe_ms": times.describe.as_secs_f64() * 1e3,
            "match_ms": times.find.as_secs_f64() * 1e3,
        });
        format!("{line}\n")
    } else {
        in_words()
    };
    if let Some(out) = out {
        let outline = fit.map(|fit| fit.homography);
        matches.sort_by(Match::nearer);
        let most = (matches.len() as f64 * args.top).ceil() as usize;
        // The drawing is in colour, although the features use gray.
        let [object, scene] =
            [args.object.as_path(), path].map(|path| input::read_image(path, true, &args.read));
        let drawn =
            drawing::side_by_side((&*object?, trained), (&*scene?, &found), &matches[..most], outline)?;
        out.write(|file| output::picture(&drawn, out.format(), file))?;
    }
    Ok(text)
}
