//! The subcommand `score`: precision, recall and localisation error against known corners.
//!
//! ```sh
//! harris score board.png --truth corners.csv --picture scored.png
//! harris score photographs --truth corners.csv --keypoints found.csv --csv scores.csv
//! ```

mod args;
mod drawing;
mod lists;
mod pairing;
mod report;

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use harris_core::ImageView;
use harris_evaluation::Score;
use image::GrayImage;

pub use self::args::Args;
use self::lists::{Lists, Place};
use self::pairing::Pairing;
use self::report::Text;
use crate::input;
use crate::messages::{WrongArguments, error_line};
use crate::options::Timed;
use crate::output::{self, OutputPlan, PICTURE, SCORES, Target};

/// The files that a run writes.
struct Outputs {
    csv: Option<Target>,
    pictures: Option<Vec<Target>>,
}

/// Where the keypoints come from.
enum Source {
    Lists(Lists),
    Detector { detector: Box<dyn Timed>, color: bool, mask: Option<GrayImage> },
}

/// Checks the text of a list of places, as `--truth` and `--keypoints` read it.
///
/// # Errors
/// The text is not valid, with the line.
pub fn check_list(text: &[u8]) -> Result<()> {
    lists::parse(text, text.len() as u64).map(drop)
}

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    let choice = args.detector.choice()?;
    let inputs = input::expand(&args.inputs)?;
    let truth = Lists::open(&args.truth, &inputs)?;
    let keypoints = args.keypoints.as_deref().map(|path| Lists::open(path, &inputs)).transpose()?;
    let one = args.inputs.len() == 1 && !args.inputs[0].is_dir();

    let mut plan = OutputPlan::new();
    plan.reads("input", &inputs);
    plan.reads("mask", &args.mask);
    plan.reads("truth", truth.files(&inputs));
    plan.reads("list of keypoints", keypoints.iter().flat_map(|lists| lists.files(&inputs)));
    let pictures = args.picture.as_deref();
    let outputs = Outputs {
        csv: args.csv.as_deref().map(|path| plan.file("--csv", path, &SCORES)).transpose()?,
        pictures: pictures.map(|path| plan.results("--picture", path, &PICTURE, &inputs, one)).transpose()?,
    };
    if args.json && outputs.to_stdout() {
        bail!(WrongArguments("--json needs standard output for itself".to_owned()));
    }
    plan.finish()?;

    let mut source = match keypoints {
        Some(lists) => Source::Lists(lists),
        None => Source::Detector {
            detector: args.backend.detector(&choice.detection)?,
            color: args.color.color(&choice),
            mask: args.mask.as_deref().map(|mask| input::read_mask(mask, &args.read)).transpose()?,
        },
    };
    let with_table = !args.json && !outputs.to_stdout();
    let text = Text::new(&inputs);
    let (mut scores, mut failed) = (Vec::new(), 0);
    for (place, image) in inputs.iter().enumerate() {
        let picture = outputs.pictures.as_ref().and_then(|all| all.get(place));
        let score = score(image, &args, &truth, &mut source, picture);
        match &score {
            Ok(score) if with_table => {
                let header = if scores.len() == failed { text.header() } else { String::new() };
                output::print(&(header + &text.image(image, score)))?;
            }
            Ok(_) => {}
            Err(error) => {
                failed += 1;
                output::message(error_line(error));
            }
        }
        if args.json {
            output::print(&report::json(image, &score))?;
        }
        scores.push(score);
    }
    // Without any score there is none of all.
    let all = (failed < scores.len()).then(|| scores.iter().flatten().cloned().sum::<Score>());
    if let Some(target) = &outputs.csv {
        target.write(|out| report::csv(&inputs, &scores, all.as_ref(), out))?;
    }
    if args.json {
        output::print(&report::json_all(inputs.len(), failed, all.as_ref()))?;
    } else if with_table && let Some(all) = &all {
        output::print(&text.all(all))?;
    }
    if failed > 0 && inputs.len() > 1 {
        output::message(format_args!("{failed} of {} images have no score", inputs.len()));
    }
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl Outputs {
    /// Whether an output goes to standard output.
    fn to_stdout(&self) -> bool {
        self.pictures.iter().flatten().chain(&self.csv).any(Target::is_standard_output)
    }
}

/// Scores one image, and draws its picture.
fn score(
    image: &Path,
    args: &Args,
    truth: &Lists,
    source: &mut Source,
    picture: Option<&Target>,
) -> Result<Score> {
    let name = || input::name(image);
    let corners = truth.of(image).with_context(name)?;
    let read = |color| input::read_image(image, color, &args.read);
    let (found, pixels) = match source {
        Source::Lists(lists) => {
            // Drawn on as it is, in colour.
            (lists.of(image).with_context(name)?, picture.map(|_| read(true)).transpose()?)
        }
        Source::Detector { detector, color, mask } => {
            let pixels = read(*color)?;
            let mut view = ImageView::try_from(&pixels).with_context(name)?;
            if let Some(mask) = mask {
                view = view.with_mask(ImageView::try_from(&*mask)?).with_context(name)?;
            }
            let found = detector.detect(&view).with_context(name)?;
            let places = found.iter().map(|k| [f64::from(k.x), f64::from(k.y)]).collect::<Vec<Place>>();
            (Cow::Owned(places), Some(pixels))
        }
    };
    let pairing = Pairing::new(&found, &corners, args.tolerance).with_context(name)?;
    if let (Some(target), Some(pixels)) = (picture, &pixels) {
        let drawn = drawing::draw(pixels, &pairing)?;
        target.write(|out| output::picture(&drawn, target.format(), out))?;
    }
    Ok(pairing.score())
}
