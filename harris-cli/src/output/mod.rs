//! Results: where they are written, in which formats, and how each appears complete or not at all.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `plan` | where the results go; refuses to write an input, the mask or one file twice |
//! | `identity` | whether two paths are one file |
//! | `target` | the place of one result, and the endings that it may have |
//! | `write` | a file that appears complete or not at all |
//! | `interrupt` | temporary files, and their removal by signals |
//! | `formats` | CSV, PNG, JPEG, .npy and TIFF |
//! | `standard_output` | text for people and programs, without panics |

mod formats;
mod identity;
mod interrupt;
mod plan;
mod standard_output;
mod target;
mod write;

pub use formats::{csv, picture, response, row};
pub use interrupt::{print_nothing_on_signals, print_on_signals, remove_abandoned, remove_on_signals};
pub use plan::OutputPlan;
pub use standard_output::{IgnoreBrokenPipe, message, print};
pub use target::{FRAMES, Format, KEYPOINTS, Kind, PAIRS, PICTURE, RESPONSE, SCORES, TABLE, Target, VIDEO};
pub use write::whole;
