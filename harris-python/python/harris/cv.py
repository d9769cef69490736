"""OpenCV's corner functions: its names, arguments, defaults and shapes.

Import it beside ``cv2``, and change the name of the module in a call::

    from harris import cv

    corners = cv.goodFeaturesToTrack(image, maxCorners=200, qualityLevel=0.01, minDistance=10)
    response = cv.cornerHarris(image, blockSize=2, ksize=3, k=0.04)

The functions run on the CPU, in as many threads as it has, without the GIL. Threads may call them
at the same time. They keep up to 32 idle detectors, so a call with known options starts at once.

Responses are in OpenCV's units and differ from its own by rounding. The list of corners is what
OpenCV's rules give on these responses. It is OpenCV's list unless responses tie, or nearly so.

Differences from OpenCV:

- `blockSize` is 2 to 127. Sobel's aperture is 1, 3, 5 or 7, or `FILTER_SCHARR` for Scharr's filter.
- `borderType` is `BORDER_REFLECT_101`, `BORDER_REPLICATE` or `BORDER_CONSTANT`.
- `k` is at least 0 and less than 0.25. `qualityLevel` is at most 1.
- Samples of an image are finite.

Other values raise an exception. All exceptions have the base `harris.Error`: a value or an array
that cannot be used is a `ValueError`, an argument of a wrong type a `TypeError`.
"""

# ruff: noqa: N802, N803

from __future__ import annotations

import math
import operator
from typing import Any, SupportsFloat, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from ._errors import ConfigError, InputError, InputTypeError
from ._idle_detectors import Options, give, take
from ._results import Keypoints

__all__ = [
    "BORDER_CONSTANT",
    "BORDER_DEFAULT",
    "BORDER_ISOLATED",
    "BORDER_REFLECT",
    "BORDER_REFLECT101",
    "BORDER_REFLECT_101",
    "BORDER_REPLICATE",
    "BORDER_TRANSPARENT",
    "BORDER_WRAP",
    "FILTER_SCHARR",
    "cornerHarris",
    "cornerMinEigenVal",
    "goodFeaturesToTrack",
]

BORDER_CONSTANT = 0
"""Samples and products beyond the edges are 0."""
BORDER_REPLICATE = 1
"""Samples and products at the edges are repeated."""
BORDER_REFLECT = 2
"""Mirrored with the edge; not supported."""
BORDER_WRAP = 3
"""Periodic; not supported, as in OpenCV."""
BORDER_REFLECT_101 = 4
"""Mirrored without the edge."""
BORDER_REFLECT101 = BORDER_REFLECT_101
"""Another name of `BORDER_REFLECT_101`."""
BORDER_DEFAULT = BORDER_REFLECT_101
"""The default of all functions: `BORDER_REFLECT_101`."""
BORDER_TRANSPARENT = 5
"""Not supported, as in OpenCV."""
BORDER_ISOLATED = 16
"""A flag that may be added to another border. It changes nothing for NumPy arrays."""
FILTER_SCHARR = -1
"""The aperture that stands for Scharr's filter."""

_Image = NDArray[np.uint8] | NDArray[np.float32]
_Mask = NDArray[np.uint8] | NDArray[np.bool_]

_BORDERS = {
    BORDER_CONSTANT: "zero",
    BORDER_REPLICATE: "replicate",
    BORDER_REFLECT_101: "reflect101",
}

# The library's gradient for each aperture, and the ratio of OpenCV's gradient to it.
_GRADIENTS = {
    1: ("central", 1.0),
    3: ("sobel3", 1.0),
    5: ("sobel5", 4.0),
    7: ("sobel7", 16.0),
    FILTER_SCHARR: ("scharr3", 2.0),
}


