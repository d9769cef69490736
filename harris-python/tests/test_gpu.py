"""Arrays in a GPU's memory give the results of the CPU, bit for bit. Skipped without a GPU."""

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import harris
from scenes import as_type, scene

pytestmark = pytest.mark.skipif(
    not any(name.startswith("cuda") and there for name, there, _ in harris.backends()),
    reason="there is no GPU",
)

DTYPES = ["uint8", "uint16", "float32"]
# Sample types that detectors read in a GPU's memory.
ON_GPU = DTYPES
SIZES = [(48, 64), (61, 83), (480, 640), (33, 1), (1, 33), (271, 514)]


@pytest.fixture(scope="module")
def detector() -> harris.Detector:
    return harris.Detector(backend="cuda")


@pytest.fixture(params=["cupy", "torch"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


def to_gpu(library: Any, array: Any) -> Any:
    return library.asarray(array) if library.__name__ == "cupy" else library.tensor(array).cuda()


def expected(image: Any, mask: Any = None) -> harris.Keypoints:
    return harris.Detector(backend="cpu").detect(image, mask)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_the_host(detector: harris.Detector, dtype: str) -> None:
    image = as_type(scene(), dtype)
    assert detector.detect(image) == expected(image)
    assert detector.detect(image[:, ::-1]) == expected(image[:, ::-1])
    images = [as_type(scene(seed=seed), dtype) for seed in range(9)]
    assert detector.detect_batch(images) == [expected(image) for image in images]
    response = harris.Detector(backend="cpu").response(image)
    assert detector.response(image).tobytes() == response.tobytes()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ON_GPU)
@pytest.mark.parametrize("channels", [1, 3])
def test_arrays_of_the_gpu(
    detector: harris.Detector, library: Any, size: tuple[int, int], dtype: str, channels: int
) -> None:
    random = np.random.default_rng(3)
    shape = size if channels == 1 else (*size, channels)
    image = as_type(random.integers(0, 256, shape).astype(np.uint8), dtype)
    mask = random.integers(0, 2, size).astype(bool)
    on_gpu = to_gpu(library, image)
    assert detector.detect(on_gpu) == expected(image)
    assert detector.detect(on_gpu, to_gpu(library, mask)) == expected(image, mask)
    as_bytes = to_gpu(library, mask.astype(np.uint8))
    assert detector.detect(on_gpu, as_bytes) == expected(image, mask)


def test_parts_of_larger_arrays(detector: harris.Detector, library: Any) -> None:
    image = scene(120, 160)
    on_gpu = to_gpu(library, image)
    for left, right in [(0, 160), (4, 104), (3, 100), (1, 160)]:
        part = np.ascontiguousarray(image[5:99, left:right])
        assert detector.detect(on_gpu[5:99, left:right]) == expected(part)
    with pytest.raises(harris.InputError, match="contiguous"):
        detector.detect(on_gpu.T)


def test_the_interface_alone(detector: harris.Detector, library: Any) -> None:
    image = scene(120, 160)
    on_gpu = to_gpu(library, image)

    class Interface:
        __cuda_array_interface__ = on_gpu.__cuda_array_interface__

    assert detector.detect(Interface()) == expected(image)


def test_work_on_the_callers_stream_comes_first(detector: harris.Detector, library: Any) -> None:
    image = scene(480, 640)
    if library.__name__ == "cupy":
        stream = library.cuda.Stream(non_blocking=True)
        current = stream
        slow = library.ones((4096, 4096), library.float32)
        source = library.asarray(image)
    else:
        stream = library.cuda.Stream()
        current = library.cuda.stream(stream)
        slow = library.ones((4096, 4096), device="cuda")
        source = library.tensor(image).cuda()
    harris_expected = expected(image)
    for explicit in (False, True):
        target = source * 0
        if library.__name__ == "cupy":
            library.cuda.Device().synchronize()
        else:
            library.cuda.synchronize()
        with current:
            product = slow
            for _ in range(20):
                product = product @ slow * 1e-4
            target[:] = source
            if not explicit:
                assert detector.detect(target) == harris_expected
        if explicit:
            assert detector.detect(target, stream=stream) == harris_expected


def test_keypoints_stay_on_the_gpu(detector: harris.Detector, library: Any) -> None:
    images = [scene(120, 160, seed) for seed in range(4)]
    kept = [detector.detect(to_gpu(library, image), device=True) for image in images]
    kept.append(detector.detect(images[0], device=True))
    for keypoints, image in zip(kept, [*images, images[0]], strict=True):
        assert isinstance(keypoints, harris.DeviceKeypoints)
        found = expected(image)
        assert len(keypoints) == len(found)
        taken = library.from_dlpack(keypoints)
        address = taken.data.ptr if library.__name__ == "cupy" else taken.data_ptr()
        assert address == keypoints.pointer
        del keypoints
        host = taken.get() if library.__name__ == "cupy" else taken.cpu().numpy()
        assert host.tobytes() == found.table.tobytes()
    flat = detector.detect(to_gpu(library, np.zeros((48, 64), np.uint8)), device=True)
    assert library.from_dlpack(flat).shape == (0, 4)


def test_errors(detector: harris.Detector, library: Any) -> None:
    image = to_gpu(library, scene())
    with pytest.raises(harris.InputError, match="its mask is not"):
        detector.detect(image, np.ones((61, 83), bool))
    with pytest.raises(harris.InputError, match="the mask has"):
        detector.detect(image, image[:5])
    with pytest.raises(harris.InputTypeError, match="samples must be"):
        detector.detect(to_gpu(library, scene().astype(np.float64)))
    with pytest.raises(harris.InputError, match="detector is on cpu"):
        harris.Detector(backend="cpu").detect(image)

    class Nowhere:
        def __init__(self) -> None:
            data = (0x1000, False)
            self.__cuda_array_interface__ = {
                "shape": (48, 64),
                "typestr": "|u1",
                "data": data,
                "version": 3,
            }

    with pytest.raises(harris.InputError, match="no memory of a CUDA device"):
        detector.detect(Nowhere())
    assert detector.detect(image) == expected(scene())


def test_threads_share_a_gpu(library: Any) -> None:
    images = [scene(100 + seed, 120, seed) for seed in range(8)]
    wanted = [expected(image) for image in images]
    found: dict[int, Any] = {}

    def detect(index: int) -> None:
        own = harris.Detector(backend="cuda")
        found[index] = [own.detect(to_gpu(library, image)) for image in images]

    workers = [threading.Thread(target=detect, args=(index,)) for index in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(found[index] == wanted for index in range(4))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_is_told() -> None:
    program = """
import os, numpy as np, harris
image = np.zeros((48, 64), np.uint8)
image[12:36, 16:40] = 255
gpu, cpu = harris.Detector(backend="cuda"), harris.Detector(backend="cpu")
expected = gpu.detect(image)
child = os.fork()
if child == 0:
    try:
        gpu.detect(image)
        os._exit(1)
    except harris.BackendError as error:
        told = "forked" in str(error)
    good = told and cpu.detect(image) == expected and harris.Detector().detect(image) == expected
    os._exit(0 if good else 2)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert gpu.detect(image) == expected
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
