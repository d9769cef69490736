//! The Fast-Hessian detector: an image in, blobs out.

use harris_core::fast_hessian::{FastHessianConfig, Layer, Pyramid, unit};
use harris_core::integral::levels;
use harris_core::{Detector, Error, ImageView, Keypoint, Ties, float_mode, memory};
use harris_gpu_kernels::abi::pyramid::{layer, triple};
use harris_gpu_kernels::abi::{Kernel, state};
use ndarray::Array2;

use crate::device::{Device, Mark};
use crate::error::GpuError;
use crate::exec::upload;
use crate::exec::workspace::{Slot, Workspace};
use crate::integral::integrate;
use crate::launch::{self, grid};
use crate::list::sort::{KeyLists, SortOrder};
use crate::plan::mask_pitch;

/// SURF's Fast-Hessian detector on a GPU.
///
/// ```
/// use harris_core::fast_hessian::FastHessianConfig;
/// use harris_core::{Detector, ImageView};
/// use harris_gpu::GpuFastHessian;
/// use harris_gpu::host::HostDevice;
///
/// let mut detector = GpuFastHessian::new(HostDevice, FastHessianConfig::default());
/// let samples = [0_u8; 40 * 40];
/// assert_eq!(detector.detect(&ImageView::gray(&samples, 40, 40)?)?, []);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuFastHessian<D: Device> {
    device: D,
    config: FastHessianConfig,
    workspace: Workspace<D>,
    /// The tables that are on the device.
    tables: Option<Tables>,
    /// Peaks of the last image that were rejected.
    rejected: usize,
}

/// Layers, and triples of layers, as kernels take them.
#[derive(Debug, PartialEq)]
struct Tables {
    layers: Vec<u32>,
    triples: Vec<u32>,
    /// Samples of all layers.
    responses: usize,
    /// Samples of all triples that may be peaks.
    sought: usize,
}

