#!/usr/bin/env python3
"""Measures finding an object in a scene, as chapter 5 of Loundagin 2015 does, and exact matching alone.

    pip install opencv-python-headless==5.0.0.93 faiss-cpu==1.15.1
    cargo build --release -p harris-cli
    python3 benches/matching.py [--rounds 5] [--cuda] [--most 100000]

Contenders run by turns, in several rounds. A time is the median of the rounds' medians, and brackets have the best.
The object's descriptors are known; a scene's image is in memory, and its matches are the result. The peers' loop over
matches for the ratio test is Python's.
"""

import os

# Variables that choose the kernels of a BLAS would change what the peers do.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import tempfile
import time

import cv2
import faiss
import numpy as np

root = pathlib.Path(__file__).resolve().parent.parent
CARGO_BENCH = "cargo bench --quiet -p harris-benches --bench matching --"
RATIO = 0.7
SIZES = (128, 256, 512, 1024)

# Frames a second. Justin Loundagin, Optimizing Harris Corner Detection on GPGPUs Using CUDA, MSc thesis, California
# Polytechnic State University, San Luis Obispo, March 2015, table 5.3: Harris corners on each platform, then SURF and
# FLANN of OpenCV on the CPU.
TABLE_5_3 = {
    "thesis: standard C, Core i7 920": (15, 13, 6, 2),
    "thesis: MATLAB R2012a, Core i7 920": (6, 6, 4, 1),
    "thesis: OpenCV 2.4.9, Core i7 920": (21, 15, 10, 7),
    "thesis: naive CUDA, GeForce GTX 660 Ti": (19, 15, 9, 6),
    "thesis: optimised CUDA, GeForce GTX 660 Ti": (40, 33, 20, 15),
}


def object_and_scene():
    """The photograph `coffee`, and a turned, tilted, darker and noisy view of it, in gray."""
    image = cv2.imread(str(root / "examples/data/coffee.png"))
    height, width = image.shape[:2]
    turned = np.vstack([cv2.getRotationMatrix2D((width / 2, height / 2), 25, 0.8), [2e-4, 1e-4, 1]])
    view = cv2.warpPerspective(image, turned, (width + 80, height + 100), borderValue=(90, 90, 90))
    view = np.clip(view * 0.8 + 10 + np.random.default_rng(1).normal(0, 4, view.shape), 0, 255).astype(np.uint8)
    return [cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) for picture in (image, view)]


def sift():
    detector = cv2.SIFT_create()
    return lambda image: detector.detectAndCompute(image, None)


def orb():
    detector = cv2.ORB_create()
    return lambda image: detector.detectAndCompute(image, None)


def harris_corners_with_sift():
    """The corners of `--preset opencv_gftt`, of the thesis's size of 5 pixels, with SIFT's descriptors."""
    extractor = cv2.SIFT_create()

    def features(image):
        corners = cv2.goodFeaturesToTrack(image, 0, 0.01, 0, useHarrisDetector=True, k=0.04)
        return extractor.compute(image, cv2.KeyPoint_convert(corners[:, 0], 5))

    return features


def repeat(work, seconds):
    """Returns the times of several runs, after one that takes memory."""
    work()
    times = []
    while len(times) < 3 or sum(times) < seconds:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


def opencv(make, norm):
    """Returns what finds an object in a scene: frames a second, keypoints and matches."""

    def measure(images, threads, seconds):
        cv2.setNumThreads(threads)
        features, matcher = make(), cv2.BFMatcher(norm)
        trained = features(images[0])[1]
        found = None

        def work():
            nonlocal found
            keypoints, descriptors = features(images[1])
            pairs = matcher.knnMatch(descriptors, trained, k=2)
            matches = [pair[0] for pair in pairs if len(pair) > 1 and pair[0].distance < RATIO * pair[1].distance]
            found = len(keypoints), len(matches)

        rate = 1 / statistics.median(repeat(work, seconds))
        return rate, *found

    return measure


def harris(program, options, backend):
    def measure(images, threads, seconds):
        with tempfile.TemporaryDirectory() as folder:
            files = [str(pathlib.Path(folder, name)) for name in ("object.png", "scene.png")]
            for file, image in zip(files, images):
                cv2.imwrite(file, image)
            command = [*shlex.split(program), "match", *files, "--sizes", str(images[0].shape[0]), "--json"]
            command += ["--backends", backend, "--seconds", str(seconds), "--ratio", str(RATIO), *options.split()]
            command += ["--threads", str(threads)] if backend == "cpu" else []
            line = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        return line["frames_per_s"], line["keypoints"], line["matches"]

    return measure


def threads_of(count):
    return "1 thread" if count == 1 else f"{count} threads"


def row(cells):
    print("|", " | ".join(cells), "|", flush=True)


