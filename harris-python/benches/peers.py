"""Time corners beside OpenCV, scikit-image, kornia and cuCIM: medians of one run, by turns.

Usage: python benches/peers.py [--threads N] [--cuda] [--sizes 64x64,512x512]

Libraries that are not installed are left out. The output is Markdown.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.metadata
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PHOTOGRAPH = Path(__file__).resolve().parents[2] / "examples/data/camera.png"
SIZES = "64x64,512x512,1920x1080,4096x4096"
CORNERS, QUALITY, DISTANCE, K = 500, 0.01, 10, 0.04
TURN = 0.02
"""Seconds of a turn, if a call is shorter."""

Call = Callable[[], object]


def optional(name: str) -> Any:
    """Import a module, or return None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return None


def photograph() -> NDArray[np.uint8]:
    """Read the photograph by a library that is installed."""
    if cv2 := optional("cv2"):
        gray: NDArray[np.uint8] = cv2.imread(str(PHOTOGRAPH), cv2.IMREAD_GRAYSCALE)
        return gray
    if image := optional("PIL.Image"):
        return np.asarray(image.open(PHOTOGRAPH).convert("L"))
    raise SystemExit("install opencv-python-headless or pillow: they read the photograph")


def tiled(image: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Repeat an image to a size."""
    rows, columns = -(-height // image.shape[0]), -(-width // image.shape[1])
    return np.ascontiguousarray(np.tile(image, (rows, columns))[:height, :width])


def lists_on_cpu(image: NDArray[np.uint8]) -> Iterator[tuple[str, Call]]:
    """Make the calls that find a list of corners."""
    import harris
    from harris import cv

    arguments = (image, CORNERS, QUALITY, DISTANCE, None, None, 3, True, K)
    detector = harris.Detector(
        "opencv_gftt",
        backend="cpu",
        max_corners=CORNERS,
        min_distance=DISTANCE,
        threshold=("relative", QUALITY),
        measure=("harris", K),
    )
    yield "`harris.Detector.detect`", lambda: detector.detect(image)
    yield "`harris.cv.goodFeaturesToTrack`", lambda: cv.goodFeaturesToTrack(*arguments)
    if cv2 := optional("cv2"):
        yield "`cv2.goodFeaturesToTrack`", lambda: cv2.goodFeaturesToTrack(*arguments)
    if feature := optional("skimage.feature"):

        def peaks() -> object:
            response = feature.corner_harris(image, k=K)
            return feature.corner_peaks(
                response, min_distance=DISTANCE, threshold_rel=QUALITY, num_peaks=CORNERS
            )

        yield "skimage `corner_harris`, `corner_peaks`", peaks


def maps_on_cpu(image: NDArray[np.uint8]) -> Iterator[tuple[str, Call]]:
    """Make the calls that compute a response map."""
    import harris
    from harris import cv

    detector = harris.Detector("opencv_gftt", backend="cpu", measure=("harris", K))
    out = np.empty(image.shape, np.float32)
    yield "`harris.Detector.response`, `out=`", lambda: detector.response(image, out)
    yield "`harris.cv.cornerHarris`, `dst=`", lambda: cv.cornerHarris(image, 3, 3, K, out)
    yield "`harris.cv.cornerHarris`", lambda: cv.cornerHarris(image, 3, 3, K)
    yield (
        "`harris.cv.cornerHarris`, block 2",
        lambda: cv.cornerHarris(image, 2, 3, K),
    )
    if cv2 := optional("cv2"):
        yield "`cv2.cornerHarris`, `dst=`", lambda: cv2.cornerHarris(image, 3, 3, K, out)
        yield "`cv2.cornerHarris`", lambda: cv2.cornerHarris(image, 3, 3, K)
        yield "`cv2.cornerHarris`, block 2", lambda: cv2.cornerHarris(image, 2, 3, K)
    if feature := optional("skimage.feature"):
        yield "skimage `corner_harris`", lambda: feature.corner_harris(image, k=K)
    if (torch := optional("torch")) and (kornia := optional("kornia")):
        tensor = torch.from_numpy(image)[None, None].float() / 255
        yield "kornia `harris_response`, CPU", lambda: kornia.feature.harris_response(tensor, K)


def on_gpu(image: NDArray[np.uint8]) -> Iterator[tuple[str, Call]]:
    """Make the calls on a GPU. Each ends when its result is there."""
    import harris

    choices: dict[str, Any] = {"max_corners": CORNERS, "min_distance": DISTANCE}
    detector = harris.Detector("opencv_gftt", backend="cuda", **choices)
    yield "`harris.Detector.detect`, from the host", lambda: detector.detect(image)
    if torch := optional("torch"):
        there = torch.from_numpy(image).cuda()

        def on_device() -> None:
            detector.detect(there, device=True)
            torch.cuda.synchronize()

        yield "`harris.Detector.detect`, torch image", lambda: detector.detect(there)
        yield "`harris.Detector.detect`, torch image, `device=True`", on_device
        if kornia := optional("kornia"):
            tensor = there[None, None].float() / 255

            def response() -> None:
                kornia.feature.harris_response(tensor, K)
                torch.cuda.synchronize()

            yield "kornia `harris_response` alone, GPU", response
    if cupy := optional("cupy"):
        array = cupy.asarray(image)
        yield "`harris.Detector.detect`, CuPy image", lambda: detector.detect(array)
        if feature := optional("cucim.skimage.feature"):

            def peaks() -> None:
                feature.corner_peaks(
                    feature.corner_harris(array, k=K),
                    min_distance=DISTANCE,
                    threshold_rel=QUALITY,
                    num_peaks=CORNERS,
                )
                cupy.cuda.Device().synchronize()

            yield "cuCIM `corner_harris`, `corner_peaks`", peaks


def medians(calls: list[tuple[str, Call]], rounds: int, limit: float) -> dict[str, float]:
    """Time calls by turns; return the median of each in seconds."""
    counts, times = {}, {name: list[float]() for name, _ in calls}
    for name, call in calls:
        call()
        start = time.perf_counter()
        call()
        counts[name] = max(1, min(1000, int(TURN / (time.perf_counter() - start))))
    for number in range(rounds):
        for name, call in calls:
            if number >= 3 and sum(times[name]) > limit:
                continue
            for _ in range(counts[name]):
                start = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def text_of(seconds: float) -> str:
    """Format a time."""
    for unit, factor in [("µs", 1e6), ("ms", 1e3)]:
        if seconds * factor < 1000:
            return f"{seconds * factor:#.3g} {unit}".replace(". ", " ")
    return f"{seconds:#.3g} s"


def versions() -> str:
    """List the versions of the libraries."""
    found = [f"Python {platform.python_version()}"]
    names = ["harris", "numpy", "opencv-python-headless", "opencv-python", "scikit-image"]
    for name in [*names, "torch", "kornia", "cupy-cuda12x", "cucim-cu12"]:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            if name == "harris":
                found.append(f"harris {importlib.import_module('harris').__version__}")
    return ", ".join(found)


def machine(threads: int | None) -> str:
    """Describe the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} hardware threads, {threads or 'all'} used"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, help="threads of all libraries")
    parser.add_argument("--cuda", action="store_true", help="the calls on a GPU, too")
    parser.add_argument("--sizes", default=SIZES, help=f"WIDTHxHEIGHT,... [{SIZES}]")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--limit", type=float, default=10, help="seconds after which a call rests")
    options = parser.parse_args()
    if options.threads:
        # Before the libraries are loaded.
        os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options.threads)
        if cv2 := optional("cv2"):
            cv2.setNumThreads(options.threads)
        if torch := optional("torch"):
            torch.set_num_threads(options.threads)
    source = photograph()
    sizes = [[int(side) for side in size.split("x")] for size in options.sizes.split(",")]
    backends = importlib.import_module("harris").backends() if options.cuda else []
    today = datetime.datetime.now(datetime.timezone.utc).date()
    print(f"{today}: {machine(options.threads)}. {versions()}.")
    for name, found, description in backends:
        if found and name.startswith("cuda"):
            print(f"{description}.")
    groups = {
        f"List of the {CORNERS} strongest corners, {DISTANCE} pixels apart": lists_on_cpu,
        "Response map": maps_on_cpu,
    }
    if options.cuda:
        groups["On a GPU"] = on_gpu
    for title, make in groups.items():
        columns = []
        for width, height in sizes:
            image = tiled(source, height, width)
            columns.append(medians(list(make(image)), options.rounds, options.limit))
        print(f"\n| {title} | " + " | ".join(f"{w} × {h}" for w, h in sizes) + " |")  # noqa: RUF001
        print("| --- |" + " ---: |" * len(sizes))
        for name in columns[0]:
            print(f"| {name} | " + " | ".join(text_of(column[name]) for column in columns) + " |")


if __name__ == "__main__":
    main()
