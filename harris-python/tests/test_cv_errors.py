"""Refusals of `harris.cv`: what OpenCV refuses, too, and what the library has not."""

from typing import Any

import numpy as np
import pytest

import harris
from harris import cv

cv2 = pytest.importorskip("cv2")

NOISE = np.random.default_rng(3).integers(0, 256, (80, 96), np.uint8)

FUNCTIONS: dict[str, Any] = {
    "goodFeaturesToTrack": lambda module, image=NOISE, **named: module.goodFeaturesToTrack(
        image, **({"maxCorners": 5, "qualityLevel": 0.01, "minDistance": 3} | named)
    ),
    "cornerHarris": lambda module, image=NOISE, **named: module.cornerHarris(
        image, **({"blockSize": 3, "ksize": 3, "k": 0.04} | named)
    ),
    "cornerMinEigenVal": lambda module, image=NOISE, **named: module.cornerMinEigenVal(
        image, **({"blockSize": 3} | named)
    ),
}
GFTT = "goodFeaturesToTrack"
HARRIS = "cornerHarris"
MIN_EIGEN = "cornerMinEigenVal"


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float16", "float64", "bool"])
def test_refuses_types_as_opencv(function: str, dtype: str) -> None:
    image = NOISE.astype(dtype)
    with pytest.raises(cv2.error):
        FUNCTIONS[function](cv2, image)
    with pytest.raises(ValueError, match=f"must be uint8 or float32, not {dtype}"):
        FUNCTIONS[function](cv, image)