def _whole(name: str, value: SupportsIndex) -> int:
    """Read a whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputTypeError(f"{name} must be an integer, not {type(value).__name__}")
    return operator.index(value)


def _number(name: str, value: SupportsFloat) -> float:
    """Read a number."""
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise InputTypeError(f"{name} must be a number, not {type(value).__name__}")
    return float(value)


def _flag(name: str, value: SupportsIndex) -> bool:
    """Read a flag: a bool or an integer."""
    if not isinstance(value, (bool, np.bool_)) and not hasattr(value, "__index__"):
        raise InputTypeError(f"{name} must be a bool, not {type(value).__name__}")
    return bool(value)


def _array(name: str, value: Any, kinds: str, types: str) -> NDArray[Any]:
    """Read an image or a mask of one channel."""
    if not isinstance(value, np.ndarray):
        if not hasattr(value, "__array__"):
            raise InputTypeError(f"{name} must be a NumPy array, not {type(value).__name__}")
        value = np.asarray(value)
    array: NDArray[Any] = value
    if array.dtype.char not in kinds:
        raise InputError(f"{name} must be {types}, not {array.dtype}")
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 1)):
        raise InputError(f"{name} must have the shape (H, W) or (H, W, 1), not {array.shape}")
    return array


def _image(name: str, value: Any) -> NDArray[Any]:
    """Read an image."""
    return _array(name, value, "Bf", "uint8 or float32")


def _output(name: str, value: Any) -> NDArray[Any]:
    """Read an output array: it must be writeable."""
    if not isinstance(value, np.ndarray):
        raise InputTypeError(f"{name} must be a NumPy array or None, not {type(value).__name__}")
    if not value.flags.writeable:
        raise InputError(f"{name} must be writeable")
    return value


def _tensor(blockSize: SupportsIndex, name: str, aperture: SupportsIndex) -> tuple[Options, float]:
    """Read the options of the structure tensor, and OpenCV's factor for gradients."""
    block, size = _whole("blockSize", blockSize), _whole(name, aperture)
    if not 2 <= block <= 127:
        raise ConfigError(f"blockSize must be from 2 to 127, not {block}")
    if size not in _GRADIENTS:
        raise ConfigError(f"{name} must be 1, 3, 5, 7 or FILTER_SCHARR (-1), not {size}")
    gradient, factor = _GRADIENTS[size]
    return (("window", f"box:{block}"), ("gradient", gradient)), factor


def _harris(k: SupportsFloat) -> str:
    """Read the factor of Harris's measure."""
    value = _number("k", k)
    if not 0 <= value < 0.25:
        raise ConfigError(f"k must be at least 0 and less than 0.25, not {value}")
    return f"harris:{value!r}"


def _response(
    src: Any,
    tensor: Options,
    measure: str,
    borderType: SupportsIndex | None,
    factor: float,
    dst: Any,
) -> NDArray[np.float32]:
    """Compute a response map in OpenCV's units."""
    image = _image("src", src)
    border = BORDER_DEFAULT if borderType is None else _whole("borderType", borderType)
    border_name = _BORDERS.get(border & ~BORDER_ISOLATED)
    if border_name is None:
        raise ConfigError(
            "borderType must be BORDER_CONSTANT (0), BORDER_REPLICATE (1) or"
            f" BORDER_REFLECT_101 (4, BORDER_DEFAULT), not {border}"
        )
    shape = image.shape[:2]
    target = None
    if dst is not None:
        target = _output("dst", dst)
        is_used = target.dtype == np.float32 and target.shape in (shape, (*shape, 1))
        target = target if is_used else None
    out = None
    if target is not None and target.flags.carray and not np.may_share_memory(target, image):
        out = target.reshape(shape)
    options = (*tensor, ("measure", measure), ("border", border_name))
    detector = take(options)
    found = detector.response(image, out)
    give(options, detector)
    if factor != 1:
        np.multiply(found, np.float32(factor), out=found)
    if target is None:
        return found
    if out is None:
        target[...] = found.reshape(target.shape)
    return target


def cornerHarris(
    src: _Image,
    blockSize: int,
    ksize: int,
    k: float,
    dst: NDArray[np.float32] | None = None,
    borderType: int | None = BORDER_DEFAULT,
) -> NDArray[np.float32]:
    """Compute Harris's response at each pixel.

    Parameters
    ----------
    src : ndarray
        The image: uint8 or float32, of shape (H, W) or (H, W, 1).
    blockSize : int
        Side in pixels of the square over which the structure tensor is averaged: 2 to 127.
    ksize : int
        Aperture of Sobel's filter: 1, 3, 5 or 7, or `FILTER_SCHARR`.
    k : float
        The factor of the square of the trace: at least 0, less than 0.25.
    dst : ndarray, optional
        An array for the result. It is used if it is float32 and of the image's shape, as in OpenCV.
    borderType : int, default BORDER_DEFAULT
        How the image continues beyond its edges: `BORDER_REFLECT_101`, `BORDER_REPLICATE` or
        `BORDER_CONSTANT`.

    Returns
    -------
    ndarray
        The responses, float32 of shape (H, W), in OpenCV's units; `dst` itself if it is used.

    Raises
    ------
    ConfigError
        A `ValueError`: an option is out of range.
    InputError
        A `ValueError`: the image is empty, of another type or shape, or a sample is not finite; or
        `dst` is read-only.
    InputTypeError
        A `TypeError`: an argument is of a wrong type.

    Examples
    --------
    >>> import numpy as np
    >>> from harris import cv
    >>> image = np.zeros((48, 64), np.uint8)
    >>> image[12:36, 16:40] = 255
    >>> response = cv.cornerHarris(image, 2, 3, 0.04)
    >>> response.shape, float(response[12, 16]) > 0, float(response[24, 16]) < 0
    ((48, 64), True, True)
    """
    tensor, gain = _tensor(blockSize, "ksize", ksize)
    return _response(src, tensor, _harris(k), borderType, gain**4, dst)


