"""Types of the compiled module."""

import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, final, overload, type_check_only

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._results import Keypoints, Matches

if sys.version_info >= (3, 11):
    from typing import Self, Unpack
else:
    from typing_extensions import Self, Unpack

__all__ = [
    "Config",
    "Detector",
    "DeviceKeypoints",
    "FastHessian",
    "FastHessianConfig",
    "Features",
    "Matcher",
    "Surf",
    "__version__",
    "_empty_device_keypoints",
    "_panic",
    "_read_gpu_array",
    "_time_detect",
    "backends",
    "find_homography",
    "presets",
]

__version__: str

@type_check_only
class _Dlpack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

@type_check_only
class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

@type_check_only
class _Array(Protocol):
    def __array__(self) -> NDArray[Any]: ...

@type_check_only
class _ArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

@type_check_only
class _CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

@type_check_only
class _TorchStream(Protocol):
    @property
    def cuda_stream(self) -> int: ...

@type_check_only
class _CupyStream(Protocol):
    @property
    def ptr(self) -> int: ...

_HostArray: TypeAlias = NDArray[Any] | _Array | _ArrayInterface | _Dlpack
_AnyArray: TypeAlias = _HostArray | _CudaArray
_Stream: TypeAlias = int | _CudaStream | _TorchStream | _CupyStream
_Points: TypeAlias = ArrayLike | Keypoints
# A text like "box:3", or a tuple like ("box", 3).
_Choice: TypeAlias = str | tuple[Any, ...]

@type_check_only
class _ConfigChanges(TypedDict, total=False):
    smoothing: _Choice | None
    gradient: _Choice
    window: _Choice
    measure: _Choice
    threshold: _Choice | None
    border: str
    margin: int
    suppression_radius: int
    plateau: str
    ties: str
    min_distance: float
    max_corners: int | None
    order: str
    subpixel: _Choice | None

@type_check_only
class _FastHessianChanges(TypedDict, total=False):
    octaves: int
    intervals: int
    step: int
    sampling: str
    clamp_negative: bool
    threshold: float
    max_keypoints: int | None

@final
class Config:
    def __new__(
        cls, preset: str | Config | None = None, **changes: Unpack[_ConfigChanges]
    ) -> Self: ...
    def replace(self, **changes: Unpack[_ConfigChanges]) -> Config: ...
    @classmethod
    def from_json(cls, text: str) -> Config: ...
    def to_json(self, *, color: bool = False) -> str: ...
    @property
    def smoothing(self) -> str: ...
    @property
    def gradient(self) -> str: ...
    @property
    def window(self) -> str: ...
    @property
    def measure(self) -> str: ...
    @property
    def threshold(self) -> str: ...
    @property
    def border(self) -> str: ...
    @property
    def margin(self) -> int: ...
    @property
    def suppression_radius(self) -> int: ...
    @property
    def plateau(self) -> str: ...
    @property
    def ties(self) -> str: ...
    @property
    def min_distance(self) -> float: ...
    @property
    def max_corners(self) -> int | None: ...
    @property
    def order(self) -> str: ...
    @property
    def subpixel(self) -> str: ...
    @property
    def support_radius(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class FastHessianConfig:
    def __new__(
        cls, preset: str | FastHessianConfig | None = None, **changes: Unpack[_FastHessianChanges]
    ) -> Self: ...
    @staticmethod
    def presets() -> list[str]: ...
    def replace(self, **changes: Unpack[_FastHessianChanges]) -> FastHessianConfig: ...
    @classmethod
    def from_json(cls, text: str) -> FastHessianConfig: ...
    def to_json(self, *, color: bool = False) -> str: ...
    @property
    def octaves(self) -> int: ...
    @property
    def intervals(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def sampling(self) -> str: ...
    @property
    def clamp_negative(self) -> bool: ...
    @property
    def threshold(self) -> float: ...
    @property
    def max_keypoints(self) -> int | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@type_check_only
class _Closing:
    @property
    def backend(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exception_type: type[BaseException] | None = ...,
        exception: BaseException | None = ...,
        traceback: TracebackType | None = ...,
        /,
    ) -> None: ...

@final
class Detector(_Closing):
    def __new__(
        cls,
        config: str | Config | None = None,
        *,
        backend: str = "auto",
        threads: int | None = None,
        device: int | None = None,
        **changes: Unpack[_ConfigChanges],
    ) -> Self: ...
    @overload
    def detect(
        self,
        image: _AnyArray,
        mask: _AnyArray | None = None,
        stream: _Stream | None = None,
        device: Literal[False] = False,
    ) -> Keypoints: ...
    @overload
    def detect(
        self,
        image: _AnyArray,
        mask: _AnyArray | None = None,
        stream: _Stream | None = None,
        *,
        device: Literal[True],
    ) -> DeviceKeypoints: ...
    @overload
    def detect(
        self,
        image: _AnyArray,
        mask: _AnyArray | None = None,
        stream: _Stream | None = None,
        *,
        device: bool,
    ) -> Keypoints | DeviceKeypoints: ...
    def detect_batch(
        self,
        images: Iterable[_HostArray] | NDArray[Any],
        masks: Iterable[_HostArray | None] | NDArray[Any] | None = None,
    ) -> list[Keypoints]: ...
    def response(
        self, image: _HostArray, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]: ...
    def keypoint_mask(
        self, image: _HostArray, mask: _HostArray | None = None
    ) -> NDArray[np.uint8]: ...
    @property
    def config(self) -> Config: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Config], dict[str, Any]]: ...

