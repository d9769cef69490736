#!/usr/bin/env python3
"""Measures OpenCV and Halide on the photograph that the benchmarks use, tiled to a size.

    pip install opencv-python-headless==5.0.0.93 halide==21.0.0
    python3 benches/peers.py [WIDTHxHEIGHT...]
"""

import importlib.metadata
import pathlib
import statistics
import sys
import time

import cv2
import halide as hl
import numpy as np

data = pathlib.Path(__file__).resolve().parent / "../examples/data"
camera = cv2.imread(str(data / "camera.png"), cv2.IMREAD_UNCHANGED)


def good_features(image):
    return cv2.goodFeaturesToTrack(image, 0, 0.01, 0, useHarrisDetector=True, k=0.04)


def first_features(image):
    """The most usual call: `--preset opencv_gftt --measure shi-tomasi --min-distance 10 --max-corners 500`."""
    return cv2.goodFeaturesToTrack(image, 500, 0.01, 10)


def between_pixels(image, corners):
    """Refines in windows of 11 x 11 with four iterations, as `--subpixel forstner:5`."""
    criteria = (cv2.TERM_CRITERIA_MAX_ITER, 4, 0)
    return cv2.cornerSubPix(image, corners.copy(), (5, 5), (-1, -1), criteria)


def pipeline(image):
    """The default preset: blur, response, 5 x 5 maxima above 1 % of the greatest, as a list."""
    response = cv2.cornerHarris(cv2.GaussianBlur(image, (3, 3), 0), 3, 3, 0.04)
    greatest = cv2.dilate(response, np.ones((5, 5), np.uint8))
    mask = (response == greatest) & (response > 0.01 * response.max())
    return cv2.findNonZero(mask.astype(np.uint8))


def harris(image, blur, response):
    """Blur and response, written to existing arrays."""
    cv2.GaussianBlur(image, (3, 3), 0, blur)
    return cv2.cornerHarris(blur, 3, 3, 0.04, response)


def halide(image, threads, mask):
    """Blur and response; with `mask` also the 5 x 5 maxima above a fixed threshold, as a mask instead of a list.

    The schedule is the fastest of 72: strips of columns, in which all stages slide down in vectors, and bands for
    threads. The others had strips of 128, 256 or 512, vectors of 16, 32 or 64, blocks instead of sliding, and stages
    stored or recomputed.
    """
    height, width = image.shape
    strip = 256 if mask else 512
    x, y, xo, xi, yo, yi = (hl.Var(name) for name in ("x", "y", "xo", "xi", "yo", "yi"))
    samples = hl.ImageParam(hl.UInt(8), 2, "samples")
    inside = hl.BoundaryConditions.mirror_interior(samples)
    stages = []

    def stage(name, value):
        function = hl.Func(name)
        function[x, y] = value
        stages.append(function)
        return function

    at = lambda dx, dy: hl.i16(inside[x + dx, y + dy])
    down = stage("down", at(0, -1) + 2 * at(0, 0) + at(0, 1))
    blur = stage("blur", (down[x - 1, y] + 2 * down[x, y] + down[x + 1, y] + hl.i16(8)) >> 4)
    sums = stage("sums", blur[x, y - 1] + 2 * blur[x, y] + blur[x, y + 1])
    differences = stage("differences", blur[x, y + 1] - blur[x, y - 1])
    gx = stage("gx", sums[x + 1, y] - sums[x - 1, y])
    gy = stage("gy", differences[x - 1, y] + 2 * differences[x, y] + differences[x + 1, y])
    tensor = []
    for name, u, v in (("a", gx, gx), ("b", gx, gy), ("c", gy, gy)):
        product = hl.Func("product_" + name)
        product[x, y] = hl.i32(u[x, y]) * hl.i32(v[x, y])
        column = stage(name, product[x, y - 1] + product[x, y] + product[x, y + 1])
        scale = hl.f32(1 / ((4 * 255.0) ** 2 * 9))
        tensor.append(hl.f32(column[x - 1, y] + column[x, y] + column[x + 1, y]) * scale)
    a, b, c = tensor
    trace = a + c
    out = stage("response", a * c - b * b - hl.f32(0.04) * trace * trace)
    kind = hl.Float(32)
    if mask:
        response = out
        across = response[x, y]
        for dx in (-2, -1, 1, 2):
            across = hl.max(across, response[x + dx, y])
        rows = stage("rows", across)
        greatest = rows[x, y]
        for dy in (-2, -1, 1, 2):
            greatest = hl.max(greatest, rows[x, y + dy])
        is_peak = (response[x, y] == greatest) & (response[x, y] > hl.f32(1e-4))
        out = stage("mask", hl.select(is_peak, hl.u8(255), hl.u8(0)))
        kind = hl.UInt(8)
    tail = hl.TailStrategy.GuardWithIf
    out.bound(x, 0, width).bound(y, 0, height)
    out.split(y, yo, yi, -(-height // threads), tail).split(x, xo, xi, strip, tail)
    out.reorder(xi, yi, xo, yo).vectorize(xi, 32)
    if threads > 1:
        out.parallel(yo)
    for function in stages[:-1]:
        function.store_at(out, xo).compute_at(out, yi).vectorize(x, 32)
    samples.dim(0).set_bounds(0, width)
    samples.dim(1).set_bounds(0, height)
    samples.dim(1).set_stride(width)
    out.compile_jit(hl.get_host_target())
    samples.set(hl.Buffer(image))
    result = hl.Buffer(kind, [width, height])
    return lambda: (out.realize(result), np.asarray(result))[1]


def measure(name, size, threads, work):
    work()
    times = []
    while len(times) < 7 or sum(times) < 1:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    pixels = size[0] * size[1] / 1e6
    median = statistics.median(times)
    print(
        f"{size[0]:>5} x {size[1]:<5} {threads} threads {name:>23}: {median * 1e3:8.2f} ms "
        f"{pixels / median:7.1f} Mpix/s, best {pixels / min(times):7.1f}",
        flush=True,
    )


# The responses differ only by rounding.
expected = cv2.cornerHarris(cv2.GaussianBlur(camera, (3, 3), 0), 3, 3, 0.04)
assert np.allclose(halide(camera, 1, False)()[8:-8, 8:-8], expected[8:-8, 8:-8], atol=1e-5 * expected.max())

print(f"OpenCV {cv2.__version__}, Halide {importlib.metadata.version('halide')}")
for text in sys.argv[1:] or ["512x512", "1920x1080", "4096x4096"]:
    size = width, height = tuple(map(int, text.split("x")))
    image = np.tile(camera, (height // 512 + 1, width // 512 + 1))[:height, :width].copy()
    for threads in (1, 2):
        cv2.setNumThreads(threads)
        measure("goodFeaturesToTrack", size, threads, lambda: good_features(image))
        measure("the first 500, 10 apart", size, threads, lambda: first_features(image))
        measure("OpenCV, blur to list", size, threads, lambda: pipeline(image))
        corners = good_features(image)
        measure(f"cornerSubPix of {len(corners)}", size, threads, lambda: between_pixels(image, corners))
        response = np.empty((height, width), np.float32)
        blur = np.empty_like(image)
        measure("OpenCV, response", size, threads, lambda: harris(image, blur, response))
        measure("Halide, response", size, threads, halide(image, threads, False))
        measure("Halide, 5 x 5 mask", size, threads, halide(image, threads, True))
