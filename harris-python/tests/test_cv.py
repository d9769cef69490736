"""`harris.cv` beside OpenCV: response maps, lists of corners, and ways to call."""

import doctest
import inspect
import multiprocessing
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harris import _idle_detectors, cv
from harris._idle_detectors import LIMIT

cv2 = pytest.importorskip("cv2")

from opencv_rules import (  # noqa: E402
    CALLS,
    Image,
    Map,
    board,
    greatest,
    has_near_ties,
    images,
    mask_of,
    select,
)

TOLERANCE = 1e-5
IMAGES = images()
NOISE = IMAGES["noise"]
BORDERS = [cv.BORDER_DEFAULT, cv.BORDER_REPLICATE, cv.BORDER_CONSTANT]
GAINS = {1: 1, 3: 1, 5: 4, 7: 16, -1: 2}


@pytest.fixture(autouse=True, scope="module")
def portable() -> Iterator[None]:
    """Switch OpenCV to its portable code."""
    before = cv2.useOptimized(), cv2.ocl.useOpenCL(), cv2.getNumThreads()
    cv2.setUseOptimized(False)
    cv2.ocl.setUseOpenCL(False)
    cv2.setNumThreads(1)
    yield
    cv2.setUseOptimized(before[0])
    cv2.ocl.setUseOpenCL(before[1])
    cv2.setNumThreads(before[2])


def terms(image: Image, block: int, ksize: int, border: int) -> float:
    """Compute the greatest square of the structure tensor's trace, by OpenCV."""
    maps = [
        cv2.cornerHarris(image, block, ksize, k, None, border).astype(np.float64) for k in (0, 0.2)
    ]
    return float((maps[0] - maps[1]).max()) / 0.2


def apart(one: Map, other: Map) -> float:
    return float(np.abs(one.astype(np.float64) - other).max())


def equal(one: Any, other: Any) -> bool:
    """Compare two arrays, or None."""
    return one is other or (
        one is not None and other is not None and bool(np.array_equal(one, other))
    )


def report(capsys: pytest.CaptureFixture[str], counts: "Counter[str]") -> None:
    with capsys.disabled():
        print()
        for name, count in counts.items():
            print(f"  {count:6} {name}")


def test_there_are_enough_images_and_calls() -> None:
    assert len(IMAGES) >= 30
    assert len(CALLS) >= 20
    sizes = [image.shape for image in IMAGES.values()]
    assert {height % 2 for height, _ in sizes} == {width % 2 for _, width in sizes} == {0, 1}
    assert {image.dtype.name for image in IMAGES.values()} == {"uint8", "float32"}
    assert {call.block for call in CALLS} == set(range(2, 8))
    assert {call.aperture for call in CALLS} == {-1, 1, 3, 5, 7}