@final
class FastHessian(_Closing):
    def __new__(
        cls,
        config: str | FastHessianConfig | None = None,
        *,
        backend: str = "auto",
        threads: int | None = None,
        device: int | None = None,
        **changes: Unpack[_FastHessianChanges],
    ) -> Self: ...
    def detect(self, image: _HostArray, mask: _HostArray | None = None) -> Keypoints: ...
    def detect_batch(
        self,
        images: Iterable[_HostArray] | NDArray[Any],
        masks: Iterable[_HostArray | None] | NDArray[Any] | None = None,
    ) -> list[Keypoints]: ...
    def response(
        self, image: _HostArray, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]: ...
    @property
    def config(self) -> FastHessianConfig: ...
    def __getnewargs_ex__(self) -> tuple[tuple[FastHessianConfig], dict[str, Any]]: ...

@final
class Surf(_Closing):
    def __new__(
        cls,
        *,
        upright: bool = False,
        magnification: float = 1.0,
        backend: str = "auto",
        threads: int | None = None,
        device: int | None = None,
    ) -> Self: ...
    def extract(self, image: _HostArray, keypoints: _Points) -> NDArray[np.float32]: ...
    @property
    def upright(self) -> bool: ...
    @property
    def magnification(self) -> float: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]: ...

@final
class Features(_Closing):
    def __new__(
        cls,
        detector: str | Config | FastHessianConfig | None = None,
        *,
        upright: bool = False,
        magnification: float = 1.0,
        backend: str = "auto",
        threads: int | None = None,
        device: int | None = None,
    ) -> Self: ...
    def detect_and_describe(
        self, image: _HostArray, mask: _HostArray | None = None
    ) -> tuple[Keypoints, NDArray[np.float32]]: ...
    def detect_and_describe_batch(
        self,
        images: Iterable[_HostArray] | NDArray[Any],
        masks: Iterable[_HostArray | None] | NDArray[Any] | None = None,
    ) -> list[tuple[Keypoints, NDArray[np.float32]]]: ...
    @property
    def detector(self) -> Config | FastHessianConfig: ...
    @property
    def upright(self) -> bool: ...
    @property
    def magnification(self) -> float: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Config | FastHessianConfig], dict[str, Any]]: ...

@final
class Matcher(_Closing):
    def __new__(
        cls,
        ratio: float = 0.7,
        cross_check: bool = False,
        *,
        backend: str = "auto",
        threads: int | None = None,
        device: int | None = None,
    ) -> Self: ...
    def match(self, query: _HostArray, train: _HostArray) -> Matches: ...
    @property
    def ratio(self) -> float: ...
    @property
    def cross_check(self) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[float, bool], dict[str, Any]]: ...

@final
class DeviceKeypoints:
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def device(self) -> int: ...
    @property
    def pointer(self) -> int: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __len__(self) -> int: ...

def backends() -> list[tuple[str, bool, str]]: ...
def presets() -> list[str]: ...
def find_homography(
    src: _Points,
    dst: _Points,
    *,
    distance: float = 3.0,
    confidence: float = 0.999,
    max_samples: int = 5000,
    seed: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None: ...
def _read_gpu_array(object: Any, stream: Any = None) -> dict[str, Any] | None: ...
def _empty_device_keypoints() -> DeviceKeypoints: ...
def _panic(detector: Detector, message: str) -> None: ...
def _time_detect(detector: Detector, image: _HostArray, count: int) -> NDArray[np.float64]: ...
