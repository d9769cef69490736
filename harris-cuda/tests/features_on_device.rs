//! Blobs and features of images in a GPU's memory, on streams of others, and matched frame by frame.

mod gpu;

use std::sync::Arc;

use harris_conformance::pictures::{DEPTHS, Depth, Picture, noise};
use harris_core::fast_hessian::FastHessianConfig;
use harris_core::features::{DetectAndDescribe, FeatureConfig, Features};
use harris_core::matching::{MatchConfig, Matcher};
use harris_core::surf::SurfConfig;
use harris_core::{Subpixel, presets};
use harris_cpu::{CpuFastHessian, CpuFeatures, CpuMatcher};
use harris_cuda::{
    CudaError, CudaFastHessian, CudaFeatures, CudaImage, CudaPipeline, Detector, Error, HarrisConfig,
    ImageView, MatchedFeatureConfig, TrainSet, harris_core,
};
use ndarray::Array2;

const SIZES: [(usize, usize, usize); 6] =
    [(64, 64, 1), (321, 203, 1), (130, 70, 3), (1919, 1080, 1), (640, 480, 1), (97, 333, 1)];

fn pictures() -> Vec<Picture> {
    let draw =
        |depth: Depth, size, seed| Picture::draw(depth, size, move |x, y, c| noise(seed, x / 5, y / 5, c));
    let mut pictures: Vec<_> = (0..)
        .zip(SIZES)
        .flat_map(|(seed, size)| DEPTHS.map(|depth| draw(depth, size, seed).with_gap(3)))
        .collect();
    let masked = |size| draw(Depth::U8, size, 9).with_mask(|x, y| noise(8, x / 17, y / 15, 0) > 0.5);
    pictures.extend([masked((640, 480, 1)), masked((321, 203, 1))]);
    pictures
}

fn feature_configs() -> [FeatureConfig; 4] {
    let many = FastHessianConfig::builder().threshold(0.0).step(1).build().unwrap();
    let refined =
        presets::opencv_gftt().to_builder().subpixel(Subpixel::Forstner { radius: 4 }).build().unwrap();
    [
        FeatureConfig::default(),
        FeatureConfig::new(many, SurfConfig::builder().upright(true).build().unwrap()),
        FeatureConfig::new(
            HarrisConfig::default(),
            SurfConfig::builder().magnification(2.0).build().unwrap(),
        ),
        FeatureConfig::new(refined, SurfConfig::default()),
    ]
}

const DEFAULT_STREAM: *mut std::ffi::c_void = std::ptr::null_mut();

#[test]
#[allow(unsafe_code)]
fn blobs_of_images_on_the_device_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    for builder in
        [FastHessianConfig::builder(), FastHessianConfig::builder().threshold(0.0).max_keypoints(50)]
    {
        let config = builder.build().unwrap();
        let mut detector = CudaFastHessian::new(config.clone()).unwrap();
        let mut cpu = CpuFastHessian::new(config);
        for picture in &pictures() {
            let expected = cpu.detect(&picture.view()).unwrap();
            let image = CudaImage::upload(0, &picture.view()).unwrap();
            for round in 0..3 {
                let found = detector.detect_on_device(&image).unwrap();
                assert!(found.to_vec().unwrap() == expected, "{picture:?}, round {round}");
                // SAFETY: nothing writes the image.
                let pending = unsafe { detector.detect_on_stream(&image, DEFAULT_STREAM) }.unwrap();
                if round == 1 {
                    drop(pending);
                    continue;
                }
                assert!(pending.capacity() >= expected.len() && pending.count_pointer() != 0);
                assert!(pending.finish().unwrap().to_vec().unwrap() == expected, "{picture:?}");
            }
            assert!(detector.detect(&picture.view()).unwrap() == expected, "{picture:?}");
        }
    }
}

#[test]
#[allow(unsafe_code)]
fn features_of_images_on_the_device_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    for config in feature_configs() {
        let mut features = CudaFeatures::new(config.clone()).unwrap();
        let mut cpu = CpuFeatures::new(config);
        for picture in &pictures() {
            let expected = cpu.detect_and_describe(&picture.view()).unwrap();
            let image = CudaImage::upload(0, &picture.view()).unwrap();
            for round in 0..3 {
                let mut found = features.detect_and_describe_on_device(&image).unwrap();
                assert!(found.keypoints() == expected.keypoints, "{picture:?}, round {round}");
                assert!(found.descriptors().unwrap() == expected.descriptors, "{picture:?}, round {round}");
                // SAFETY: nothing writes the image.
                let pending =
                    unsafe { features.detect_and_describe_on_stream(&image, DEFAULT_STREAM) }.unwrap();
                if round == 1 {
                    drop(pending);
                    continue;
                }
                assert!(pending.capacity() >= expected.keypoints.len());
                let mut found = pending.finish().unwrap();
                assert!(found.keypoints() == expected.keypoints, "{picture:?}, round {round}");
                assert!(found.descriptors().unwrap() == expected.descriptors, "{picture:?}, round {round}");
                assert!(found.keypoint_pointer() != 0 && found.descriptor_pointer() != 0);
            }
            assert!(features.detect_and_describe(&picture.view()).unwrap() == expected, "{picture:?}");
        }
    }
}

