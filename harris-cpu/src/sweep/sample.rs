//! Samples as the sweeps take them.

use harris_core::{MAX_SAMPLE, Sample};

use crate::plan::SampleType;

/// A sample type, and its numbers as floats.
pub(crate) trait SweepSample: Sample + Default {
    const TYPE: SampleType;
    /// Whether samples are integers.
    const EXACT: bool;

    /// The sample as a float, exactly.
    fn float(self) -> f32;

    /// Whether [`harris_core::ImageView::check_samples`] accepts it.
    fn is_valid(self) -> bool {
        true
    }
}

impl SweepSample for u8 {
    const TYPE: SampleType = SampleType::U8;
    const EXACT: bool = true;

    fn float(self) -> f32 {
        self.into()
    }
}

impl SweepSample for u16 {
    const TYPE: SampleType = SampleType::U16;
    const EXACT: bool = true;

    fn float(self) -> f32 {
        self.into()
    }
}

impl SweepSample for f32 {
    const TYPE: SampleType = SampleType::F32;
    const EXACT: bool = false;

    fn float(self) -> f32 {
        self
    }

    fn is_valid(self) -> bool {
        self.abs() <= MAX_SAMPLE
    }
}
