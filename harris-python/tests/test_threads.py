"""Detectors are shared by threads, and interrupted by Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import harris
from scenes import scene

IMAGES = [scene(80 + 7 * i, 90 + 5 * i, i) for i in range(12)]


def test_threads_share_a_detector() -> None:
    detector = harris.Detector(backend="cpu", threads=2)
    expected = [detector.detect(image) for image in IMAGES]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(detector.detect, IMAGES)) == expected


def test_threads_have_detectors_of_their_own() -> None:
    expected = harris.Detector(backend="cpu").detect_batch(IMAGES)

    def detect(_: int) -> list[harris.Keypoints]:
        return harris.Detector(backend="cpu", threads=1).detect_batch(IMAGES)

    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(detect, range(16)))


def test_other_threads_run_while_the_library_works() -> None:
    # The plain reference needs long for this image.
    image = scene(600, 800)
    detector = harris.Detector("harris_phull_2011", backend="reference")
    worker = threading.Thread(target=detector.detect, args=(image,))
    turns = 0
    worker.start()
    while worker.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 10


def test_closing_while_another_thread_works() -> None:
    image = scene(300, 400)
    detector = harris.Detector(backend="reference")
    results: list[object] = []

    def detect() -> None:
        try:
            results.append(detector.detect(image))
        except harris.ClosedError as error:
            results.append(error)

    workers = [threading.Thread(target=detect) for _ in range(3)]
    for worker in workers:
        worker.start()
    detector.close()
    for worker in workers:
        worker.join()
    assert len(results) == 3


def test_an_array_that_is_being_written_is_refused() -> None:
    image = scene(1200, 1600)
    out = np.empty(image.shape, np.float32)
    detector = harris.Detector("harris_phull_2011", backend="reference")
    worker = threading.Thread(target=detector.response, args=(image, out))
    worker.start()
    time.sleep(0.05)
    assert worker.is_alive()
    with pytest.raises(harris.InputError, match="written by another call"):
        harris.Detector(backend="cpu").detect(out)
    worker.join()
    assert len(harris.Detector(backend="cpu").detect(out)) > 0


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_interrupts_a_batch() -> None:
    program = """
import numpy as np, harris
images = np.random.default_rng(1).integers(0, 256, (400, 200, 200), np.uint8)
detector = harris.Detector(backend="reference")
print("ready", flush=True)
try:
    detector.detect_batch(images)
    print("done")
except KeyboardInterrupt:
    print("interrupted", len(detector.detect(images[0])) > 0)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert output == b"interrupted True\n"
