"""Time a call from Python beside the library's own call, in one process.

Usage: python benches/overhead.py [--threads N]
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import harris
from harris import _core


def median_of(call: Callable[[], object], count: int) -> float:
    """Return the median time of a call in seconds."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--backend", default="auto")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    print("image         corners   library    Python   ratio")
    with harris.Detector(threads=options.threads, backend=options.backend) as detector:
        for side, count in [(64, 20000), (512, 1000), (4096, 40)]:
            blocks = random.integers(0, 256, (side // 16, side // 16), np.uint8)
            image = np.kron(blocks, np.ones((16, 16), np.uint8))
            found = detector.detect(image)
            # Both in turns, so that both meet the same load of the machine.
            rounds = [
                (
                    float(np.median(_core._time_detect(detector, image, count // 10))),
                    median_of(lambda image=image: detector.detect(image), count // 10),
                )
                for _ in range(10)
            ]
            library, python = (statistics.median(times) for times in zip(*rounds, strict=True))
            times = f"{1e6 * library:>8.1f}us {1e6 * python:>8.1f}us {python / library:>7.3f}"
            print(f"{side:>4} x {side:<4} {len(found):>9} {times}")
    print(detector.backend)


if __name__ == "__main__":
    main()
