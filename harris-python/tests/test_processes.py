"""Detectors in forked children, and in processes of multiprocessing."""

import multiprocessing
import os
import sys
import threading
import time

import pytest

import harris
from scenes import scene

IMAGE = scene(200, 300)
CAN_FORK = hasattr(os, "fork")

# Python 3.12 and later warn of forks beside threads, which the CPU's detectors allow.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def detect(detector: harris.Detector) -> bytes:
    return detector.detect(IMAGE).table.tobytes()


def make_and_detect(_: int) -> bytes:
    return detect(harris.Detector())


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_multiprocessing(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    detector = harris.Detector()
    expected = detect(detector)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(make_and_detect, range(4)) == [expected] * 4
        # Detectors are pickled as their configurations.
        assert pool.map(detect, [detector, harris.Detector(threads=2)]) == [expected] * 2


def in_child(check: object) -> None:
    """Run a function in a forked child, which must end well and soon."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert callable(check)
            status = 0 if check() else 2
        finally:
            os._exit(status)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


@pytest.mark.skipif(not CAN_FORK, reason="no fork on this system")
@pytest.mark.parametrize("threads", [None, 1, 2])
def test_a_detector_of_the_parent_works_in_a_child(threads: int | None) -> None:
    detector = harris.Detector(threads=threads, backend="cpu")
    expected = detect(detector)
    in_child(lambda: detect(detector) == expected)
    in_child(lambda: make_and_detect(0) == expected)
    assert detect(detector) == expected


@pytest.mark.skipif(not CAN_FORK, reason="no fork on this system")
def test_a_detector_that_is_in_use_at_the_fork_works_in_the_child() -> None:
    detector = harris.Detector(backend="reference")
    large = scene(500, 700)
    expected = detect(detector)
    worker = threading.Thread(target=detector.detect, args=(large,))
    worker.start()
    time.sleep(0.05)
    assert worker.is_alive()
    in_child(lambda: detect(detector) == expected)
    worker.join()
    assert detect(detector) == expected


@pytest.mark.skipif(not CAN_FORK, reason="no fork on this system")
def test_a_closed_detector_stays_closed_in_a_child() -> None:
    detector = harris.Detector(backend="cpu")
    detector.close()

    def is_closed() -> bool:
        try:
            detect(detector)
        except harris.ClosedError:
            return True
        return False

    in_child(is_closed)


if sys.platform == "win32":
    # Children import this module by its name.
    sys.path.insert(0, os.path.dirname(__file__))
