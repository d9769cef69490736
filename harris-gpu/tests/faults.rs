//! A device that fails: the image that it fails on has the error, and those around it have their corners.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{Detector, Error, HarrisConfig, ReferenceDetector, Threshold, presets};
use harris_gpu::host::{Fetched, HostDevice};
use harris_gpu::{Argument, Device, GpuDetector, GpuPipeline, Rows};
use harris_gpu_kernels::abi::Kernel;

/// Fails at one call, counted from when it was set, of those that may fail.
#[derive(Clone, Debug, Default)]
struct Faulty {
    left: Arc<AtomicUsize>,
}

#[derive(Debug, thiserror::Error)]
#[error("a fault")]
struct Fault;

impl Faulty {
    fn step(&self) -> Result<(), Error> {
        let was = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if was == Ok(1) { Err(Error::Backend(Box::new(Fault))) } else { Ok(()) }
    }

    /// Fails at the `call`th call from now on; 0 is never.
    fn set(&self, call: usize) {
        self.left.store(call, Relaxed);
    }

    /// Whether it has failed since.
    fn is_over(&self) -> bool {
        self.left.load(Relaxed) == 0
    }
}

type Memory = <HostDevice as Device>::Memory;

impl Device for Faulty {
    type Memory = Memory;
    type Fetched = Fetched;

    fn allocate(&self, bytes: usize) -> Result<Memory, Error> {
        self.step()?;
        HostDevice.allocate(bytes)
    }

    fn upload(&mut self, memory: &Memory, rows: Rows<'_>) -> Result<(), Error> {
        self.step()?;
        HostDevice.upload(memory, rows)
    }

    fn send(&mut self, memory: &Memory, rows: Rows<'_>) -> Result<(), Error> {
        self.step()?;
        HostDevice.send(memory, rows)
    }

    fn arrive(&mut self) -> Result<(), Error> {
        self.step()
    }

    fn portion(&self) -> usize {
        HostDevice.portion()
    }

    fn fetch(&mut self, memory: &Memory, bytes: usize) -> Result<Fetched, Error> {
        self.step()?;
        HostDevice.fetch(memory, bytes)
    }

    fn returned(&mut self, bytes: usize) -> Result<(Memory, Fetched), Error> {
        self.step()?;
        HostDevice.returned(bytes)
    }

    fn fetched<'a>(&'a self, fetched: &'a Fetched) -> Cow<'a, [u8]> {
        HostDevice.fetched(fetched)
    }

    fn download(&mut self, memory: &Memory, bytes: &mut [u8]) -> Result<(), Error> {
        self.step()?;
        HostDevice.download(memory, bytes)
    }

    fn wait(&mut self) -> Result<(), Error> {
        self.step()
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn clear(&self, memory: &Memory, words: usize) -> Result<(), Error> {
        self.step()?;
        HostDevice.clear(memory, words)
    }

    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, Memory>],
    ) -> Result<(), Error> {
        self.step()?;
        HostDevice.launch(kernel, grid, arguments)
    }

    fn multiprocessors(&self) -> u32 {
        1
    }

    fn describe(&self) -> String {
        "faulty".to_owned()
    }
}

fn picture(seed: u64) -> Picture {
    Picture::draw(Depth::U8, (60, 40, 1), |x, y, _| noise(seed, x / 3, y / 3, 0))
}

fn configs() -> [HarrisConfig; 3] {
    let usual = HarrisConfig::default();
    let spaced = usual.to_builder().min_distance(5.0).build().unwrap();
    let by_stages = usual.to_builder().threshold(Threshold::Rosin { bins: 64 }).build().unwrap();
    [usual, spaced, by_stages]
}

/// Wherever the device fails, the detector tells of it, and finds the next image's corners as ever.
#[test]
fn a_fault_at_any_call_is_an_error_and_passes() {
    for config in configs() {
        let (first, second) = (picture(1), picture(2));
        let mut reference = ReferenceDetector::new(config.clone());
        let [expected, other] = [&first, &second].map(|picture| reference.detect(&picture.view()).unwrap());
        assert!(!expected.is_empty() && expected != other);
        let device = Faulty::default();
        // The first call that is too late for the fault ends it.
        let failed = (1..500).take_while(|&call| {
            let mut detector = GpuDetector::new(device.clone(), config.clone());
            device.set(call);
            let found = detector.detect(&first.view());
            let over = device.is_over();
            device.set(0);
            match &found {
                Err(Error::Backend(cause)) => assert!(over && cause.is::<Fault>(), "{cause}"),
                found => assert!(!over && *found.as_ref().unwrap() == expected, "call {call}"),
            }
            assert!(detector.detect(&second.view()).unwrap() == other, "after a fault at call {call}");
            assert!(detector.detect(&first.view()).unwrap() == expected, "after a fault at call {call}");
            over
        });
        assert!((10..499).contains(&failed.count()));
    }
}

/// A frame on which the device fails has the error in its place, and the stream goes on.
#[test]
fn a_stream_goes_on_after_a_fault() {
    let config = presets::opencv_gftt();
    let mut reference = ReferenceDetector::new(config.clone());
    let pictures: Vec<_> = (0..9).map(picture).collect();
    let expected: Vec<_> =
        pictures.iter().map(|picture| reference.detect(&picture.view()).unwrap()).collect();
    let device = Faulty::default();
    for call in 1..12 {
        let detectors = (0..3).map(|_| GpuDetector::new(device.clone(), config.clone())).collect();
        let mut pipeline = GpuPipeline::new([detectors]);
        let mut landed = Vec::new();
        for (i, picture) in pictures.iter().enumerate() {
            if i == 4 {
                device.set(call);
            }
            landed.extend(pipeline.push(&[picture.view()], true, i));
        }
        landed.extend(std::iter::from_fn(|| pipeline.next()));
        assert!(device.is_over());
        assert!(landed.iter().map(|(number, _)| *number).eq(0..9));
        let failed = landed.iter().filter(|(_, result)| result.is_err()).count();
        assert_eq!(failed, 1, "a fault at call {call}");
        for (number, result) in landed {
            if let Ok(lists) = result {
                assert!(lists == [expected[number].clone()], "frame {number}, a fault at call {call}");
            }
        }
    }
}