#[test]
fn images_in_the_wrong_place_or_too_small_are_errors() {
    if !gpu::present() {
        return;
    }
    let small = Picture::draw(Depth::U8, (8, 8, 1), |x, y, _| noise(1, x, y, 0));
    let small = CudaImage::upload(0, &small.view()).unwrap();
    let mut features = CudaFeatures::new(FeatureConfig::default()).unwrap();
    let mut blobs = CudaFastHessian::new(FastHessianConfig::default()).unwrap();
    let errors = [features.detect_and_describe_on_device(&small).err(), blobs.detect_on_device(&small).err()];
    for error in errors {
        assert!(matches!(error, Some(Error::ImageTooSmall { .. })), "{error:?}");
    }
    let config =
        MatchedFeatureConfig::new(FeatureConfig::default(), MatchConfig::default(), TrainSet::PreviousFrame);
    let error = CudaPipeline::<u8, _>::on_devices(&[0, 0], 3, config.unwrap()).unwrap_err();
    let Error::Backend(cause) = error else { panic!("{error}") };
    assert_eq!(cause.downcast_ref(), Some(&CudaError::OneDeviceOnly { devices: 2 }));
}

/// Frames that match a fixed set or the frame before, one of them with an error.
#[test]
fn matched_frames_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    let nan = [f32::NAN; 96 * 96];
    let nan = ImageView::gray(&nan, 96, 96).unwrap();
    let sizes = [(640, 480), (300, 217), (64, 64), (1280, 720)];
    let draw = |shift: usize| {
        let (width, height) = sizes[shift % 4];
        Picture::draw(Depth::U8, (width, height, 1), move |x, y, _| noise(3, (x + shift) / 6, y / 6, 0))
    };
    for (config, cross_check) in feature_configs().into_iter().zip([false, true, false, true]) {
        let matching = MatchConfig::builder().cross_check(cross_check).build().unwrap();
        let mut cpu = CpuFeatures::new(config.clone());
        let mut cpu_matcher = CpuMatcher::new(matching);
        let pictures: Vec<_> = (0..20).map(draw).collect();
        let all: Vec<_> = pictures.iter().map(|p| cpu.detect_and_describe(&p.view()).unwrap()).collect();
        let object = cpu.detect_and_describe(&draw(21).view()).unwrap();
        for fixed in [true, false] {
            let train = match fixed {
                true => TrainSet::Fixed(Arc::new(object.descriptors.clone())),
                false => TrainSet::PreviousFrame,
            };
            let config = MatchedFeatureConfig::new(config.clone(), matching, train).unwrap();
            let mut pipeline = CudaPipeline::<u8, _>::new(config).unwrap();
            let mut found = Vec::new();
            for (i, picture) in pictures.iter().enumerate() {
                found.extend(pipeline.push(&if i == 7 { nan } else { picture.view() }));
            }
            found.extend(std::iter::from_fn(|| pipeline.next()));
            let mut before =
                if fixed { object.clone() } else { Features::new(vec![], Array2::zeros((0, 64))) };
            assert_eq!(found.len(), all.len());
            for (i, (frame, features)) in found.into_iter().zip(&all).enumerate() {
                if i == 7 {
                    assert!(matches!(frame.result, Err(Error::NonFinite { .. })));
                    continue;
                }
                let frame = frame.result.unwrap();
                let matches =
                    cpu_matcher.matches(features.descriptors.view(), before.descriptors.view()).unwrap();
                assert!(frame.features == *features && frame.matches == matches, "frame {i}");
                if !fixed {
                    before = features.clone();
                }
            }
        }
    }
}