def test_response_maps_are_opencvs(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    choices = [(block, 3) for block in range(2, 8)] + [(2, 5), (3, 7), (4, 1), (5, -1)]
    worst = {"of the maximum": 0.0, "of the terms": 0.0}
    for name, image in IMAGES.items():
        full = 1.0 if image.dtype == np.uint8 else float(np.abs(image).max())
        for number, (block, ksize) in enumerate(choices):
            border = BORDERS[number % 3]
            # Not below the rounding errors of gradients: a flat image has no others.
            least = (GAINS[ksize] * full * 2**-18) ** 4
            square = max(terms(image, block, ksize, border), least)
            for k in (0.04, None):
                if k is None:
                    ours = cv.cornerMinEigenVal(image, block, None, ksize, border)
                    theirs = cv2.cornerMinEigenVal(image, block, None, ksize, border)
                    unit = square**0.5
                else:
                    ours = cv.cornerHarris(image, block, ksize, k, None, border)
                    theirs = cv2.cornerHarris(image, block, ksize, k, None, border)
                    unit = square
                assert ours.dtype == theirs.dtype
                assert ours.shape == theirs.shape
                counts["response maps"] += 1
                difference, maximum = apart(ours, theirs), float(theirs.max())
                if difference == 0:
                    counts["response maps equal by value"] += 1
                    continue
                # Where corners are weak beside edges, or gradients faint beside the gray level,
                # OpenCV's rounding errors are large beside the maximum.
                gradient = square**0.25 / GAINS[ksize] / full
                is_faint = maximum < 0.01 * unit or gradient < 16 / 255
                if is_faint:
                    counts["response maps of faint corners"] += 1
                    worst["of the terms"] = max(worst["of the terms"], difference / unit)
                    assert difference <= TOLERANCE * unit, (name, block, ksize, k, border)
                else:
                    worst["of the maximum"] = max(worst["of the maximum"], difference / maximum)
                    assert difference <= TOLERANCE * maximum, (name, block, ksize, k, border)
    report(capsys, counts)
    with capsys.disabled():
        print(f"  greatest differences {worst}")
    assert counts["response maps of faint corners"] < counts["response maps"] / 4


def test_lists_are_opencvs(capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    maps: dict[tuple[Any, ...], tuple[Map, Map]] = {}
    for name, image in IMAGES.items():
        for call in CALLS:
            mask = mask_of(call.mask, image.shape)
            key = name, call.block, call.aperture, call.k
            if key not in maps:
                maps[key] = call.response(cv, image), call.response(cv2, image)
            ours, theirs = maps[key]
            arguments = (image, call.most, call.quality, call.distance, *call.optional(mask))
            found = cv.goodFeaturesToTrack(*arguments)
            expected = cv2.goodFeaturesToTrack(*arguments)
            counts["calls"] += 1
            rules = select(ours, call.most, call.quality, call.distance, mask)
            if found is None:
                assert not len(rules), (name, call)
            else:
                assert found.dtype == np.float32
                assert found.flags.c_contiguous
                assert found.shape == (len(rules), 1, 2)
                assert equal(found[:, 0], rules), (name, call)
                counts["corners"] += len(found)
            is_equal = equal(found, expected)
            tolerance = TOLERANCE * max(greatest(ours, mask), 0)
            if 2 * apart(ours, theirs) > tolerance:
                tolerance = 2 * apart(ours, theirs)
            if has_near_ties(ours, rules, call, mask, tolerance):
                counts["calls with near ties"] += 1
                counts["calls with near ties, lists equal"] += is_equal
            else:
                counts["calls without near ties, lists equal"] += is_equal
                counts["of them with corners"] += found is not None
                assert is_equal, (name, call)
    report(capsys, counts)
    assert counts["of them with corners"] > counts["calls"] / 4
    assert counts["calls with near ties, lists equal"] > counts["calls with near ties"] / 2


MASK = mask_of("half", NOISE.shape)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((None,), {}),
        ((None, MASK), {}),
        ((None, MASK, 5), {}),
        ((None, MASK, 5, True), {}),
        ((None, MASK, 5, True, 0.06), {}),
        ((None, None, 4, False, 0.06), {}),
        ((MASK, 5, 3, None, True), {}),
        ((MASK, 5, 3, None, True, 0.05), {}),
        ((None, 5, 7, None, True, 0.05), {}),
        ((None, 3, -1, None, False), {}),
        ((MASK, 5), {"gradientSize": 5}),
        ((MASK,), {"blockSize": 5, "gradientSize": 5, "useHarrisDetector": True}),
        ((), {"mask": MASK}),
        ((), {"mask": MASK, "blockSize": 4, "gradientSize": 7, "k": 0.1}),
        ((), {"mask": None, "blockSize": 2, "gradientSize": 5, "corners": None}),
        ((), {"useHarrisDetector": 1, "k": 0}),
        ((), {"useHarrisDetector": np.bool_(True), "blockSize": np.int16(5)}),
        ((), {"blockSize": None, "useHarrisDetector": None, "k": None, "mask": None}),
    ],
)
def test_calls_in_opencvs_order(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    found = cv.goodFeaturesToTrack(NOISE, 12, 0.01, 4, *args, **kwargs)
    expected = cv2.goodFeaturesToTrack(NOISE, 12, 0.01, 4, *args, **kwargs)
    assert found is not None
    assert equal(found, expected)


def test_sixth_argument_decides_on_the_order() -> None:
    # OpenCV documents these calls and takes the integer for a mask.
    found = cv.goodFeaturesToTrack(NOISE, 12, 0.01, 4, MASK, 5, 3)
    named = cv2.goodFeaturesToTrack(NOISE, 12, 0.01, 4, mask=MASK, blockSize=5, gradientSize=3)
    assert equal(found, named)
    found = cv.goodFeaturesToTrack(NOISE, 12, 0.01, 4, None, 5, 5)
    named = cv2.goodFeaturesToTrack(NOISE, 12, 0.01, 4, mask=None, blockSize=5, gradientSize=5)
    assert equal(found, named)


def test_calls_by_name() -> None:
    named: dict[str, Any] = {
        "image": NOISE,
        "maxCorners": 9,
        "qualityLevel": 0.02,
        "minDistance": 3,
    }
    assert equal(cv.goodFeaturesToTrack(**named), cv2.goodFeaturesToTrack(**named))
    named = {"src": NOISE, "blockSize": 3, "ksize": 3, "k": 0.04, "borderType": 1}
    ours, theirs = cv.cornerHarris(**named), cv2.cornerHarris(**named)
    assert apart(ours, theirs) <= TOLERANCE * theirs.max()
    named = {"src": NOISE, "blockSize": 3, "dst": None, "ksize": 5}
    ours, theirs = cv.cornerMinEigenVal(**named), cv2.cornerMinEigenVal(**named)
    assert apart(ours, theirs) <= TOLERANCE * theirs.max()


def test_names_and_defaults_are_opencvs() -> None:
    for name in cv.__all__:
        if name.isupper():
            assert getattr(cv, name) == getattr(cv2, name), name
    # OpenCV's first line, as in "cornerHarris(src, blockSize, ksize, k[, dst]) -> dst".
    for name in ("cornerHarris", "cornerMinEigenVal"):
        listed = getattr(cv2, name).__doc__.split("->")[0].strip()
        names = listed[len(name) + 1 : -1].replace("[", "").replace("]", "").split(", ")
        assert list(inspect.signature(getattr(cv, name)).parameters) == names


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((20, 30), np.uint8),
        np.zeros((20, 30), np.float32),
        np.zeros((0, 0), np.uint8),
        np.zeros((0, 5), np.float32),
        IMAGES["tiny-1x1"],
        IMAGES["tiny-2x2"],
        IMAGES["step"],
    ],
)
def test_no_corners_are_none(image: Image) -> None:
    corners = np.ones((3, 1, 2), np.float32)
    assert cv2.goodFeaturesToTrack(image, 5, 0.01, 3) is None
    assert cv.goodFeaturesToTrack(image, 5, 0.01, 3) is None
    assert cv.goodFeaturesToTrack(image, 5, 0.01, 3, corners) is None
    assert np.all(corners == 1)


