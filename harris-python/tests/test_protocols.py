"""The protocols of arrays in a GPU's memory, as objects that only look like them have it."""

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest

import harris
from harris import _core

HAS_GPU = any(name.startswith("cuda") and there for name, there, _ in harris.backends())
DETECTOR = harris.Detector(backend="cpu")


class DlTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DlTensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DlTensor),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Tensor:
    """An array that says to be in a GPU's memory, by DLPack."""

    def __init__(
        self,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        dtype: tuple[int, int] = (1, 8),
        device: tuple[int, int] = (2, 0),
        version: int | None = 1,
        pointer: int = 0x1000,
        kind: int | None = None,
    ) -> None:
        self.device = device
        self.version = version
        self.stream: Any = None
        sides = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        steps = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        tensor = DlTensor(
            pointer,
            kind or device[0],
            device[1],
            len(shape),
            dtype[0],
            dtype[1],
            1,
            sides,
            steps,
            8,
        )
        self.keep = (sides, steps)
        if version is None:
            self.managed: Any = Managed(tensor, None, None)
        else:
            self.managed = Versioned(version, 0, None, None, 0, tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: Any = None, **arguments: Any) -> Any:
        self.stream = stream
        if self.version is None:
            if arguments:
                raise TypeError("unexpected keyword argument 'max_version'")
            return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)
        assert arguments == {"max_version": (1, 0)}
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)


class Interface:
    """An array that says to be in a GPU's memory, by the CUDA Array Interface."""

    def __init__(self, shape: tuple[int, ...], typestr: str = "|u1", **entries: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (0x2000, False),
            "version": 3,
            **entries,
        }


@pytest.mark.parametrize("version", [None, 1])
def test_dlpack_is_read(version: int | None) -> None:
    tensor = Tensor((48, 64), version=version, device=(2, 3))
    assert _core._read_gpu_array(tensor) == {
        "pointer": 0x1008,
        "device": 3,
        "sample": "Sample(U8)",
        "size": [48, 64, 1],
        "pitch": 64,
        "stream": 0,
    }
    # DLPack's name of the default stream.
    assert tensor.stream == 1


@pytest.mark.parametrize(
    ("shape", "strides", "dtype", "size", "pitch", "sample"),
    [
        ((48, 64), (64, 1), (1, 8), [48, 64, 1], 64, "Sample(U8)"),
        ((48, 64), (80, 1), (1, 8), [48, 64, 1], 80, "Sample(U8)"),
        ((48, 64), (80, 1), (1, 16), [48, 64, 1], 160, "Sample(U16)"),
        ((48, 64), (80, 1), (2, 32), [48, 64, 1], 320, "Sample(F32)"),
        ((48, 64, 1), (64, 1, 1), (1, 8), [48, 64, 1], 64, "Sample(U8)"),
        ((48, 64, 1), (64, 1, 99), (1, 8), [48, 64, 1], 64, "Sample(U8)"),
        ((48, 64, 3), (200, 3, 1), (1, 8), [48, 64, 3], 200, "Sample(U8)"),
        ((48, 1), (80, 7), (1, 8), [48, 1, 1], 80, "Sample(U8)"),
        ((1, 64), (-5, 1), (1, 8), [1, 64, 1], 64, "Sample(U8)"),
        ((48, 64), None, (6, 8), [48, 64, 1], 64, "Bool"),
    ],
)
def test_shapes_and_strides_of_dlpack(
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    dtype: tuple[int, int],
    size: list[int],
    pitch: int,
    sample: str,
) -> None:
    read = _core._read_gpu_array(Tensor(shape, strides, dtype))
    assert read is not None
    assert (read["size"], read["pitch"], read["sample"]) == (size, pitch, sample)


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((48, 64), (1, 48)),
        ((48, 64), (-64, 1)),
        ((48, 64), (128, 2)),
        ((48, 64), (32, 1)),
        ((48, 64), (0, 0)),
        ((48, 64, 3), (64, 1, 48 * 64)),
    ],
)
def test_rows_that_are_not_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    for array in (Tensor(shape, strides), Interface(shape, strides=strides)):
        with pytest.raises(harris.InputError, match="make the array contiguous first"):
            _core._read_gpu_array(array)


def test_the_cuda_array_interface_is_read() -> None:
    assert _core._read_gpu_array(Interface((48, 64, 3), "<f4", strides=(1024, 12, 4))) == {
        "pointer": 0x2000,
        "device": None,
        "sample": "Sample(F32)",
        "size": [48, 64, 3],
        "pitch": 1024,
        "stream": 0,
    }
    for stream, given, used in [(None, None, 0), (1, None, 1), (7, None, 7), (7, 7, 7), (1, 0, 0)]:
        read = _core._read_gpu_array(Interface((4, 4), stream=stream), given)
        assert read is not None
        assert read["stream"] == used


def test_wrong_interfaces() -> None:
    class NoDict:
        __cuda_array_interface__ = 3

    for array, words in [
        (NoDict(), "is not a dict"),
        (Interface((4, 4), data=None), "has no data"),
        (Interface((4, 4), mask=Interface((4, 4))), "has a mask"),
        (Interface((4,)), r"not \(4,\)"),
        (Interface((4, 4), strides=(4,)), "different lengths"),
    ]:
        with pytest.raises(harris.InputError, match=words):
            _core._read_gpu_array(array)
    with pytest.raises(harris.InputError, match="names stream 0x7"):
        _core._read_gpu_array(Interface((4, 4), stream=7), 8)
    with pytest.raises((TypeError, ValueError)):
        _core._read_gpu_array(Interface((4, 4), data="there"))