def cornerMinEigenVal(
    src: _Image,
    blockSize: int,
    dst: NDArray[np.float32] | None = None,
    ksize: int | None = 3,
    borderType: int | None = BORDER_DEFAULT,
) -> NDArray[np.float32]:
    """Compute the least eigenvalue of the structure tensor at each pixel (Shi and Tomasi).

    Parameters
    ----------
    src : ndarray
        The image: uint8 or float32, of shape (H, W) or (H, W, 1).
    blockSize : int
        Side in pixels of the square over which the structure tensor is averaged: 2 to 127.
    dst : ndarray, optional
        An array for the result. It is used if it is float32 and of the image's shape, as in OpenCV.
    ksize : int, default 3
        Aperture of Sobel's filter: 1, 3, 5 or 7, or `FILTER_SCHARR`.
    borderType : int, default BORDER_DEFAULT
        How the image continues beyond its edges: `BORDER_REFLECT_101`, `BORDER_REPLICATE` or
        `BORDER_CONSTANT`.

    Returns
    -------
    ndarray
        The responses, float32 of shape (H, W), in OpenCV's units; `dst` itself if it is used.

    Raises
    ------
    ConfigError, InputError, InputTypeError
        As `cornerHarris`.

    Examples
    --------
    >>> import numpy as np
    >>> from harris import cv
    >>> image = np.zeros((48, 64), np.uint8)
    >>> image[12:36, 16:40] = 255
    >>> response = cv.cornerMinEigenVal(image, 2)
    >>> float(response[12, 16]) > 0, float(response[24, 16])
    (True, 0.0)
    """
    tensor, gain = _tensor(blockSize, "ksize", 3 if ksize is None else ksize)
    return _response(src, tensor, "shi-tomasi", borderType, gain**2, dst)


# The optional arguments in their common order: corners, mask, blockSize, gradientSize,
# useHarrisDetector, k.
_Optional = tuple[Any, Any, Any, Any, Any, Any]


def _without_gradient_size(
    corners: Any = None,
    mask: Any = None,
    blockSize: Any = None,
    useHarrisDetector: Any = None,
    k: Any = None,
) -> _Optional:
    """Read the optional arguments of the first overload."""
    return corners, mask, blockSize, None, useHarrisDetector, k


def _with_gradient_size(
    mask: Any,
    blockSize: Any,
    gradientSize: Any,
    corners: Any = None,
    useHarrisDetector: Any = None,
    k: Any = None,
) -> _Optional:
    """Read the optional arguments of the second overload."""
    return corners, mask, blockSize, gradientSize, useHarrisDetector, k


# The name in messages of wrong calls.
_without_gradient_size.__qualname__ = _with_gradient_size.__qualname__ = "goodFeaturesToTrack"


