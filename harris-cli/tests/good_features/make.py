#!/usr/bin/env python3
"""Writes OpenCV's corners of the photographs in examples/data, which the tests compare with.

    pip install opencv-python-headless==5.0.0.93
    python3 harris-cli/tests/good_features/make.py [--check]

For each photograph, NAME.csv has the corners of

    goodFeaturesToTrack(gray, 0, 0.01, 0, useHarrisDetector=True, k=0.04)

as `x,y` lines in OpenCV's order. NAME.spread.csv has the corners with maxCorners 200 and minDistance 10. gray is a gray
file unchanged, or cvtColor(image, COLOR_BGR2GRAY) of a colour file. With --check, nothing is written, and the exit code
tells whether the committed lists are up to date.
"""

import pathlib
import sys

import cv2

here = pathlib.Path(__file__).resolve().parent
stale = []
for photograph in sorted((here / "../../data").glob("*.png")):
    image = cv2.imread(str(photograph), cv2.IMREAD_UNCHANGED)
    gray = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    for name, most, distance in [("csv", 0, 0), ("spread.csv", 200, 10)]:
        corners = cv2.goodFeaturesToTrack(gray, most, 0.01, distance, useHarrisDetector=True, k=0.04)
        text = "".join(f"{int(x)},{int(y)}\n" for x, y in corners.reshape(-1, 2))
        path = here / f"{photograph.stem}.{name}"
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
if stale:
    sys.exit(f"stale: {', '.join(stale)}; run python3 harris-cli/tests/good_features/make.py")
