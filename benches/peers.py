#!/usr/bin/env python3
"""Times OpenCV on the photograph that the benchmarks use, tiled to a size.

    pip install opencv-python-headless==5.0.0.93
    python3 benches/peers.py [WIDTHxHEIGHT...]
"""

import pathlib
import statistics
import sys
import time

import cv2
import numpy as np

data = pathlib.Path(__file__).resolve().parent / "../examples/data"
camera = cv2.imread(str(data / "camera.png"), cv2.IMREAD_UNCHANGED)


def good_features(image):
    return cv2.goodFeaturesToTrack(image, 0, 0.01, 0, useHarrisDetector=True, k=0.04)


def pipeline(image):
    """The default preset: blur, response, 5 x 5 maxima above 1 % of the greatest, as a list."""
    response = cv2.cornerHarris(cv2.GaussianBlur(image, (3, 3), 0), 3, 3, 0.04)
    greatest = cv2.dilate(response, np.ones((5, 5), np.uint8))
    mask = (response == greatest) & (response > 0.01 * response.max())
    return cv2.findNonZero(mask.astype(np.uint8))


print("OpenCV", cv2.__version__)
for size in sys.argv[1:] or ["512x512", "1024x1024", "1920x1080", "4096x4096"]:
    width, height = map(int, size.split("x"))
    image = np.tile(camera, (height // 512 + 1, width // 512 + 1))[:height, :width].copy()
    for threads in (1, 2):
        cv2.setNumThreads(threads)
        for work in (good_features, pipeline):
            times = []
            while len(times) < 7 or sum(times) < 1:
                start = time.perf_counter()
                work(image)
                times.append(time.perf_counter() - start)
            median = statistics.median(times)
            rate = width * height / median / 1e6
            best = width * height / min(times) / 1e6
            print(
                f"{size:>10} {threads} threads {work.__name__:>13}: {median * 1e3:8.2f} ms {rate:7.1f} Mpix/s, "
                f"best {best:7.1f}"
            )
