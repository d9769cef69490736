//! The picture docs/corners.png, which the README's first command draws.

use anyhow::Result;
use harris_core::{Detector, HarrisConfig, ImageView};
use harris_cpu::CpuDetector;
use harris_examples::{files, input, overlay};

use crate::generated::{root, write_or_check};

/// Draws the picture, or with `check` compares it with the committed one.
pub(crate) fn draw(check: bool) -> Result<()> {
    let image = input::read_image(&root().join("examples/data/camera.png"), false)?;
    let corners = CpuDetector::new(HarrisConfig::default()).detect(&ImageView::try_from(&image)?)?;
    let mut drawn = Vec::new();
    files::png(&overlay::draw(&image, &corners), &mut drawn)?;
    write_or_check(&root().join("docs/corners.png"), &drawn, check, "cargo xtask picture")
}