@pytest.mark.parametrize(
    ("function", "named", "error", "words"),
    [
        (GFTT, {"qualityLevel": 0.0}, ValueError, "qualityLevel must be above 0"),
        (GFTT, {"qualityLevel": -1.0}, ValueError, "qualityLevel must be above 0"),
        (GFTT, {"qualityLevel": np.nan}, ValueError, "qualityLevel must be above 0"),
        (GFTT, {"minDistance": -1}, ValueError, "minDistance must be finite"),
        (GFTT, {"minDistance": np.nan}, ValueError, "minDistance must be finite"),
        (GFTT, {"blockSize": 0}, ValueError, "blockSize must be from 2 to 127"),
        (GFTT, {"blockSize": -3}, ValueError, "blockSize must be from 2 to 127"),
        (GFTT, {"mask": np.ones((3, 3), np.uint8)}, ValueError, "mask"),
        (GFTT, {"mask": np.ones(NOISE.shape, np.int8)}, ValueError, "mask must be uint8 or bool"),
        (GFTT, {"mask": np.ones((80, 96, 3), np.uint8)}, ValueError, "mask must have the shape"),
        (GFTT, {"mask": None, "blockSize": 3, "gradientSize": 4}, ValueError, "gradientSize must"),
        (GFTT, {"maxCorners": 2.0}, TypeError, "maxCorners must be an integer"),
        (GFTT, {"maxCorners": True}, TypeError, "maxCorners must be an integer"),
        (GFTT, {"qualityLevel": "1"}, TypeError, "qualityLevel must be a number"),
        (GFTT, {"minDistance": True}, TypeError, "minDistance must be a number"),
        (GFTT, {"blockSize": 3.0}, TypeError, "blockSize must be an integer"),
        (GFTT, {"useHarrisDetector": 1.0}, TypeError, "useHarrisDetector must be a bool"),
        (GFTT, {"corners": "a"}, TypeError, "corners must be a NumPy array"),
        (GFTT, {"mask": "a"}, TypeError, "mask must be a NumPy array"),
        (GFTT, {"gradientSize": 3}, TypeError, r"goodFeaturesToTrack\(\) missing 2 required"),
        (GFTT, {"ksize": 3}, TypeError, r"goodFeaturesToTrack\(\) got an unexpected keyword"),
        (GFTT, {"image": NOISE.tolist()}, TypeError, "image must be a NumPy array"),
        (GFTT, {"image": np.zeros((9, 9, 3), np.uint8)}, ValueError, "must have the shape"),
        (HARRIS, {"blockSize": 0}, ValueError, "blockSize must be from 2 to 127"),
        (HARRIS, {"ksize": 2}, ValueError, "ksize must be 1, 3, 5, 7"),
        (HARRIS, {"ksize": 33}, ValueError, "ksize must be 1, 3, 5, 7"),
        (HARRIS, {"ksize": "3"}, TypeError, "ksize must be an integer"),
        (HARRIS, {"k": "a"}, TypeError, "k must be a number"),
        (HARRIS, {"borderType": cv.BORDER_WRAP}, ValueError, "borderType must be BORDER_CONST"),
        (HARRIS, {"borderType": cv.BORDER_TRANSPARENT}, ValueError, "borderType must be"),
        (HARRIS, {"borderType": 99}, ValueError, "borderType must be"),
        (HARRIS, {"borderType": -1}, ValueError, "borderType must be"),
        (HARRIS, {"dst": "a"}, TypeError, "dst must be a NumPy array"),
        (HARRIS, {"image": np.zeros((0, 5), np.uint8)}, ValueError, "the image is empty"),
        (MIN_EIGEN, {"borderType": cv.BORDER_WRAP}, ValueError, "borderType must be"),
        (MIN_EIGEN, {"ksize": 4}, ValueError, "ksize must be 1, 3, 5, 7"),
        (MIN_EIGEN, {"image": np.zeros((9, 9, 2), np.float32)}, ValueError, "must have the shape"),
    ],
)
def test_refuses_as_opencv(
    function: str, named: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(cv2.error):
        FUNCTIONS[function](cv2, **named)
    with pytest.raises(error, match=words):
        FUNCTIONS[function](cv, **named)


@pytest.mark.parametrize(
    ("function", "named", "words"),
    [
        (GFTT, {"qualityLevel": 1.5}, "qualityLevel must be above 0 and at most 1"),
        (GFTT, {"minDistance": np.inf}, "minDistance must be finite"),
        (GFTT, {"blockSize": 1}, "blockSize must be from 2 to 127, not 1"),
        (GFTT, {"blockSize": 128}, "blockSize must be from 2 to 127, not 128"),
        (GFTT, {"mask": None, "blockSize": 3, "gradientSize": 9}, "gradientSize must be 1, 3"),
        (GFTT, {"mask": None, "blockSize": 3, "gradientSize": 0}, "gradientSize must be 1, 3"),
        (GFTT, {"useHarrisDetector": True, "k": 0.25}, "k must be at least 0 and less than 0.25"),
        (GFTT, {"image": np.full((9, 9), np.nan, np.float32)}, "finite"),
        (HARRIS, {"k": -0.1}, "k must be at least 0"),
        (HARRIS, {"k": np.nan}, "k must be at least 0"),
        (HARRIS, {"borderType": cv.BORDER_REFLECT}, "BORDER_REFLECT_101"),
        (HARRIS, {"ksize": 9}, "ksize must be 1, 3, 5, 7"),
        (HARRIS, {"blockSize": 100, "ksize": 7}, "could overflow"),
        (MIN_EIGEN, {"borderType": cv.BORDER_REFLECT}, "BORDER_REPLICATE"),
        (MIN_EIGEN, {"image": np.full((9, 9), np.inf, np.float32)}, "finite"),
    ],
)
def test_refuses_what_the_library_has_not(function: str, named: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        FUNCTIONS[function](cv, **named)
    assert isinstance(caught.value, harris.Error)


def test_refuses_read_only_outputs() -> None:
    dst = np.zeros(NOISE.shape, np.float32)
    dst.flags.writeable = False
    with pytest.raises(ValueError, match="dst must be writeable"):
        cv.cornerHarris(NOISE, 3, 3, 0.04, dst)
    corners = np.zeros((5, 1, 2), np.float32)
    corners.flags.writeable = False
    with pytest.raises(ValueError, match="corners must be writeable"):
        cv.goodFeaturesToTrack(NOISE, 5, 0.01, 3, corners)
