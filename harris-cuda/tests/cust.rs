//! cust's buffers, streams and contexts, used together with this crate.

mod gpu;

use cust::context::{Context, ContextHandle, CurrentContext};
use cust::device::Device;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, DevicePointer, DeviceSlice};
use cust::stream::{Stream, StreamFlags};
use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{Border, Order, Threshold, presets};
use harris_cpu::CpuDetector;
use harris_cuda::{CudaDetector, CudaError, CudaImage, Detector, Error, HarrisConfig, ImageView, Keypoint};

/// Makes the first device's context current on this thread.
fn context() -> Context {
    cust::quick_init().unwrap()
}

fn cause(error: &Error) -> &CudaError {
    match error {
        Error::Backend(error) => error.downcast_ref().expect("an error of CUDA"),
        error => panic!("{error}"),
    }
}

#[test]
fn images_in_buffers_are_used_without_a_copy() {
    if !gpu::present() {
        return;
    }
    let context = context();
    let config = HarrisConfig::default();
    let mut detector = CudaDetector::in_context(&context, config.clone()).unwrap();
    let mut cpu = CpuDetector::new(config);
    for (width, height, channels, pitch) in [(640, 480, 1, 640), (301, 203, 1, 304), (130, 71, 3, 512)] {
        let picture =
            Picture::draw(Depth::U8, (width, height, channels), |x, y, c| noise(3, x / 3, y / 3, c));
        let view = picture.view();
        let harris_core::Samples::U8(raster) = view.samples() else { unreachable!() };
        let mut rows = vec![0_u8; pitch * height];
        for y in 0..height {
            rows[y * pitch..][..width * channels].copy_from_slice(raster.row(y));
        }
        let buffer = DeviceBuffer::from_slice(&rows).unwrap();
        let image = CudaImage::from_device_buffer(&buffer, pitch, width, height, channels).unwrap();
        assert_eq!(image.pointer(), (buffer.as_device_ptr().as_raw(), pitch));
        let expected = cpu.detect(&view).unwrap();
        assert!(expected.len() > 20);
        let found = detector.detect_on_device(&image).unwrap();
        assert!(found.to_vec().unwrap() == expected);
        // SAFETY: the keypoints are there.
        #[allow(unsafe_code)]
        let slice = unsafe { found.as_device_slice() };
        assert!(slice.as_host_vec().unwrap() == expected);
        let map = cpu.response(&view).unwrap();
        let responses = detector.response_on_device(&image).unwrap();
        // SAFETY: the responses are there.
        #[allow(unsafe_code)]
        let slice = unsafe { responses.as_device_slice() };
        assert!(slice.as_host_vec().unwrap() == map.into_raw_vec_and_offset().0);
    }
    let buffer = DeviceBuffer::<u8>::zeroed(64 * 48 - 5).unwrap();
    let error = CudaImage::from_device_buffer(&buffer, 64, 61, 48, 1).unwrap_err();
    assert_eq!(*cause(&error), CudaError::BufferTooShort { bytes: 64 * 48 - 5, needed: 64 * 48 });
    assert!(CudaImage::from_device_buffer(&buffer, 64, 56, 48, 1).is_ok());
    let error = CudaImage::from_device_buffer(&buffer, 63, 60, 48, 1).unwrap_err();
    assert!(matches!(cause(&error), CudaError::Layout { .. }), "{error}");
}

#[test]
fn contexts_are_shared_and_restored() {
    if !gpu::present() {
        return;
    }
    let primary = context();
    let detector = CudaDetector::in_context(&primary, HarrisConfig::default()).unwrap();
    assert_eq!(detector.context().unwrap().get_inner(), primary.get_inner());
    // Memory of a context beside the primary one cannot be used.
    #[allow(deprecated)]
    let own = cust::context::legacy::Context::create_and_push(
        cust::context::legacy::ContextFlags::SCHED_AUTO,
        Device::get_device(0).unwrap(),
    )
    .unwrap();
    let buffer = DeviceBuffer::<u8>::zeroed(64 * 48).unwrap();
    let current = own.get_inner();
    let error = CudaImage::from_device_buffer(&buffer, 64, 64, 48, 1).unwrap_err();
    assert_eq!(*cause(&error), CudaError::OtherContext);
    // Calls restore the thread's current context.
    let samples = vec![7_u8; 64 * 48];
    let view = ImageView::gray(&samples, 64, 48).unwrap();
    let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
    detector.detect(&view).unwrap();
    let image = CudaImage::upload(0, &view).unwrap();
    detector.detect_on_device(&image).unwrap();
    drop((image, detector));
    assert_eq!(gpu::current_context(), current.cast());
    drop(buffer);
}

