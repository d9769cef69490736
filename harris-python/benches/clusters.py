"""Images a second of a loop in one process, and of a Ray dataset with one actor.

Usage: python clusters.py FOLDER loop|dataset
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import ray
import ray.data

import harris
import harris.ray
from harris.ray._images import decode

PRESET = "opencv_gftt"


def loop(folder: Path) -> None:
    """Read, decode and detect one image after the other, with the functions of an actor."""
    detector = harris.Detector(PRESET, backend="cpu", threads=1)
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    times = [0.0, 0.0, 0.0]
    start = time.perf_counter()
    for path in paths:
        marks = [time.perf_counter()]
        data = path.read_bytes()
        marks.append(time.perf_counter())
        image = decode(data)
        marks.append(time.perf_counter())
        detector.detect(image)
        marks.append(time.perf_counter())
        times = [old + marks[i + 1] - marks[i] for i, old in enumerate(times)]
    rate = len(paths) / (time.perf_counter() - start)
    read, decoding, detection = (1000 * value / len(paths) for value in times)
    print(f"read {read:.2f}, decode {decoding:.2f}, detect {detection:.2f} ms; {rate:.1f} images/s")


def dataset(folder: Path) -> None:
    """Detect in a dataset, with one actor. The rate is that after the first results."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    images = ray.data.read_images(str(folder), include_paths=True, mode="L")
    found = harris.ray.detect(images, PRESET, backend="cpu", concurrency=1)
    first, count = 0.0, -1
    for batch in found.iter_batches(batch_format="pyarrow", batch_size=None):
        if count < 0:
            first, count = time.perf_counter(), 0
        else:
            count += len(batch)
    print(f"{count / (time.perf_counter() - first):.1f} images/s")


if __name__ == "__main__":
    {"loop": loop, "dataset": dataset}[sys.argv[2]](Path(sys.argv[1]))
