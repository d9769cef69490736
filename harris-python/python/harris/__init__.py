"""Harris corner detection and SURF features on the CPU and on NVIDIA GPUs.

All backends give equal results, bit for bit.

Examples
--------
>>> import numpy as np
>>> import harris
>>> image = np.zeros((48, 64), np.uint8)
>>> image[12:36, 16:40] = 255
>>> harris.Detector("opencv_gftt", max_corners=4).detect(image).xy.tolist()
[[39.0, 35.0], [16.0, 35.0], [39.0, 12.0], [16.0, 12.0]]
"""

from ._core import (
    Config,
    Detector,
    DeviceKeypoints,
    FastHessian,
    FastHessianConfig,
    Features,
    Matcher,
    Surf,
    __version__,
    backends,
    find_homography,
    presets,
)
from ._errors import (
    BackendError,
    ClosedError,
    ConfigError,
    Error,
    InputError,
    InputTypeError,
    OutOfMemoryError,
    PanicError,
)
from ._results import Keypoint, Keypoints, Match, Matches

__all__ = [
    "BackendError",
    "ClosedError",
    "Config",
    "ConfigError",
    "Detector",
    "DeviceKeypoints",
    "Error",
    "FastHessian",
    "FastHessianConfig",
    "Features",
    "InputError",
    "InputTypeError",
    "Keypoint",
    "Keypoints",
    "Match",
    "Matcher",
    "Matches",
    "OutOfMemoryError",
    "PanicError",
    "Surf",
    "__version__",
    "backends",
    "find_homography",
    "presets",
]