@overload
def goodFeaturesToTrack(
    image: _Image,
    maxCorners: int,
    qualityLevel: float,
    minDistance: float,
    corners: NDArray[np.float32] | None = None,
    mask: _Mask | None = None,
    blockSize: int | None = 3,
    useHarrisDetector: bool | None = False,
    k: float | None = 0.04,
) -> NDArray[np.float32] | None: ...
@overload
def goodFeaturesToTrack(
    image: _Image,
    maxCorners: int,
    qualityLevel: float,
    minDistance: float,
    mask: _Mask | None,
    blockSize: int,
    gradientSize: int,
    corners: NDArray[np.float32] | None = None,
    useHarrisDetector: bool | None = False,
    k: float | None = 0.04,
) -> NDArray[np.float32] | None: ...
def goodFeaturesToTrack(
    image: Any, maxCorners: Any, qualityLevel: Any, minDistance: Any, *args: Any, **kwargs: Any
) -> NDArray[np.float32] | None:
    """Find the strongest corners of an image.

    There are two orders of arguments, as in OpenCV. The second holds where `gradientSize` is given
    by name, or the sixth argument is an integer::

        goodFeaturesToTrack(image, maxCorners, qualityLevel, minDistance, corners=None, mask=None,
                            blockSize=3, useHarrisDetector=False, k=0.04)
        goodFeaturesToTrack(image, maxCorners, qualityLevel, minDistance, mask, blockSize,
                            gradientSize, corners=None, useHarrisDetector=False, k=0.04)

    Parameters
    ----------
    image : ndarray
        The image: uint8 or float32, of shape (H, W) or (H, W, 1).
    maxCorners : int
        The greatest number of corners; 0 or less for all.
    qualityLevel : float
        The threshold as a part of the greatest response: above 0, at most 1.
    minDistance : float
        Least distance in pixels between corners.
    corners : ndarray, optional
        An array for the result. It is used if it is float32 and of the result's shape, as in
        OpenCV.
    mask : ndarray, optional
        uint8 or bool of the image's shape: corners are sought where it is not zero.
    blockSize : int, default 3
        Side in pixels of the square over which the structure tensor is averaged: 2 to 127.
    gradientSize : int, default 3
        Aperture of Sobel's filter: 1, 3, 5 or 7, or `FILTER_SCHARR`.
    useHarrisDetector : bool, default False
        Whether the response is that of `cornerHarris`, not of `cornerMinEigenVal`.
    k : float, default 0.04
        The factor of `cornerHarris`.

    Returns
    -------
    ndarray or None
        The corners from the strongest on, as x and y: float32 of shape (N, 1, 2). None if there
        are none.

    Raises
    ------
    ConfigError
        A `ValueError`: an option is out of range.
    InputError
        A `ValueError`: the image or the mask is of another type or shape, a sample is not finite;
        or `corners` is read-only.
    InputTypeError
        A `TypeError`: an argument is of a wrong type.

    Examples
    --------
    >>> import numpy as np
    >>> from harris import cv
    >>> image = np.zeros((48, 64), np.uint8)
    >>> image[12:36, 16:40] = 255
    >>> cv.goodFeaturesToTrack(image, 2, 0.01, 10).tolist()
    [[[39.0, 35.0]], [[16.0, 35.0]]]
    >>> mask = np.zeros((48, 64), np.uint8)
    >>> mask[:20] = 255
    >>> cv.goodFeaturesToTrack(image, 0, 0.01, 10, mask, 3, 5, useHarrisDetector=True).tolist()
    [[[39.0, 12.0]], [[16.0, 12.0]]]
    >>> print(cv.goodFeaturesToTrack(np.zeros((48, 64), np.uint8), 2, 0.01, 10))
    None
    """
    sixth = args[1] if len(args) > 1 else None
    is_second = "gradientSize" in kwargs or isinstance(sixth, (int, np.integer))
    read = _with_gradient_size if is_second else _without_gradient_size
    corners, mask, block, gradient, is_harris, k = read(*args, **kwargs)
    tensor, _ = _tensor(
        3 if block is None else block, "gradientSize", 3 if gradient is None else gradient
    )
    measure = "shi-tomasi"
    if is_harris is not None and _flag("useHarrisDetector", is_harris):
        measure = _harris(0.04 if k is None else k)
    most = _whole("maxCorners", maxCorners)
    quality = _number("qualityLevel", qualityLevel)
    if not 0 < quality <= 1:
        raise ConfigError(f"qualityLevel must be above 0 and at most 1, not {quality}")
    distance = _number("minDistance", minDistance)
    if not 0 <= distance < math.inf:
        raise ConfigError(f"minDistance must be finite and at least 0, not {distance}")
    if corners is not None:
        corners = _output("corners", corners)
    options = (
        *tensor,
        ("measure", measure),
        ("threshold", f"relative:{quality!r}"),
        ("min_distance", distance),
        ("max_corners", most if most > 0 else None),
    )
    found = _detect(_image("image", image), mask, options)
    if found is None or corners is None:
        return found
    if corners.dtype != np.float32 or corners.shape != found.shape:
        return found
    target: NDArray[np.float32] = corners
    target[...] = found
    return target


def _detect(image: NDArray[Any], mask: Any, options: Options) -> NDArray[np.float32] | None:
    """Find corners, as an array of shape (N, 1, 2)."""
    if mask is not None:
        mask = _array("mask", mask, "B?", "uint8 or bool")
    detector = take(options)
    found: Keypoints | None = detector.detect(image, mask) if image.size else None
    give(options, detector)
    if not found:
        return None
    return np.ascontiguousarray(found.table[:, :2]).reshape(-1, 1, 2)
