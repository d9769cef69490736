//! Responses stage by stage, one kernel or a few a stage.

mod gradient;
mod planes;
mod window;

use harris_core::Error;

use crate::device::{Device, Mark};
use crate::exec::context::Context;
use crate::exec::workspace::Workspace;
use crate::plan::Staged;
use planes::Planes;

/// Writes all responses of an image.
pub(crate) fn write_all<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    context: &Context<'_>,
    stages: &Staged,
) -> Result<(), Error> {
    let mut planes = Planes::new(device, workspace, context, stages)?;
    planes.load(stages.load)?;
    planes.smooth(stages.smoothing)?;
    planes.device.mark(Mark::Smoothed)?;
    gradient::differentiate(&mut planes, stages.gradient)?;
    planes.device.mark(Mark::Differentiated)?;
    window::respond(&mut planes, stages.window)?;
    planes.device.mark(Mark::Responded)
}