/// Floats and 16-bit samples at an address, as other libraries give them.
#[test]
#[allow(unsafe_code)]
fn foreign_images_of_all_sample_types_are_used_without_a_copy() {
    if !gpu::present() {
        return;
    }
    let mut features = CudaFeatures::new(FeatureConfig::default()).unwrap();
    let mut cpu = CpuFeatures::new(FeatureConfig::default());
    for depth in DEPTHS {
        let picture = Picture::draw(depth, (322, 200, 1), |x, y, _| noise(5, x / 5, y / 5, 0));
        let owner = CudaImage::upload(0, &picture.view()).unwrap();
        let (pointer, pitch) = owner.pointer();
        // SAFETY: the rows are those of `owner`, which outlives the image.
        let image = unsafe {
            match depth {
                Depth::U8 => CudaImage::from_raw::<u8>(0, pointer, pitch, 322, 200, 1),
                Depth::U16 => CudaImage::from_raw::<u16>(0, pointer, pitch, 322, 200, 1),
                Depth::F32 => CudaImage::from_raw::<f32>(0, pointer, pitch, 322, 200, 1),
            }
        }
        .unwrap();
        let expected = cpu.detect_and_describe(&picture.view()).unwrap();
        let mut found = features.detect_and_describe_on_device(&image).unwrap();
        assert!(found.keypoints() == expected.keypoints);
        assert!(found.descriptors().unwrap() == expected.descriptors);
        let corners = HarrisConfig::default();
        let mut detector = harris_cuda::CudaDetector::new(corners.clone()).unwrap();
        let expected = harris_cpu::CpuDetector::new(corners).detect(&picture.view()).unwrap();
        assert!(detector.detect_on_device(&image).unwrap().to_vec().unwrap() == expected);
    }
    // Rows without gaps, of a width that is no multiple of 4.
    let picture = Picture::draw(Depth::U8, (321, 200, 1), |x, y, _| noise(5, x / 5, y / 5, 0));
    let samples: Vec<u8> = match picture.view().samples() {
        harris_core::Samples::U8(raster) => (0..200).flat_map(|y| raster.row(y).to_vec()).collect(),
        _ => unreachable!("drawn so"),
    };
    let owner = CudaImage::upload(0, &ImageView::gray(&samples, 300, 214).unwrap()).unwrap();
    // SAFETY: the rows are those of `owner`, which outlives the image.
    let image = unsafe { CudaImage::from_raw::<u8>(0, owner.pointer().0, 321, 321, 200, 1) }.unwrap();
    let expected = cpu.detect_and_describe(&picture.view()).unwrap();
    let found = features.detect_and_describe_on_device(&image).unwrap();
    assert!(found.keypoints() == expected.keypoints);
    for config in [HarrisConfig::default(), presets::opencv_gftt(), presets::chahuara_2017()] {
        let mut detector = harris_cuda::CudaDetector::new(config.clone()).unwrap();
        let expected = harris_cpu::CpuDetector::new(config).detect(&picture.view()).unwrap();
        assert!(detector.detect_on_device(&image).unwrap().to_vec().unwrap() == expected);
    }
}

/// Minutes of frames use no more memory than the first hundred: run with `--ignored`.
#[test]
#[ignore = "takes a minute"]
fn memory_stays_as_it_is_over_a_minute_of_frames() {
    if !gpu::present() {
        return;
    }
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    let on_device = || {
        let query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"];
        let said = std::process::Command::new("nvidia-smi").args(query).output().unwrap();
        String::from_utf8(said.stdout).unwrap().trim().parse::<usize>().unwrap()
    };
    let pictures: Vec<_> = (0..8)
        .map(|shift| {
            let size = [(1920, 1080, 1), (640, 480, 1)][shift % 2];
            Picture::draw(Depth::U8, size, move |x, y, _| noise(3, (x + shift) / 6, y / 6, 0))
        })
        .collect();
    let config =
        MatchedFeatureConfig::new(FeatureConfig::default(), MatchConfig::default(), TrainSet::PreviousFrame);
    let mut pipeline = CudaPipeline::<u8, _>::new(config.unwrap()).unwrap();
    let start = std::time::Instant::now();
    let (mut frames, mut first) = (0, None);
    while start.elapsed().as_secs() < 60 {
        for picture in &pictures {
            if let Some(frame) = pipeline.push(&picture.view()) {
                frame.result.unwrap();
            }
            frames += 1;
        }
        if frames >= 400 && first.is_none() {
            first = Some((resident(), on_device()));
        }
    }
    let (first, last) = (first.unwrap(), (resident(), on_device()));
    println!("{frames} frames; host {} to {} KiB, device {} to {} MiB", first.0, last.0, first.1, last.1);
    assert!(last.0 <= first.0 + 16384, "host memory grew");
    assert!(last.1 <= first.1, "device memory grew");
}
