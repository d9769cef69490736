"""Wrong arguments raise the right exception, with the library's words."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import harris
from harris import _core
from scenes import scene

IMAGE = scene()
DETECTOR = harris.Detector(backend="cpu")

Call = Callable[[], Any]


def strided(shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    return np.lib.stride_tricks.as_strided(np.zeros(4, np.uint8), shape, strides)


def not_finite(value: float) -> Any:
    image = IMAGE.astype(np.float32) / 255
    image[7, 5] = value
    return image


IMAGES: list[tuple[Any, type[Exception], str]] = [
    (IMAGE.astype(np.float64), TypeError, "uint8, uint16 or float32, not float64"),
    (IMAGE.astype(np.int32), TypeError, "uint8, uint16 or float32, not int32"),
    (IMAGE.astype(np.float16), TypeError, "not float16"),
    (IMAGE > 3, TypeError, "not bool"),
    (IMAGE.astype(object), TypeError, "not object"),
    (np.zeros((8, 8), "datetime64[s]"), TypeError, "not datetime64"),
    (np.zeros((8, 8), [("r", "u1")]), TypeError, "not "),
    (np.zeros((8, 8), "S3"), TypeError, "not "),
    ([[1, 2], [3, 4]], TypeError, "not list"),
    (None, TypeError, "not NoneType"),
    ("camera.png", TypeError, "not str"),
    (b"1234", TypeError, "not bytes"),
    (IMAGE[0], ValueError, r"\(H, W\), \(H, W, 1\) or \(H, W, 3\), not \(83,\)"),
    (np.uint8(3), ValueError, r"not \(\)"),
    (np.zeros((2, 3, 4, 3), np.uint8), ValueError, r"not \(2, 3, 4, 3\)"),
    (np.zeros((8, 8, 4), np.uint8), ValueError, "1 or 3 channels, not 4"),
    (np.zeros((8, 8, 0), np.uint8), ValueError, "1 or 3 channels, not 0"),
    (np.zeros((0, 8), np.uint8), ValueError, "the image is empty: 8 x 0 pixels"),
    (np.zeros((8, 0), np.float32), ValueError, "the image is empty: 0 x 8 pixels"),
    (np.zeros((0, 0, 3), np.uint16), ValueError, "the image is empty"),
    (not_finite(np.nan), ValueError, "x 5, y 7, channel 0 is not finite: NaN"),
    (not_finite(np.inf), ValueError, "x 5, y 7, channel 0 is not finite: inf"),
    (not_finite(1e9), ValueError, "x 5, y 7, channel 0 is too large"),
    (IMAGE.astype(np.float32) * 1e-12, ValueError, "scale the samples"),
    (strided((2, 1 << 25), (0, 0)), ValueError, "the image is too large"),
    (strided((1 << 40, 3), (0, 1)), ValueError, "the image is too large"),
    (strided((3, 8), (1 << 62, 1)), ValueError, "the strides are too large"),
    (strided((3, 8), (-(1 << 62), 1)), ValueError, "the strides are too large"),
]


@pytest.mark.parametrize(("image", "kind", "words"), IMAGES)
def test_images(image: Any, kind: type[Exception], words: str) -> None:
    for call in (DETECTOR.detect, DETECTOR.response, DETECTOR.keypoint_mask):
        if call == DETECTOR.response and words == "scale the samples":
            continue
        with pytest.raises(kind, match=words) as raised:
            call(image)
        assert isinstance(raised.value, harris.Error)
    with pytest.raises(kind, match=words):
        DETECTOR.detect_batch([IMAGE, image])
    # The detector works on.
    assert len(DETECTOR.detect(IMAGE)) > 5


@pytest.mark.parametrize(
    ("mask", "kind", "words"),
    [
        (np.ones((3, 3), np.uint8), ValueError, "the mask has 3 x 3 pixels, the image 83 x 61"),
        (IMAGE.astype(np.float32), TypeError, "bool or uint8, not float32"),
        (np.ones((61, 83, 3), np.uint8), ValueError, "8-bit image of one channel"),
        (np.ones(61, bool), ValueError, r"\(H, W\) or \(H, W, 1\), not \(61,\)"),
        (np.ones((61, 0), bool), ValueError, "empty"),
        ("all", TypeError, "not str"),
    ],
)
def test_masks(mask: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        DETECTOR.detect(IMAGE, mask)
    assert isinstance(raised.value, harris.Error)


def read_only() -> Any:
    out = np.zeros(IMAGE.shape, np.float32)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "kind", "words"),
    [
        (np.zeros(IMAGE.shape), TypeError, "out must be float32, not float64"),
        (np.zeros((3, 4), np.float32), ValueError, r"the shape \(61, 83\), not \(3, 4\)"),
        (np.zeros((*IMAGE.shape, 1), np.float32), ValueError, "the shape"),
        (np.zeros(IMAGE.shape, np.float32, order="F"), ValueError, "contiguous"),
        (np.zeros((61, 90), np.float32)[:, :83], ValueError, "contiguous"),
        (np.zeros(IMAGE.shape, ">f4"), TypeError, "float32"),
        (read_only(), ValueError, "writeable"),
        ([0.0], TypeError, "not list"),
    ],
)
def test_outputs(out: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as raised:
        DETECTOR.response(IMAGE, out=out)
    assert isinstance(raised.value, harris.Error)


def test_an_output_in_the_image_is_refused() -> None:
    data = bytearray(2 * 4 * 64 * 64)
    floats = np.frombuffer(data, np.float32).reshape(128, 64)
    with pytest.raises(harris.InputError, match="share memory"):
        DETECTOR.response(floats[:64], out=floats[:64])
    with pytest.raises(harris.InputError, match="share memory"):
        DETECTOR.response(floats[:64], out=floats[32:96])
    # The same memory by another array.
    bytes_of_it = np.frombuffer(data, np.uint8)[: 64 * 64].reshape(64, 64)
    with pytest.raises(harris.InputError, match="share memory"):
        DETECTOR.response(bytes_of_it, out=floats[:64])
    assert DETECTOR.response(floats[:64], out=floats[64:]).shape == (64, 64)


CONFIGURATIONS: list[tuple[Call, type[Exception], str]] = [
    (lambda: harris.Config("gftt"), harris.ConfigError, "no preset `gftt`.*opencv_gftt"),
    (lambda: harris.Config(3), harris.InputTypeError, "a preset is a name"),  # type: ignore[arg-type]
    (lambda: harris.Config(windou=3), TypeError, "unexpected keyword argument 'windou'"),  # type: ignore[call-arg]
    (lambda: harris.Config(window=3), TypeError, "window must be a text"),  # type: ignore[arg-type]
    (lambda: harris.Config(window="round:3"), harris.ConfigError, "`round:3` is no window"),
    (lambda: harris.Config(window="box:1000"), harris.ConfigError, "1000"),
    (lambda: harris.Config(window=("box",)), harris.ConfigError, "`box` is no window"),
    (lambda: harris.Config(measure=("harris", "nan")), harris.ConfigError, "Harris's k"),
    (lambda: harris.Config(measure=None), harris.ConfigError, "`none` is no measure"),  # type: ignore[arg-type]
    (lambda: harris.Config(margin=-1), harris.ConfigError, "at least 0, not -1"),
    (lambda: harris.Config(margin=1 << 32), harris.ConfigError, "margin"),
    (lambda: harris.Config(margin=1 << 200), harris.ConfigError, "margin is too large"),
    (lambda: harris.Config(margin=1.5), TypeError, "margin must be a whole number, not float"),  # type: ignore[arg-type]
    (lambda: harris.Config(min_distance="far"), TypeError, "must be a number, not str"),  # type: ignore[arg-type]
    (lambda: harris.Config(min_distance=-1), harris.ConfigError, "least distance"),
    (lambda: harris.Config(max_corners=0), harris.ConfigError, "at least 1"),
    (lambda: harris.Config(threshold=("relative", 2)), harris.ConfigError, "0 to 1, not 2"),
    (lambda: harris.Config.from_json("{"), harris.ConfigError, "EOF"),
    (lambda: harris.Config.from_json('{"harris": {"windou": 3}}'), harris.ConfigError, "windou"),
    (
        lambda: harris.Config.from_json(harris.FastHessianConfig().to_json()),
        harris.ConfigError,
        "FastHessianConfig.from_json",
    ),
    (
        lambda: harris.FastHessianConfig.from_json("{}"),
        harris.ConfigError,
        r"Config.from_json",
    ),
    (lambda: harris.FastHessianConfig("gftt"), harris.ConfigError, "hofmann_2009"),
    (lambda: harris.FastHessianConfig(octaves=9), harris.ConfigError, "octaves must be from 1"),
    (lambda: harris.FastHessian(octaves=9), harris.ConfigError, "octaves must be from 1"),
    (lambda: harris.Detector(window="box:0"), harris.ConfigError, "box"),
    (lambda: harris.Detector(harris.FastHessianConfig()), TypeError, "a preset is"),  # type: ignore[arg-type]
    (lambda: harris.Detector(colour=True), TypeError, "Detector.. got an unexpected"),  # type: ignore[call-arg]
    (lambda: harris.Detector(backend="abacus"), harris.ConfigError, "`abacus`"),
    (lambda: harris.Detector(backend=3), TypeError, "str"),  # type: ignore[arg-type]
    (lambda: harris.Detector(threads=0), harris.ConfigError, "threads must be from 1 to 1024"),
    (lambda: harris.Detector(threads=10**6), harris.ConfigError, "threads must be from 1"),
    (lambda: harris.Detector(threads=2, device=0), harris.ConfigError, "device to a GPU"),
    (lambda: harris.Detector(threads=2, backend="cuda"), harris.ConfigError, "belongs to the CPU"),
    (lambda: harris.Detector(device=1, backend="cpu"), harris.ConfigError, "belongs to a GPU"),
    (lambda: harris.Detector(device=-1), harris.ConfigError, "at least 0"),
    (lambda: harris.Detector(device=1, backend="cuda:2"), harris.ConfigError, "GPU 2"),
    (lambda: harris.Surf(magnification=0), harris.ConfigError, "magnification"),
    (lambda: harris.Features(magnification=99), harris.ConfigError, "magnification"),
    (lambda: harris.Features(3), TypeError, "a detector is"),  # type: ignore[arg-type]
    (lambda: harris.Features("nothing"), harris.ConfigError, "nothing"),
    (lambda: harris.Matcher(ratio=0), harris.ConfigError, "ratio"),
    (
        lambda: harris.find_homography([[0, 0]], [[0, 0]], distance=0),
        harris.ConfigError,
        "inliers",
    ),
    (
        lambda: harris.find_homography([[0, 0]], [[0, 0]], max_samples=-5),
        harris.ConfigError,
        "samples",
    ),
    (
        lambda: harris.find_homography([[0, 0]], [[0, 0]], confidence=1),
        harris.ConfigError,
        "confidence",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), CONFIGURATIONS)
def test_configurations(call: Call, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


INPUTS: list[tuple[Call, type[Exception], str]] = [
    (lambda: harris.Surf().extract(IMAGE, [[900, 3]]), harris.InputError, "not in the image"),
    (lambda: harris.Surf().extract(IMAGE, [1, 2, 3]), harris.InputError, "the shape"),
    (lambda: harris.Surf().extract(IMAGE, [[1, 2, 99, 0]]), harris.InputError, "scale"),
    (lambda: harris.Surf().extract(IMAGE, "all"), ValueError, "could not convert"),
    (lambda: harris.FastHessian().detect(IMAGE[:5, :5]), harris.InputError, "too small"),
    (
        lambda: harris.FastHessian().detect(IMAGE.astype(np.float32)),
        harris.InputError,
        "need them in 0..=1",
    ),
    (
        lambda: harris.Matcher().match(
            np.zeros((3, 65), np.float32), np.zeros((3, 64), np.float32)
        ),
        harris.InputError,
        "64 values, not 65",
    ),
    (
        lambda: harris.Matcher().match(np.zeros(64, np.float32), np.zeros((3, 64), np.float32)),
        harris.InputError,
        r"\(N, 64\), not \(64,\)",
    ),
    (
        lambda: harris.Matcher().match(np.zeros((3, 64)), np.zeros((3, 64))),
        harris.InputTypeError,
        "float32, not float64",
    ),
    (
        lambda: harris.Matcher().match(
            np.full((1, 64), np.nan, np.float32), np.zeros((3, 64), np.float32)
        ),
        harris.InputError,
        "not finite",
    ),
    (lambda: harris.find_homography([[0, 0]], [[0, 0], [1, 1]]), harris.InputError, "1 points"),
    (lambda: harris.find_homography([0, 0], [0, 0]), harris.InputError, r"\(N, 2\)"),
    (lambda: DETECTOR.detect_batch([IMAGE], []), harris.InputError, "0 masks for 1 images"),
    (lambda: DETECTOR.detect_batch(3), TypeError, "iter"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "kind", "words"), INPUTS)
def test_inputs(call: Call, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.skipif(
    any(name.startswith("cuda") and there for name, there, _ in harris.backends()),
    reason="there is a GPU",
)
def test_without_a_gpu_the_reason_is_told() -> None:
    reason = next(text for name, _, text in harris.backends() if name.startswith("cuda"))
    makers: list[Callable[..., Any]] = [
        harris.Detector,
        harris.FastHessian,
        harris.Surf,
        harris.Features,
        harris.Matcher,
    ]
    for make in makers:
        with pytest.raises(harris.BackendError) as raised:
            make(backend="cuda")
        assert str(raised.value) == reason
        assert make().backend.startswith("cpu")


def test_closed_objects() -> None:
    objects: list[tuple[Any, Callable[[Any], Any]]] = [
        (harris.Detector(), lambda made: made.detect(IMAGE)),
        (harris.Detector(), lambda made: made.detect_batch([IMAGE])),
        (harris.Detector(threads=2), lambda made: made.response(IMAGE)),
        (harris.FastHessian(), lambda made: made.detect(IMAGE)),
        (harris.Surf(), lambda made: made.extract(IMAGE, [[30, 30]])),
        (harris.Features(), lambda made: made.detect_and_describe(IMAGE)),
        (harris.Matcher(), lambda made: made.match(*[np.zeros((1, 64), np.float32)] * 2)),
    ]
    for made, call in objects:
        call(made)
        assert not made.closed
        with made as entered:
            assert entered is made
        assert made.closed
        made.close()
        with pytest.raises(harris.ClosedError, match="closed"):
            call(made)
        assert made.backend


def test_exceptions_are_what_a_user_would_catch() -> None:
    assert issubclass(harris.ConfigError, ValueError)
    assert issubclass(harris.InputError, ValueError)
    assert issubclass(harris.InputTypeError, TypeError)
    assert issubclass(harris.OutOfMemoryError, MemoryError)
    assert issubclass(harris.BackendError, RuntimeError)
    for name in harris.__all__:
        value = getattr(harris, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, harris.Error)
            assert value.__module__ == "harris"


def test_a_panic_is_an_ordinary_exception() -> None:
    for detector in (harris.Detector(backend="cpu", threads=2), harris.Detector(max_corners=3)):
        expected = detector.detect(IMAGE)
        with pytest.raises(harris.PanicError, match="a defect of the library harris: out of order"):
            _core._panic(detector, "out of order")
        # The detector is made anew.
        assert detector.detect(IMAGE) == expected
        assert not detector.closed


def test_memory_that_cannot_be_had() -> None:
    # As wide and high as images may be: a copy of 2^46 bytes and more.
    image = strided((1 << 23, 1 << 23), (0, 0))
    with contextlib.suppress(harris.InputError), pytest.raises(harris.OutOfMemoryError):
        DETECTOR.detect(image)