impl Tables {
    fn new(pyramid: &Pyramid, levels: u32, least: f32) -> Result<Self, GpuError> {
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

impl<D: Device> GpuFastHessian<D> {
    /// A detector on `device`.
    #[must_use]
    pub fn new(device: D, config: FastHessianConfig) -> Self {
        Self { device, config, workspace: Workspace::new(), tables: None, rejected: 0 }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Uploads the tables unless they are on the device.
    fn set_tables(&mut self, pyramid: &Pyramid, levels: u32) -> Result<(), Error> {
        let tables = Tables::new(pyramid, levels, self.config.min_determinant())?;
        if self.tables.as_ref() != Some(&tables) {
            self.tables = None;
            upload::words(&mut self.device, &mut self.workspace, Slot::Layers, &tables.layers)?;
            upload::words(&mut self.device, &mut self.workspace, Slot::Triples, &tables.triples)?;
            self.tables = Some(tables);
        }
        Ok(())
    }

    /// Fills [`Slot::Response`] with the determinants of all layers; returns the words from row to
    /// row of the integral image.
    fn respond(&mut self, image: &ImageView<'_>) -> Result<u32, Error> {
        let pitch = integrate(&mut self.device, &mut self.workspace, image)?;
        let Self { device, workspace, tables, .. } = self;
        let tables = tables.as_ref().expect("set before");
        workspace.fit::<f32>(device, Slot::Response, tables.responses)?;
        launch::hessian_determinants(
            device,
            grid(Kernel::hessian_determinants, tables.responses, 1),
            workspace.buffer(Slot::Integral),
            workspace.buffer(Slot::Layers),
            workspace.buffer(Slot::Response),
            image.width() as u32,
            image.height() as u32,
            pitch,
            (tables.layers.len() / layer::WORDS) as u32,
            tables.responses as u32,
        )?;
        device.mark(Mark::Responded)?;
        Ok(pitch)
    }

    /// Fills [`Slot::Keys`] with all peaks, in no order; returns how many there are.
    fn search(&mut self, image: &ImageView<'_>) -> Result<usize, Error> {
        let Self { device, config, workspace, tables, rejected } = self;
        let tables = tables.as_ref().expect("set before");
        // As many as most images have. Where there are more, they are counted, and the search is
        // repeated.
        workspace.fit::<u64>(device, Slot::Keys, tables.sought / 256 + 256)?;
        workspace.fit::<u32>(device, Slot::State, state::WORDS)?;
        loop {
            let capacity = workspace.capacity::<u64>(Slot::Keys).min(u32::MAX as usize);
            device.clear(workspace.buffer::<u32>(Slot::State).memory, state::WORDS)?;
            let (mask, mask_pitch) = workspace.mask(mask_pitch(image));
            launch::scale_peaks(
                device,
                grid(Kernel::scale_peaks, tables.sought, 1),
                workspace.buffer(Slot::Layers),
                workspace.buffer(Slot::Triples),
                workspace.buffer(Slot::Response),
                mask,
                workspace.buffer(Slot::State),
                workspace.buffer(Slot::Keys),
                capacity as u32,
                mask_pitch,
                config.threshold(),
                (tables.triples.len() / triple::WORDS) as u32,
                tables.sought as u32,
            )?;
            device.mark(Mark::Searched)?;
            let mut words = [0_u32; state::WORDS];
            let memory = workspace.buffer::<u32>(Slot::State).memory;
            device.download(memory, bytemuck::bytes_of_mut(&mut words))?;
            let found = words[state::LENGTH] as usize;
            *rejected = words[state::REJECTED_PEAKS] as usize;
            if found <= capacity {
                return Ok(found);
            }
            workspace.fit::<u64>(device, Slot::Keys, found)?;
        }
    }

    /// Sorts the peaks and reads their keypoints.
    fn list(&mut self, image: &ImageView<'_>, pitch: u32, found: usize) -> Result<Vec<Keypoint>, Error> {
        let Self { device, config, workspace, tables, .. } = self;
        let tables = tables.as_ref().expect("set before");
        if found == 0 {
            device.mark(Mark::Done)?;
            return Ok(Vec::new());
        }
        workspace.fit::<u64>(device, Slot::OtherKeys, found)?;
        let lists = KeyLists { count: 1, pitch: found, limit: found };
        let (keys, _) = lists.sort(
            device,
            workspace,
            (Slot::Keys, Slot::OtherKeys),
            SortOrder::Response(Ties::Ascending),
        )?;
        for slot in [Slot::Keypoints, Slot::OtherKeypoints] {
            workspace.fit::<f32>(device, slot, 4 * found)?;
        }
        let (keypoints, sorted) =
            (workspace.buffer(Slot::Keypoints), workspace.buffer::<f32>(Slot::OtherKeypoints));
        launch::write_blobs(
            device,
            grid(Kernel::write_blobs, found, 1),
            workspace.buffer(Slot::Integral),
            workspace.buffer(Slot::Layers),
            workspace.buffer(Slot::Triples),
            workspace.buffer(Slot::Response),
            workspace.buffer(keys),
            keypoints,
            image.width() as u32,
            image.height() as u32,
            pitch,
            (tables.triples.len() / triple::WORDS) as u32,
            found as u32,
        )?;
        launch::sort_ties(device, grid(Kernel::sort_ties, found, 1), keypoints, sorted, found as u32)?;
        device.mark(Mark::Done)?;
        let mut words = memory::zeroed::<[f32; 4]>(found.min(config.max_keypoints().unwrap_or(usize::MAX)))?;
        device.download(sorted.memory, bytemuck::cast_slice_mut(&mut words))?;
        memory::collect(words.into_iter().map(|[x, y, scale, response]| Keypoint { x, y, scale, response }))
    }

    fn check(&self, image: &ImageView<'_>) -> Result<(), Error> {
        self.config.check_image(image)?;
        Ok(GpuError::check_image(image)?)
    }
}

impl<D: Device> Detector for GpuFastHessian<D> {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.check(image)?;
        float_mode::standard(|| {
            self.set_tables(&Pyramid::new(&self.config, image.width(), image.height()), levels(image))
        })?;
        upload::mask(&mut self.device, &mut self.workspace, image, false)?;
        let pitch = self.respond(image)?;
        let found = self.search(image)?;
        self.list(image, pitch, found)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        self.check(image)?;
        let (width, height, filter) = (image.width(), image.height(), Pyramid::FIRST_FILTER);
        let layer = Layer { filter, step: 1, origin: 0, width, height };
        let pyramid = Pyramid { layers: vec![layer], triples: Vec::new() };
        float_mode::standard(|| self.set_tables(&pyramid, levels(image)))?;
        self.respond(image)?;
        let mut response = memory::zeros::<f32>((height, width))?;
        let bytes = bytemuck::cast_slice_mut(response.as_slice_mut().expect("a new array is contiguous"));
        self.device.download(self.workspace.buffer::<f32>(Slot::Response).memory, bytes)?;
        let inside = |i: usize, len: usize| i >= filter / 2 && i + filter / 2 < len;
        for ((y, x), value) in response.indexed_iter_mut() {
            if !(inside(x, width) && inside(y, height)) {
                *value = 0.0;
            }
        }
        Ok(response)
    }

    /// Frees the device's memory.
    fn shrink_to_fit(&mut self) {
        (self.workspace, self.tables) = (Workspace::new(), None);
    }

    fn rejected_peaks(&self) -> Option<usize> {
        Some(self.rejected)
    }

    fn describe(&self) -> String {
        self.device.describe()
    }
}

#[cfg(test)]
mod tests {
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