def applications(arguments):
    """Frames a second of finding the object, by the side of square images."""
    threads = sorted({1, os.cpu_count()})
    ours = {
        "harris: corners, SURF": "",
        "harris: corners of `opencv_gftt`, SURF": "--preset opencv_gftt",
        "harris: Fast-Hessian, SURF": "--detector fast-hessian",
    }
    contenders = {}
    for name, options in ours.items():
        for count in threads:
            contenders[f"{name}, {threads_of(count)}"] = (harris(arguments.program, options, "cpu"), count)
        if arguments.cuda:
            contenders[f"{name}, CUDA"] = (harris(arguments.program, options, "cuda"), 0)
    peers = {
        "OpenCV: goodFeaturesToTrack (Harris), SIFT, BFMatcher": opencv(harris_corners_with_sift, cv2.NORM_L2),
        "OpenCV: SIFT, BFMatcher": opencv(sift, cv2.NORM_L2),
        "OpenCV: ORB, BFMatcher": opencv(orb, cv2.NORM_HAMMING),
    }
    for name, measure in peers.items():
        for count in threads:
            contenders[f"{name}, {threads_of(count)}"] = (measure, count)
    whole = object_and_scene()
    images = {side: [cv2.resize(i, (side, side), interpolation=cv2.INTER_AREA) for i in whole] for side in SIZES}
    found = {(name, side): [] for name in contenders for side in SIZES}
    for _ in range(arguments.rounds):
        for side in SIZES:
            for name, (measure, count) in contenders.items():
                found[name, side].append(measure(images[side], count, arguments.seconds))
    row(["frames a second: median (best); keypoints", *(f"{side} x {side}" for side in SIZES)])
    row(["---"] * (1 + len(SIZES)))
    for name in contenders:
        cells = []
        for side in SIZES:
            rates, (_, keypoints, _) = [rate for rate, _, _ in found[name, side]], found[name, side][0]
            cells.append(f"{statistics.median(rates):.0f} ({max(rates):.0f}); {keypoints}")
        row([name, *cells])
    for name, rates in TABLE_5_3.items():
        row([name, *map(str, rates)])
    print()


def descriptors(count, seed):
    """The descriptors of benches/matching.rs, to the bit."""
    z = np.arange(1, count * 64 + 1, dtype=np.uint64) + (np.uint64(seed) << np.uint64(40))
    z *= np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = (z ^ (z >> np.uint64(31))) >> np.uint64(40)
    return (z.astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)).reshape(count, 64)


def bench(program, backend):
    """Returns the time and the sum of the nearest indices of the benchmark `matching`."""

    def measure(query, _, threads, seconds):
        command = [*shlex.split(program), str(len(query)), "--backend", backend, "--seconds", str(seconds)]
        command += ["--threads", str(threads)] if backend == "cpu" else []
        line = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=root).stdout)
        return line["median_ms"], line["sum"]

    return measure


def timed(search, seconds):
    """Returns the time in milliseconds and the sum. A run that takes longer than the time for all counts by itself."""
    start = time.perf_counter()
    total = search()
    first = time.perf_counter() - start
    times = [first] if first >= seconds else repeat(search, seconds)
    return statistics.median(times) * 1e3, total


def brute_force(query, train, threads, seconds):
    cv2.setNumThreads(threads)
    matcher = cv2.BFMatcher(cv2.NORM_L2)
    pairs = None

    def search():
        nonlocal pairs
        pairs = matcher.knnMatch(query, train, k=2)

    milliseconds, _ = timed(search, seconds)
    return milliseconds, sum(pair[0].trainIdx for pair in pairs)


def flat_index(query, train, threads, seconds):
    """Adding copies the descriptors, and is measured, too."""
    faiss.omp_set_num_threads(threads)

    def search():
        index = faiss.IndexFlatL2(64)
        index.add(train)
        return int(index.search(query, 2)[1][:, 0].sum())

    return timed(search, seconds)


def matching(arguments):
    """Milliseconds for the two nearest of each of many descriptors."""
    threads = sorted({1, os.cpu_count()})
    contenders = {}
    for count in threads:
        contenders[f"harris: CPU, {threads_of(count)}"] = (bench(arguments.bench, "cpu"), count)
        contenders[f"OpenCV {cv2.__version__}: BFMatcher, {threads_of(count)}"] = (brute_force, count)
        contenders[f"FAISS {faiss.__version__}: IndexFlatL2, {threads_of(count)}"] = (flat_index, count)
    if arguments.cuda:
        contenders["harris: CUDA, from and to the host"] = (bench(arguments.bench, "cuda"), 0)
    counts = [count for count in (2000, 10_000, 100_000) if count <= arguments.most]
    found = {(name, count): [] for name in contenders for count in counts}
    for count in counts:
        query, train = descriptors(count, 1), descriptors(count, 2)
        # The largest takes minutes for each.
        for _ in range(arguments.rounds if count < 100_000 else 1):
            for name, (measure, number) in contenders.items():
                if count == 100_000 and number == 1 and max(threads) > 1:
                    continue
                found[name, count].append(measure(query, train, number, arguments.seconds))
    row(["two nearest of 64 values, milliseconds: median (best)", *(f"{count} x {count}" for count in counts)])
    row(["---"] * (1 + len(counts)))
    sums = {count: {total for name in contenders for _, total in found[name, count]} for count in counts}
    for name in contenders:
        cells = []
        for count in counts:
            times = [milliseconds for milliseconds, _ in found[name, count]]
            if not times:
                cells.append("")
                continue
            shown = [f"{time:.4g}" if time < 1e4 else f"{time:.0f}" for time in (statistics.median(times), min(times))]
            cells.append(f"{shown[0]} ({shown[1]})")
        row([name, *cells])
    row(["all find the same nearest", *("yes" if len(sums[count]) == 1 else f"no: {sums[count]}" for count in counts)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(root / "target/release/harris"), help="the program `harris`")
    parser.add_argument("--bench", default=CARGO_BENCH, help="the benchmark `matching`")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each contender, size and round")
    parser.add_argument("--cuda", action="store_true", help="measure the first GPU, too")
    parser.add_argument("--most", type=int, default=10_000, help="greatest number of descriptors: 10000, or 100000")
    parser.add_argument("--only", choices=("application", "matching"), help="measure this part alone")
    arguments = parser.parse_args()
    print(f"OpenCV {cv2.__version__}, FAISS {faiss.__version__}, {os.cpu_count()} hardware threads\n")
    if arguments.only != "matching":
        applications(arguments)
    if arguments.only != "application":
        matching(arguments)


if __name__ == "__main__":
    main()
