"""Arrays of every type and layout give the library's results, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import harris
from scenes import as_type, scene

Array = NDArray[Any]

DTYPES = ["uint8", "uint16", "float32"]
CONFIGS = [harris.Config(name) for name in harris.presets()] + [
    harris.Config(measure="shi-tomasi", subpixel="quadratic", min_distance=4.5),
    harris.Config(smoothing=("gaussian", 5, 1.2), border="replicate", order="raster"),
]


def padded(image: Array) -> Array:
    wide = np.zeros((image.shape[0], image.shape[1] + 13, *image.shape[2:]), image.dtype)
    view = wide[:, 5 : 5 + image.shape[1]]
    view[:] = image
    return view


def fortran(image: Array) -> Array:
    return np.asfortranarray(image)


def upside_down(image: Array) -> Array:
    return np.ascontiguousarray(image[::-1])[::-1]


def mirrored(image: Array) -> Array:
    return np.ascontiguousarray(image[:, ::-1])[:, ::-1]


def every_second(image: Array) -> Array:
    wide = np.zeros((2 * image.shape[0], 2 * image.shape[1], *image.shape[2:]), image.dtype)
    wide[::2, ::2] = image
    return wide[::2, ::2]


def one_channel(image: Array) -> Array:
    return np.stack([image, image // 2 if image.dtype.kind == "u" else image, image], axis=-1)[
        ..., 0
    ]


def read_only(image: Array) -> Array:
    image = image.copy()
    image.flags.writeable = False
    return image


def unaligned(image: Array) -> Array:
    data = np.zeros(image.nbytes + 1, np.uint8)
    view = data[1:].view(image.dtype).reshape(image.shape)
    view[:] = image
    return view


def other_byte_order(image: Array) -> Array:
    return image.astype(image.dtype.newbyteorder())


def field(image: Array) -> Array:
    record = np.zeros(image.shape, [("pad", "u1"), ("value", image.dtype)])
    record["value"] = image
    return record["value"]


LAYOUTS: list[Callable[[Array], Array]] = [
    np.ascontiguousarray,
    padded,
    fortran,
    upside_down,
    mirrored,
    every_second,
    read_only,
    unaligned,
    other_byte_order,
    field,
]


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, int], harris.Keypoints]:
    """Return what the reference finds with the default."""
    with harris.Detector(backend="reference") as reference:
        return {
            (dtype, channels): reference.detect(image_of(dtype, channels))
            for dtype in DTYPES
            for channels in (1, 3)
        }


def image_of(dtype: str, channels: int) -> Array:
    if channels == 1:
        return as_type(scene(), dtype)
    return np.stack([as_type(scene(seed=seed), dtype) for seed in range(3)], axis=-1)


@pytest.mark.parametrize("layout", [*LAYOUTS, one_channel], ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts_equal_the_reference(
    dtype: str,
    channels: int,
    layout: Callable[[Array], Array],
    expected: dict[tuple[str, int], harris.Keypoints],
) -> None:
    if layout is one_channel and channels == 3:
        pytest.skip("of a gray image alone")
    image = layout(image_of(dtype, channels))
    found = harris.Detector(backend="cpu").detect(image)
    assert len(found) > 20
    assert found == expected[dtype, channels]
    if channels == 1:
        assert harris.Detector(backend="cpu").detect(image[..., np.newaxis]) == found


@pytest.mark.parametrize("config", CONFIGS, ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_configurations_equal_the_reference(dtype: str, config: harris.Config) -> None:
    image = as_type(scene(48, 57), dtype)
    mask = np.zeros(image.shape, bool)
    mask[5:40, 3:50] = True
    with (
        harris.Detector(config, backend="cpu", threads=2) as detector,
        harris.Detector(config, backend="reference") as reference,
    ):
        assert detector.detect(image) == reference.detect(image)
        assert detector.detect(image, mask) == reference.detect(image, mask)
        response = detector.response(image)
        assert response.tobytes() == reference.response(image).tobytes()
        np.testing.assert_array_equal(
            detector.keypoint_mask(image, mask), reference.keypoint_mask(image, mask)
        )


@pytest.mark.parametrize("dtype", ["bool", "uint8"])
@pytest.mark.parametrize("layout", [np.asarray, fortran, padded, mirrored, read_only])
def test_masks_of_every_layout(dtype: str, layout: Callable[[Array], Array]) -> None:
    image = scene()
    mask = np.zeros(image.shape, dtype)
    mask[10:50, 20:70] = 7
    detector = harris.Detector(backend="cpu")
    inside = detector.detect(image, layout(mask))
    assert len(inside) > 5
    assert inside == harris.Detector(backend="reference").detect(image, mask)
    assert inside == detector.detect(image, layout(mask[..., np.newaxis]))
    columns, rows = inside.xy.astype(int).T
    assert mask[rows, columns].all()


def test_batches_are_single_images() -> None:
    images = [as_type(scene(40 + i, 50 + 3 * i, i), DTYPES[i % 3]) for i in range(20)]
    masks = [np.ones(image.shape, bool) if i % 4 == 0 else None for i, image in enumerate(images)]
    detector = harris.Detector("opencv_gftt", max_corners=30, backend="cpu")
    assert detector.detect_batch(images) == [detector.detect(image) for image in images]
    assert detector.detect_batch(iter(images)) == detector.detect_batch(images, masks)
    assert detector.detect_batch([]) == []
    stack = np.stack([scene(seed=seed) for seed in range(3)])
    assert detector.detect_batch(stack) == [detector.detect(image) for image in stack]


def test_a_response_is_written_into_an_array() -> None:
    image = scene()
    for backend in ("cpu", "reference"):
        detector = harris.Detector(backend=backend)
        expected = detector.response(image)
        out = np.full(image.shape, np.nan, np.float32)
        assert detector.response(image, out) is out
        assert detector.response(image, out=out) is out
        assert out.tobytes() == expected.tobytes()
        # A part of a larger array, row after row.
        large = np.full((3, *image.shape), np.nan, np.float32)
        detector.response(image, out=large[1])
        assert large[1].tobytes() == expected.tobytes()
        assert np.isnan(large[[0, 2]]).all()


def test_other_objects_with_arrays() -> None:
    class Image:
        def __init__(self, array: Array) -> None:
            self.array = array

        def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
            return self.array

    class Interface:
        def __init__(self, array: Array) -> None:
            self.keep = array
            self.__array_interface__ = array.__array_interface__

    class Tensor:
        def __init__(self, array: Array) -> None:
            self.array = array

        def __dlpack__(self, **arguments: Any) -> Any:
            return self.array.__dlpack__(**arguments)

        def __dlpack_device__(self) -> Any:
            return self.array.__dlpack_device__()

    class Subclass(np.ndarray):
        pass

    image = scene()
    detector = harris.Detector(backend="cpu")
    expected = detector.detect(image)
    for made in (Image(image), Interface(image), Tensor(image), image.view(Subclass)):
        assert detector.detect(made) == expected


def test_blobs_descriptors_and_matches_equal_the_reference() -> None:
    image = scene(120, 150)
    turned = np.ascontiguousarray(image[::-1, ::-1])
    found = {}
    for backend in ("cpu", "reference"):
        blobs = harris.FastHessian(threshold=1e-5, octaves=2, backend=backend).detect(image)
        surf = harris.Surf(backend=backend)
        query, train = surf.extract(image, blobs), surf.extract(turned, blobs)
        matches = harris.Matcher(0.9, cross_check=True, backend=backend).match(query, train)
        features = harris.Features(
            harris.FastHessianConfig(threshold=1e-5, octaves=2), backend=backend
        )
        keypoints, descriptors = features.detect_and_describe(image)
        assert keypoints == blobs
        assert descriptors.tobytes() == query.tobytes()
        [(again, _), (other, _)] = features.detect_and_describe_batch([image, turned])
        assert again == blobs
        assert other != blobs
        response = harris.FastHessian(backend=backend).response(image)
        found[backend] = (
            blobs.table.tobytes(),
            query.tobytes(),
            [array.tobytes() for array in matches],
            response.tobytes(),
        )
        assert len(blobs) > 10
    assert found["cpu"] == found["reference"]


def test_features_of_corners() -> None:
    image = scene(120, 150)
    features = harris.Features("opencv_gftt", magnification=2.5, upright=True, backend="cpu")
    keypoints, descriptors = features.detect_and_describe(image)
    assert keypoints == harris.Detector("opencv_gftt", backend="cpu").detect(image)
    surf = harris.Surf(magnification=2.5, upright=True, backend="cpu")
    assert surf.extract(image, keypoints).tobytes() == descriptors.tobytes()
    assert surf.extract(image, keypoints.table).tobytes() == descriptors.tobytes()
    assert features.detector == harris.Config("opencv_gftt")
    assert isinstance(harris.Features().detector, harris.FastHessianConfig)


def test_a_homography_maps_points() -> None:
    random = np.random.default_rng(5)
    matrix = np.array([[0.9, -0.2, 30], [0.25, 1.1, -12], [3e-4, -2e-4, 1]])
    src = random.uniform(0, 400, (60, 2))
    mapped = np.c_[src, np.ones(60)] @ matrix.T
    dst = mapped[:, :2] / mapped[:, 2:]
    dst[::7] += 50
    found = harris.find_homography(src, dst, distance=1.0)
    assert found is not None
    np.testing.assert_allclose(found[0], matrix, atol=1e-6)
    np.testing.assert_array_equal(~found[1], np.arange(60) % 7 == 0)
    assert found[0].dtype == np.float64
    assert found[1].dtype == np.bool_
    shaped = harris.find_homography(src[:, np.newaxis], harris.Keypoints(dst), distance=1.0)
    assert shaped is not None
    np.testing.assert_allclose(shaped[0], matrix, atol=1e-4)
    line = np.c_[np.arange(20), np.arange(20)]
    assert harris.find_homography(line, line) is None
    assert harris.find_homography(src[:3], dst[:3]) is None
