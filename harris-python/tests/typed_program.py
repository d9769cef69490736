"""A program whose types mypy and pyright check; pytest does not run it."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import harris

if sys.version_info >= (3, 11):
    from typing import assert_type
else:
    from typing_extensions import assert_type


def program(image: NDArray[np.uint8], frames: list[NDArray[np.float32]]) -> None:
    config = harris.Config("opencv_gftt", max_corners=200, window=("box", 5), subpixel=None)
    assert_type(config.replace(margin=3), harris.Config)
    with harris.Detector(config, backend="cpu", threads=4, min_distance=10) as detector:
        assert_type(detector, harris.Detector)
        found = detector.detect(image, mask=image > 3)
        assert_type(found, harris.Keypoints)
        assert_type(found.xy, NDArray[np.float32])
        assert_type(found[0], harris.Keypoint)
        assert_type(found[1:], harris.Keypoints)
        assert_type(detector.detect_batch(frames), list[harris.Keypoints])
        assert_type(detector.response(image), NDArray[np.float32])
        assert_type(detector.detect(image, device=True), harris.DeviceKeypoints)
        on_gpu: Any = image
        assert_type(detector.detect(on_gpu, stream=7), harris.Keypoints)
    keypoints, descriptors = harris.Features(magnification=2.0).detect_and_describe(image)
    assert_type(keypoints, harris.Keypoints)
    matches = harris.Matcher(0.8, cross_check=True).match(descriptors, descriptors)
    assert_type(matches, harris.Matches)
    fit = harris.find_homography(keypoints[matches.query], keypoints.xy[matches.train])
    if fit is not None:
        matrix, inliers = fit
        assert_type(matrix, NDArray[np.float64])
        assert_type(inliers, NDArray[np.bool_])
    harris.Config(windou=3)  # type: ignore[call-arg]
    harris.Detector("default", margin="3")  # type: ignore[arg-type]
