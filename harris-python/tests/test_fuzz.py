"""Arrays of any type, shape and layout: the right result or a harris.Error, never an abort.

HARRIS_FUZZ=N runs N examples.
"""

import os
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import harris

EXAMPLES = int(os.environ.get("HARRIS_FUZZ", "150"))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

DETECTORS = [
    (
        harris.Detector(name, backend="cpu", threads=2),
        harris.Detector(name, backend="reference"),
    )
    for name in ("default", "opencv_gftt", "loundagin_2015", "chahuara_2017")
]
GOOD = [np.uint8, np.uint16, np.float32]


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    dtype = draw(
        st.one_of(
            st.sampled_from([np.dtype(kind) for kind in GOOD]),
            st.sampled_from([np.dtype(kind).newbyteorder() for kind in GOOD]),
            hnp.scalar_dtypes(),
        )
    )
    dimensions = draw(st.sampled_from([2, 2, 2, 3, 3, 0, 1, 4]))
    shape = [draw(st.integers(0, 24)) for _ in range(min(dimensions, 2))]
    shape += [draw(st.sampled_from([1, 3, 3, 2, 0])) for _ in range(dimensions - 2)]
    seed = draw(st.integers(0, 99))
    random = np.random.default_rng(seed)
    values: Any
    if dtype.kind == "f":
        values = random.random(shape)
        if draw(st.integers(0, 9)) == 0 and values.size:
            value = draw(st.sampled_from([np.nan, np.inf, -np.inf, 1e30, -2.0, 1e-44]))
            values.flat[random.integers(values.size)] = value
    else:
        values = random.integers(0, 256, shape)
    try:
        with np.errstate(all="ignore"):
            array = values.astype(dtype)
    except (TypeError, ValueError):
        array = np.zeros(shape, dtype)
    for _ in range(draw(st.integers(0, 3))):
        change = draw(st.sampled_from(["flip", "step", "turn", "pad", "frozen", "broadcast"]))
        if change == "flip" and array.ndim:
            array = np.flip(array, draw(st.integers(0, array.ndim - 1)))
        elif change == "step" and array.ndim > 1:
            array = array[:: draw(st.sampled_from([2, -2])), :: draw(st.sampled_from([1, 2, -3]))]
        elif change == "turn" and array.ndim > 1:
            array = np.swapaxes(array, 0, draw(st.integers(1, array.ndim - 1)))
        elif change == "pad" and array.ndim > 1:
            array = np.pad(array, 2)[2:-2, 2:-2]
        elif change == "frozen":
            array = array.copy(order="K")
            array.flags.writeable = False
        elif change == "broadcast" and array.ndim == 2:
            array = np.broadcast_to(array[:1], array.shape)
    return array


def outcome(detector: harris.Detector, image: Any, mask: Any) -> Any:
    try:
        return detector.detect(image, mask).table.tobytes()
    except harris.Error as error:
        return type(error), str(error)


@settings(
    max_examples=EXAMPLES,
    derandomize="HARRIS_FUZZ" not in os.environ,
    deadline=None,
    suppress_health_check=SLOW,
)
@given(arrays(), st.one_of(st.none(), arrays(), st.booleans()), st.sampled_from(range(4)))
def test_any_array(image: Any, mask: Any, which: int) -> None:
    detector, reference = DETECTORS[which]
    if isinstance(mask, bool):
        mask = np.full(image.shape[:2], mask)
    found = outcome(detector, image, mask)
    # The same samples in plain rows.
    plain = np.array(image, image.dtype.newbyteorder("="), order="C")
    assert found == outcome(reference, plain, mask)


@settings(
    max_examples=EXAMPLES,
    derandomize="HARRIS_FUZZ" not in os.environ,
    deadline=None,
    suppress_health_check=SLOW,
)
@given(arrays(), arrays())
def test_any_output(image: Any, out: Any) -> None:
    try:
        written = DETECTORS[0][0].response(image, out=out)
    except harris.Error:
        return
    assert written is out
    assert out.tobytes() == DETECTORS[0][0].response(image).tobytes()


@settings(
    max_examples=EXAMPLES,
    derandomize="HARRIS_FUZZ" not in os.environ,
    deadline=None,
    suppress_health_check=SLOW,
)
@given(arrays(), arrays())
def test_any_descriptors(query: Any, train: Any) -> None:
    try:
        matches = harris.Matcher(backend="cpu").match(query, train)
    except harris.Error:
        return
    assert len(matches.query) <= len(query)
