//! Copies of rows in a GPU's memory. Without a GPU only errors are tested.

mod gpu;

use std::ffi::c_void;

use harris_core::{Error, HarrisConfig, ImageView};
use harris_cpu::CpuDetector;
use harris_cuda::{CudaDetector, CudaError, CudaImage, CudaRows, Detector, device_of_pointer};

const STREAM: *mut c_void = std::ptr::null_mut();

fn cause(error: &Error) -> Option<&CudaError> {
    let Error::Backend(cause) = error else { return None };
    cause.downcast_ref()
}

/// Images at addresses and with pitches that are no multiples of 4.
#[test]
#[allow(unsafe_code)]
fn a_copy_makes_an_image_of_any_rows() {
    if !gpu::present() {
        return;
    }
    let samples: Vec<u8> = (0..300 * 200).map(|i: u32| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    let whole = CudaImage::upload(0, &ImageView::gray(&samples, 300, 200).unwrap()).unwrap();
    let (pointer, pitch) = whole.pointer();
    assert_eq!(device_of_pointer(pointer).unwrap(), 0);
    let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
    for (x, y, width, height) in [(0, 0, 300, 200), (1, 0, 299, 200), (3, 7, 101, 50), (298, 199, 2, 1)] {
        let start = pointer + (y * pitch + x) as u64;
        // SAFETY: the part is inside the image, which outlives it. Nothing writes it.
        let copy = unsafe { CudaRows::copy(0, start, pitch, width, height, STREAM) }.unwrap();
        let (start, own_pitch) = copy.pointer();
        assert_eq!(own_pitch, width.next_multiple_of(4));
        // SAFETY: the copy outlives the image.
        let image = unsafe { CudaImage::from_raw::<u8>(0, start, own_pitch, width, height, 1) }.unwrap();
        let part: Vec<u8> =
            (y..y + height).flat_map(|row| samples[row * 300 + x..][..width].to_vec()).collect();
        let expected = CpuDetector::new(HarrisConfig::default())
            .detect(&ImageView::gray(&part, width, height).unwrap())
            .unwrap();
        assert!(
            detector.detect_on_device(&image).unwrap().to_vec().unwrap() == expected,
            "{width} x {height} at {x}, {y}"
        );
    }
}

#[test]
#[allow(unsafe_code)]
fn impossible_rows_are_errors_before_a_device_is_opened() {
    for (pitch, width, count) in
        [(64, 0, 3), (64, 60, 0), (56, 60, 3), (64, usize::MAX, 1), (1 << 62, 1 << 62, 3)]
    {
        // SAFETY: nothing is read.
        let error = unsafe { CudaRows::copy(0, 0x1000, pitch, width, count, STREAM) }.unwrap_err();
        assert!(matches!(cause(&error), Some(CudaError::Layout { .. })), "{error}");
    }
}

#[test]
fn an_address_of_the_host_is_no_devices() {
    let here = 0_u8;
    let error = device_of_pointer(std::ptr::from_ref(&here) as u64).unwrap_err();
    let cause = cause(&error).unwrap().clone();
    if gpu::present() {
        assert!(matches!(cause, CudaError::NotDeviceMemory { .. }), "{cause}");
    } else {
        assert!(matches!(cause, CudaError::NoDriver { .. } | CudaError::NoDevice), "{cause}");
    }
}
