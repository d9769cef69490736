//! The subcommand `detect`: finds the keypoints of images, one after another or many at once.
//!
//! ```sh
//! harris detect photo.jpg --overlay corners.png
//! harris detect photographs --table corners.csv --resume
//! ```

mod args;
mod image;
mod journal;
mod many;
mod outputs;
#[cfg(feature = "parquet")]
mod parquet;
mod report;
mod shard;
mod stamp;
mod table;

use std::process::ExitCode;

use anyhow::Result;

pub use self::args::Args;
use self::image::Work;
use self::many::Workers;
use self::outputs::Outputs;
use crate::input;
use crate::options::ConfigFile;
use crate::output;

/// Runs the subcommand.
///
/// # Errors
/// What failed, for one line.
pub fn run(mut args: Args) -> Result<ExitCode> {
    args.detector.check_stdin(&args.inputs)?;
    let mut choice = args.detector.choice()?;
    choice.color = args.color.color(&choice);
    if let Some(format) = args.print_config {
        output::print(&ConfigFile::from(choice).text(format)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let inputs = input::expand(&args.inputs)?;
    let one = args.inputs.len() == 1 && !args.inputs[0].is_dir() && args.shard.is_none();
    let outputs = Outputs::plan(&args, &inputs, one)?;
    let mask = args.mask.as_deref().map(|mask| input::read_mask(mask, &args.read)).transpose()?;
    let workers = Workers::new(&mut args.backend, &choice.detection, args.jobs, inputs.len())?;
    let work = Work {
        color: choice.color,
        read: &args.read,
        mask: mask.as_ref(),
        kind: choice.detection.kind(),
        backend: args.backend,
    };
    many::detect(&args, &choice, &inputs, &outputs, &work, &workers, one)
}