/// The stream writes an image, detects, copies the keypoints, and overwrites the image.
#[test]
#[allow(unsafe_code)]
fn detections_are_ordered_with_other_work_on_a_stream() {
    if !gpu::present() {
        return;
    }
    let _context = context();
    let (width, height) = (1024, 1000);
    let draw = |seed| Picture::draw(Depth::U8, (width, height, 1), |x, y, c| noise(seed, x / 3, y / 3, c));
    let plain = [1, 2].map(draw);
    let masked = [1, 2].map(|seed| draw(seed).with_mask(|x, y| noise(seed, x / 50, y / 20, 1) > 0.3));
    let default = HarrisConfig::default().to_builder();
    let configs = [
        (&plain, default.clone()),
        (&masked, default.clone()),
        (&plain, default.clone().order(Order::Raster).max_corners(Some(100))),
        (&plain, default.clone().border(Border::Zero)),
        (&masked, default.clone().border(Border::Zero)),
        (&plain, presets::lococo_2011().to_builder()),
        (&masked, presets::lococo_2011().to_builder()),
        (&plain, default.clone().min_distance(9.0)),
        (&plain, default.min_distance(3.0).threshold(Threshold::None).suppression_radius(1)),
    ];
    for (pictures, config) in configs {
        let config = config.build().unwrap();
        let mut cpu = CpuDetector::new(config.clone());
        let expected = pictures.each_ref().map(|picture| cpu.detect(&picture.view()).unwrap());
        assert_ne!(expected[0], expected[1]);
        let mut detector = CudaDetector::new(config.clone()).unwrap();
        let images = pictures.each_ref().map(|picture| CudaImage::upload(0, &picture.view()).unwrap());
        let masks = pictures.each_ref().map(|picture| {
            let mask = picture.mask.as_ref()?;
            Some(CudaImage::upload(0, &ImageView::gray(mask, width, height).unwrap()).unwrap())
        });
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
        // A copy that takes some tenths of a millisecond.
        let long = DeviceBuffer::<u8>::zeroed(256 << 20).unwrap();
        let mut copy = DeviceBuffer::<u8>::zeroed(256 << 20).unwrap();
        let mut frame = DeviceBuffer::<u8>::zeroed(width * height).unwrap();
        let mut mask = DeviceBuffer::<u8>::zeroed(width * height).unwrap();
        let list = DeviceBuffer::from_slice(&vec![Keypoint::default(); width * height]).unwrap();
        let mut count = DeviceBuffer::<u32>::zeroed(1).unwrap();
        // The default stream writes the zeros, and this stream does not wait for it.
        CurrentContext::synchronize().unwrap();
        // SAFETY: callers give memory of at least that many bytes, which outlives the slice.
        let at = |pointer: u64, bytes: usize| unsafe {
            DeviceSlice::<u8>::from_raw_parts(DevicePointer::from_raw(pointer), bytes)
        };
        let address = frame.as_device_ptr().as_raw();
        // SAFETY: the stream is alive, and the buffers outlive the detection.
        let mut image = unsafe { CudaImage::from_raw::<u8>(0, address, width, width, height, 1) }.unwrap();
        if masks[0].is_some() {
            // SAFETY: the buffer outlives the image, and only the stream writes it.
            image = unsafe { image.with_mask_from_raw(mask.as_device_ptr().as_raw(), width) }.unwrap();
        }
        // The first list may be incomplete, until the detector knows the number of corners.
        for round in 0..6 {
            let [first, second] = [round % 2, (round + 1) % 2];
            let samples = [first, second].map(|i| at(images[i].pointer().0, width * height));
            // SAFETY: all memory in these copies is large enough, and lives until the stream is
            // waited for.
            let (room, len) = unsafe {
                copy.async_copy_from(&long, &stream).unwrap();
                frame.async_copy_from(&samples[0], &stream).unwrap();
                if let Some(image) = &masks[first] {
                    mask.async_copy_from(&at(image.pointer().0, width * height), &stream).unwrap();
                }
                let pending = detector.detect_on_stream(&image, &stream).unwrap();
                let room = pending.capacity();
                let keypoints = pending.as_device_slice();
                assert_eq!(keypoints.len(), room);
                list.index(..room).async_copy_from(&keypoints, &stream).unwrap();
                count.async_copy_from(&pending.count_as_device_slice(), &stream).unwrap();
                if round > 0 {
                    frame.async_copy_from(&samples[1], &stream).unwrap();
                    if let Some(image) = &masks[second] {
                        mask.async_copy_from(&at(image.pointer().0, width * height), &stream).unwrap();
                    }
                    copy.async_copy_from(&long, &stream).unwrap();
                }
                let found = pending.finish().unwrap();
                assert!(found.to_vec().unwrap() == expected[first], "{config:?}, round {round}");
                (room, found.len())
            };
            stream.synchronize().unwrap();
            let number = count.as_host_vec().unwrap()[0] as usize;
            if round == 0 && number > room {
                continue;
            }
            assert!(number >= len && (number == len || Some(len) == config.max_corners()), "{number}, {len}");
            let copied = list.index(..len).as_host_vec().unwrap();
            assert!(copied == expected[first], "{config:?}, round {round}, as copied on the stream");
        }
        // A detection that is dropped before it finishes.
        // SAFETY: the stream is alive, and the image outlives the detection.
        drop(unsafe { detector.detect_on_stream(&image, &stream) }.unwrap());
        assert_eq!(detector.detect(&pictures[0].view()).unwrap(), expected[0]);
    }
}