def test_wrong_capsules() -> None:
    class NoCapsule(Tensor):
        def __dlpack__(self, **_: Any) -> Any:
            return 3

    class Taken(Tensor):
        def __dlpack__(self, **_: Any) -> Any:
            return new_capsule(ctypes.addressof(self.managed), b"used_dltensor", None)

    for array, words in [
        (NoCapsule((4, 4)), "did not return a DLPack capsule"),
        (Taken((4, 4)), "did not return a DLPack capsule"),
        (Tensor((4, 4), version=2), "version 2 of DLPack"),
        (Tensor((4, 4), kind=1), "kind 1"),
        (Tensor((-4, 4)), r"not \(-4, 4\)"),
    ]:
        with pytest.raises(harris.InputError, match=words):
            _core._read_gpu_array(array)


class Failing(Tensor):
    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("no export")


def test_exceptions_of_the_producer_pass() -> None:
    with pytest.raises(BufferError, match="no export"):
        _core._read_gpu_array(Failing((4, 4)))


class NewStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 0x77


class PropertyStream:
    __cuda_stream__ = (0, 0x77)


class TorchStream:
    cuda_stream = 0x77


class CupyStream:
    ptr = 0x77


class FutureStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 1, 0x77


def test_streams() -> None:
    good: list[Any] = [
        0x77,
        np.int64(0x77).item(),
        NewStream(),
        PropertyStream(),
        TorchStream(),
        CupyStream(),
    ]
    for stream in good:
        tensor = Tensor((4, 4))
        read = _core._read_gpu_array(tensor, stream)
        assert read is not None
        assert read["stream"] == tensor.stream == 0x77
    wrong: list[tuple[Any, type[Exception]]] = [
        ("fast", harris.InputTypeError),
        (-1, harris.InputError),
        (FutureStream(), harris.InputError),
    ]
    for stream, kind in wrong:
        with pytest.raises(kind):
            _core._read_gpu_array(Tensor((4, 4)), stream)


def test_arrays_of_the_host_have_no_such_protocol() -> None:
    assert _core._read_gpu_array(np.zeros((4, 4), np.uint8)) is None
    assert _core._read_gpu_array([1]) is None


@pytest.mark.parametrize(
    "array", [Tensor((48, 64)), Interface((48, 64)), Tensor((48, 64), version=None)]
)
def test_a_detector_on_the_cpu_refuses_arrays_of_a_gpu(array: Any) -> None:
    with pytest.raises(harris.InputError, match="in a GPU's memory, the detector is on cpu"):
        DETECTOR.detect(array)
    for call in (
        DETECTOR.response,
        DETECTOR.keypoint_mask,
        harris.FastHessian(backend="cpu").detect,
    ):
        with pytest.raises(harris.InputError, match="in a GPU's memory"):
            call(array)
    with pytest.raises(harris.InputError, match="in a GPU's memory"):
        DETECTOR.detect_batch([array])


def test_other_devices_are_refused() -> None:
    with pytest.raises(harris.InputError, match="kind 10 of DLPack"):
        DETECTOR.detect(Tensor((48, 64), device=(10, 0)))


def test_options_of_a_gpu_on_the_cpu() -> None:
    image = np.zeros((48, 64), np.uint8)
    with pytest.raises(harris.BackendError, match="device=True needs a GPU"):
        DETECTOR.detect(image, device=True)
    with pytest.raises(harris.InputError, match="a stream is for an image in a GPU's memory"):
        DETECTOR.detect(image, stream=0)


def test_empty_keypoints_of_a_device_are_exported() -> None:
    keypoints = _core._empty_device_keypoints()
    assert isinstance(keypoints, harris.DeviceKeypoints)
    assert len(keypoints) == 0
    assert keypoints.shape == (0, 4)
    assert keypoints.__dlpack_device__() == (2, 0)
    assert keypoints.__cuda_array_interface__ == {
        "shape": (0, 4),
        "typestr": "<f4",
        "data": (0, False),
        "strides": None,
        "stream": None,
        "version": 3,
    }
    with pytest.raises(harris.InputError, match="without a copy"):
        keypoints.__dlpack__(copy=True)
    with pytest.raises(harris.InputError, match="without a copy"):
        keypoints.__dlpack__(dl_device=(1, 0))
    for arguments, name, kind in [
        ({}, b"dltensor", Managed),
        ({"stream": 1}, b"dltensor", Managed),
        (
            {"max_version": (1, 1), "copy": False, "dl_device": (2, 0)},
            b"dltensor_versioned",
            Versioned,
        ),
    ]:
        capsule: Any = keypoints.__dlpack__(**arguments)  # type: ignore[arg-type]
        managed = kind.from_address(get_pointer(capsule, name))
        assert (managed.tensor.code, managed.tensor.bits, managed.tensor.ndim) == (2, 32, 2)
        assert list(managed.tensor.shape[:2]) == [0, 4]
        assert list(managed.tensor.strides[:2]) == [4, 1]
        # Dropped without a consumer.
        del capsule, managed
        # A consumer takes the tensor, and frees it.
        capsule = keypoints.__dlpack__(**arguments)  # type: ignore[arg-type]
        address = get_pointer(capsule, name)
        managed = kind.from_address(address)
        taken = b"used_" + name
        rename(capsule, taken)
        del capsule
        gc.collect()
        assert list(managed.tensor.shape[:2]) == [0, 4]
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(address)


def test_the_producer_is_kept_no_longer_than_the_call() -> None:
    tensor = Tensor((4, 4))
    alive = weakref.ref(tensor)
    _core._read_gpu_array(tensor)
    del tensor
    gc.collect()
    assert alive() is None
