//! The tables of an image's layers, as kernels take them.

use harris_core::fast_hessian::{Layer, Pyramid, unit};
use harris_gpu_kernels::abi::pyramid::{layer, triple};

use crate::error::GpuError;

/// Layers, and triples of layers, as kernels take them.
#[derive(Debug, PartialEq)]
pub(super) struct Tables {
    pub(super) layers: Vec<u32>,
    pub(super) triples: Vec<u32>,
    /// Samples of all layers.
    pub(super) responses: usize,
    /// Samples of all triples that may be peaks.
    pub(super) sought: usize,
}

impl Tables {
    pub(super) fn new(pyramid: &Pyramid, levels: u32, least: f32) -> Result<Self, GpuError> {
        let (mut layers, mut responses) = (Vec::new(), 0);
        for Layer { filter, step, origin, width, height } in &pyramid.layers {
            let mut words = [0; layer::WORDS];
            words[layer::FILTER] = *filter as u32;
            words[layer::STEP] = *step as u32;
            words[layer::WIDTH] = *width as u32;
            words[layer::FIRST] = responses as u32;
            words[layer::UNIT] = unit(*filter, levels).to_bits();
            words[layer::ORIGIN] = *origin as u32;
            words[layer::LEAST] = least.to_bits();
            layers.extend(words);
            responses += width * height;
        }
        if responses > GpuError::MAX_PIXELS {
            return Err(GpuError::PyramidTooLarge { samples: responses });
        }
        let (mut triples, mut sought) = (Vec::new(), 0);
        for three in &pyramid.triples {
            let (columns, rows) = pyramid.search_range(three);
            if columns.is_empty() {
                continue;
            }
            let mut words = [0; triple::WORDS];
            for (word, number) in
                words[triple::BOTTOM..].iter_mut().zip([three.bottom, three.middle, three.top])
            {
                *word = number as u32;
            }
            words[triple::MARGIN] = three.first as u32;
            words[triple::COLUMNS] = columns.len() as u32;
            words[triple::FIRST] = sought as u32;
            words[triple::STEP] = three.step as u32;
            words[triple::ORIGIN] = three.origin as u32;
            triples.extend(words);
            sought += columns.len() * rows.len();
        }
        Ok(Self { layers, triples, responses, sought })
    }
}

#[cfg(test)]
mod tests {
    use harris_core::fast_hessian::FastHessianConfig;

    use super::*;

    #[test]
    fn too_many_samples_or_descriptors_are_an_error() {
        let config = FastHessianConfig::builder().step(1).build().unwrap();
        let tables = |side| Tables::new(&Pyramid::new(&config, side, side), 255, 0.0);
        assert!(tables(20_000).is_ok());
        assert!(matches!(tables(24_000), Err(GpuError::PyramidTooLarge { .. })));
        assert!(matches!(GpuError::check_descriptors(40_000_000), Err(GpuError::TooManyDescriptors { .. })));
    }
}
