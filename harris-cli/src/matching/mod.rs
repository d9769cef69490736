//! Finds an object in scenes: detects keypoints, describes them with SURF, matches them, and draws
//! the matches and the object's outline.
//!
//! ```sh
//! harris match object.png scene.png --out matches.png
//! ```

mod args;
mod drawing;
mod found;
mod location;
pub(crate) mod outline;
mod pipeline;
mod table;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use harris_core::features::Features;
use harris_core::matching::Match;
use serde_json::json;

pub use self::args::Args;
pub(crate) use self::drawing::stroke;
use self::found::Found;
pub(crate) use self::location::{HomographyOptions, MIN_SUPPORT, corners};
pub(crate) use self::pipeline::MatchingOptions;
use self::pipeline::{Matching, Times};
use crate::messages::wrong;
use crate::output::{self, OutputPlan, PAIRS, PICTURE, Target};
use crate::{input, messages};

/// The object, and the files of one scene.
struct Search<'a> {
    trained: &'a Features,
    /// Width and height of the object's image.
    size: [u32; 2],
    color: bool,
    out: Option<&'a Target>,
    pairs: Option<&'a Target>,
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    args.detector.check_stdin(args.scenes.iter().chain([&args.object]))?;
    let choice = args.detector.choice()?;
    let color = args.color.color(&choice);
    let scenes = input::expand(&args.scenes)?;
    let one = args.scenes.len() == 1 && !args.scenes[0].is_dir();
    let mut plan = OutputPlan::new();
    plan.reads("object", [&args.object]);
    plan.reads("scene", &scenes);
    let outs =
        (args.out.as_ref()).map(|out| plan.results("--out", out, &PICTURE, &scenes, one)).transpose()?;
    let pairs = args.pairs.as_ref();
    let pairs = pairs.map(|pairs| plan.results("--pairs", pairs, &PAIRS, &scenes, one)).transpose()?;
    // A result on standard output is there alone.
    let to_stdout = outs.iter().chain(&pairs).flatten().any(Target::is_standard_output);
    if args.json && to_stdout {
        bail!(wrong("--json needs standard output for itself"));
    }
    plan.finish()?;
    let object = input::read_image(&args.object, color, &args.read)?;
    if args.table.wanted() {
        let scene = input::read_image(&scenes[0], color, &args.read)?;
        let images = [&object, &scene];
        table::print(&args.table, images, &choice.detection, &args.matching, args.backend, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut matching = Matching::new(&choice.detection, &args.matching, &mut args.backend)?;
    let trained = matching.features(&object).with_context(|| input::name(&args.object))?;
    let print = |text: &str| if to_stdout { Ok(()) } else { output::print(text) };
    let keypoints = trained.keypoints.len();
    let backend = args.backend.shown(matching.describe());
    print(&match args.json {
        true => {
            let object = input::name_for_programs(&args.object);
            format!("{}\n", json!({ "object": object, "keypoints": keypoints, "backend": backend }))
        }
        false => format!("{}: {keypoints} keypoints ({backend})\n", input::name(&args.object)),
    })?;

    let mut failed = false;
    for (i, path) in scenes.iter().enumerate() {
        let of = |targets: &'_ Option<Vec<Target>>| targets.as_ref().and_then(|all| all.get(i)).cloned();
        let (out, pairs) = (of(&outs), of(&pairs));
        let search = Search {
            trained: &trained,
            size: [object.width(), object.height()],
            color,
            out: out.as_ref(),
            pairs: pairs.as_ref(),
        };
        match find(&args, &mut matching, &search, path) {
            Ok(summary) => print(&summary)?,
            Err(error) => {
                failed = true;
                if args.json {
                    let line =
                        json!({ "scene": input::name_for_programs(path), "error": format!("{error:#}") });
                    print(&format!("{line}\n"))?;
                }
                output::message(messages::error_line(&error));
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Matches one scene, writes its files, and returns the result in words.
fn find(args: &Args, matching: &mut Matching, search: &Search<'_>, path: &Path) -> Result<String> {
    let Search { trained, size, color, out, pairs } = *search;
    let name = || input::name(path);
    let scene = input::read_image(path, color, &args.read)?;
    let mut runs = Vec::new();
    for _ in 1..args.repeat {
        runs.push(matching.run(&scene, trained).with_context(name)?.2);
    }
    let (scene, matches, times) = matching.run(&scene, trained).with_context(name)?;
    runs.push(times);
    let fit = match args.no_homography {
        true => None,
        false => args.homography.locate(&matches, &scene, trained).with_context(name)?,
    };
    let found = Found {
        corners: fit.as_ref().and_then(|fit| corners(&fit.homography, size)),
        scene,
        matches,
        searched: !args.no_homography,
        fit,
        times: Times::median(&runs),
    };
    if let Some(target) = pairs {
        target.write(|file| found.pairs(trained, file))?;
    }
    if let Some(target) = out {
        let mut nearest = found.matches.clone();
        nearest.sort_by(Match::nearer);
        nearest.truncate((nearest.len() as f64 * args.top).ceil() as usize);
        // The drawing is in colour, whatever the features use.
        let [object, scene] =
            [args.object.as_path(), path].map(|path| input::read_image(path, true, &args.read));
        let drawn =
            drawing::side_by_side((&*object?, trained), (&*scene?, &found.scene), &nearest, found.corners)?;
        target.write(|file| output::picture(&drawn, target.format(), file))?;
    }
    Ok(if args.json { found.json(&input::name_for_programs(path)) } else { found.text(&name()) })
}