def test_masked_images_and_strict_thresholds_have_no_corners() -> None:
    empty = np.zeros(NOISE.shape, np.uint8)
    assert cv.goodFeaturesToTrack(NOISE, 5, 0.01, 3, mask=empty) is None
    assert cv.goodFeaturesToTrack(NOISE, 5, 1.0, 3) is None


def test_no_limit() -> None:
    every = cv2.goodFeaturesToTrack(NOISE, 0, 0.3, 3)
    for limit in (0, -1, -(2**31)):
        assert equal(cv.goodFeaturesToTrack(NOISE, limit, 0.3, 3), every)


def test_great_distances() -> None:
    strongest = cv2.goodFeaturesToTrack(NOISE, 1, 0.01, 0)
    for distance in (1e5, 1e12, 1e150):
        assert equal(cv.goodFeaturesToTrack(NOISE, 0, 0.01, distance), strongest)


def test_output_arrays_are_used_as_opencv_does() -> None:
    found = cv2.goodFeaturesToTrack(NOISE, 10, 0.01, 3)
    for corners in (np.zeros((10, 1, 2), np.float32), np.zeros((20, 1, 2), np.float32)[::2]):
        assert cv.goodFeaturesToTrack(NOISE, 10, 0.01, 3, corners) is corners
        assert equal(corners, found)
    unused: list[Image] = [
        np.zeros((10, 2), np.float32),
        np.zeros((9, 1, 2), np.float32),
        np.zeros((10, 1, 2), np.float64),
    ]
    for out in unused:
        assert equal(cv.goodFeaturesToTrack(NOISE, 10, 0.01, 3, out), found)
        assert not out.any()
    height, width = NOISE.shape
    expected = cv.cornerHarris(NOISE, 3, 3, 0.04)
    used: list[Image] = [
        np.zeros((height, width), np.float32),
        np.zeros((height, width, 1), np.float32),
        np.zeros((height, width + 9), np.float32)[:, :width],
        np.zeros((height, width), np.float32)[::-1],
        np.zeros((width, height), np.float32).T,
    ]
    for dst in used:
        assert cv.cornerHarris(NOISE, 3, 3, 0.04, dst) is dst
        assert equal(dst.reshape(height, width), expected)
    unused = [
        np.zeros((height, width), np.float64),
        np.zeros((height, width - 1), np.float32),
    ]
    for dst in unused:
        assert equal(cv.cornerHarris(NOISE, 3, 3, 0.04, dst), expected)
        assert not dst.any()
    for ksize in (3, 5):
        image = NOISE.astype(np.float32)
        expected = cv.cornerMinEigenVal(image, 3, None, ksize)
        assert cv.cornerMinEigenVal(image, 3, image, ksize) is image
        assert equal(image, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_layouts_give_equal_results(dtype: type[Any]) -> None:
    image = NOISE.astype(dtype)
    corners = cv.goodFeaturesToTrack(image, 30, 0.01, 3)
    response = cv.cornerHarris(image, 3, 3, 0.04)
    wide = np.zeros((80, 96, 3), dtype)
    wide[..., 1] = image
    layouts = [image[..., None], np.asfortranarray(image), image[::-1][::-1], wide[..., 1]]
    if dtype == np.float32:
        layouts.append(image.astype(">f4"))
    for layout in layouts:
        assert equal(cv.goodFeaturesToTrack(layout, 30, 0.01, 3), corners)
        assert equal(cv.cornerHarris(layout, 3, 3, 0.04), response)


def test_isolated_borders_are_borders() -> None:
    for border in BORDERS:
        expected = cv.cornerMinEigenVal(NOISE, 3, None, 3, border)
        found = cv.cornerMinEigenVal(NOISE, 3, None, 3, border | cv.BORDER_ISOLATED)
        assert equal(found, expected)


def test_k_is_ignored_without_harris() -> None:
    found = cv.goodFeaturesToTrack(NOISE, 5, 0.01, 3, k=7.0)
    assert equal(found, cv2.goodFeaturesToTrack(NOISE, 5, 0.01, 3, k=7.0))


def test_idle_detectors_are_used_again_and_limited() -> None:
    _idle_detectors._after_fork()
    for number in range(3 * LIMIT):
        cv.goodFeaturesToTrack(NOISE, 1 + number, 0.5, 0)
        # The options used most are kept.
        cv.goodFeaturesToTrack(NOISE, 1000, 0.5, 0)
    idle = _idle_detectors._idle._idle
    assert sum(map(len, idle.values())) == _idle_detectors._idle._count == LIMIT
    limits = [dict(options)["max_corners"] for options in idle]
    assert limits[-1] == 1000
    assert limits[:-1] == list(range(3 * LIMIT - len(limits) + 2, 97))
    (detector,) = idle[next(reversed(idle))]
    cv.goodFeaturesToTrack(NOISE, 1000, 0.5, 0)
    assert idle[next(reversed(idle))] == [detector]


def test_threads_share_the_functions() -> None:
    calls = [(block, most) for block in (2, 3, 5) for most in (5, 0)]
    expected = [cv.goodFeaturesToTrack(NOISE, most, 0.01, 3, None, None, b) for b, most in calls]
    wrong: list[Any] = []

    def work(start: int) -> None:
        for number in range(start, start + 60):
            block, most = calls[number % len(calls)]
            found = cv.goodFeaturesToTrack(NOISE, most, 0.01, 3, None, None, block)
            if not equal(found, expected[number % len(calls)]):
                wrong.append((block, most))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def in_child(_: int) -> Any:
    return cv.goodFeaturesToTrack(board(8, 0, 255), 9, 0.01, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_children_call_the_functions() -> None:
    expected = in_child(0)
    lock = _idle_detectors._idle._lock
    with lock, multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.map_async(in_child, range(4)).get(20):
            assert equal(found, expected)


def test_examples_run() -> None:
    failed, attempted = doctest.testmod(cv)
    assert not failed
    assert attempted > 10
    for name in ("cornerHarris", "cornerMinEigenVal", "goodFeaturesToTrack"):
        assert ">>>" in (getattr(cv, name).__doc__ or "")
