#!/usr/bin/env python3
"""Compares the preset opencv_gftt with OpenCV's goodFeaturesToTrack: see README.md beside this file.

    cargo build --release -p harris-cli
    pip install opencv-python-headless==5.0.0.93
    python3 conformance/opencv/compare.py [PATH OF harris]

It prints a table, and ends with 1 where a promise does not hold.
"""

import collections
import dataclasses
import functools
import itertools
import math
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np

import emulation
import images

QUALITY = 0.01
K = 0.04
# Tolerance on the difference of response maps, and on the difference of responses whose comparison decides
# differently, in the unit of `Map.exact`.
TOLERANCE = 1e-5
# Tolerance on the difference of our response map from exact values, in the unit of `Map.exact`.
ROUNDING = 2e-7
# If an image's maximum is at least LEAST_MAXIMUM units, and its greatest gradient √(A + C) at least LEAST_GRADIENT gray
# levels, differences are also within the tolerance of the maximum. OpenCV's gradients have rounding errors that grow
# with the gray level.
LEAST_MAXIMUM = 0.01
LEAST_GRADIENT = 16
DISTANCES = [1.0, 3.0, 5.0, 10.0] + [math.sqrt(square) for square in (2, 5, 8, 18, 50, 72, 98)]
BUILDS = {"portable": False, "optimised": True}
# The lists that are promised to be equal. Optimised code depends on the processor, so its lists are only counted.
EQUAL = {"portable": "all", "optimised": "counted"}
CASES = {
    "ties-board.gftt.csv": {},
    "ties-board.gftt-d5.csv": {"distance": 5.0},
    "ties-panels.gftt-3.csv": {"distance": 5.0, "most": 3},
    "mask-half.gftt.csv": {"mask": "case"},
    "mask-half.gftt-50-8.csv": {"mask": "case", "most": 50, "distance": 8.0},
    "distance.gftt-sqrt50.csv": {"distance": 7.0710678118654755},
}
# The most pixels of images that test the broken rules; larger ones take too long.
LARGE = 12_000


@dataclasses.dataclass(frozen=True, order=True)
class Map:
    """The options that a response map depends on."""

    measure: str = "harris"
    aperture: int = 3
    block: int = 3

    @property
    def power(self):
        """The power of the contrast that responses are proportional to."""
        return 4 if self.measure == "harris" else 2

    def of_opencv(self, gray):
        """OpenCV's response map, in the units of ours: see docs/arithmetic.md, section 3."""
        if self.measure == "harris":
            response = cv2.cornerHarris(gray, self.block, self.aperture, K)
        else:
            response = cv2.cornerMinEigenVal(gray, self.block, ksize=self.aperture)
        # A power of two: exact.
        return response * np.float32({3: 1, 5: 4, 7: 16}[self.aperture]) ** -self.power

    def exact(self, gray):
        """The responses in f64, and the unit of their rounding errors.

        The gradients of samples of 8 bits and their sums are integers, which f64 holds. Responses are differences of
        terms as great as the trace of the structure tensor, or its square for Harris. The greatest of these in the
        image is the unit.
        """
        gray = gray.astype(np.float64)
        gx, gy = (cv2.Sobel(gray, cv2.CV_64F, *axis, ksize=self.aperture) for axis in [(1, 0), (0, 1)])
        sums = (
            cv2.boxFilter(product, -1, (self.block, self.block), normalize=False)
            for product in (gx * gx, gx * gy, gy * gy)
        )
        norm = {3: 4, 5: 64, 7: 1024}[self.aperture] * 255
        a, b, c = (total / (norm**2 * self.block**2) for total in sums)
        trace = a + c
        if self.measure == "harris":
            return a * c - b * b - K * trace**2, float(trace.max()) ** 2
        return trace / 2 - np.hypot((a - c) / 2, b), float(trace.max())

    def options(self):
        measure = f"harris:{K}" if self.measure == "harris" else self.measure
        return ["--measure", measure, "--gradient", f"sobel{self.aperture}", "--window", f"box:{self.block}"]


@dataclasses.dataclass(frozen=True)
class Run:
    """A call of goodFeaturesToTrack."""

    image: str
    map: Map = Map()
    mask: str | None = None
    distance: float = 0.0
    most: int = 0
    quality: float = QUALITY
    # The committed list that the run must give, if there is one.
    case: str | None = None

    def of_opencv(self, gray, mask):
        found = cv2.goodFeaturesToTrack(
            gray,
            self.most,
            self.quality,
            self.distance,
            mask=mask,
            blockSize=self.map.block,
            gradientSize=self.map.aperture,
            useHarrisDetector=self.map.measure == "harris",
            k=K,
        )
        return np.empty((0, 2), int) if found is None else found.reshape(-1, 2).astype(int)

    def options(self):
        """The options of the program, without the mask."""
        found = self.map.options()
        for name, value, default in [
            ("--min-distance", self.distance, 0.0),
            ("--max-corners", self.most, 0),
            ("--threshold", self.quality, QUALITY),
        ]:
            if value != default:
                found += [name, f"relative:{value!r}" if name == "--threshold" else repr(value)]
        return found


def runs(pictures):
    """All runs."""
    maps = [Map(*choice) for choice in itertools.product(["harris", "shi-tomasi"], [3, 5, 7], range(2, 8))]
    usual = [Map("harris"), Map("shi-tomasi")]
    names = list(pictures)
    found = [Run(name, map_) for name in names for map_ in maps]
    for name, map_ in itertools.product(names, usual):
        found += [Run(name, map_, distance=distance) for distance in DISTANCES]
        found += [
            Run(name, map_, most=most, distance=distance)
            for most, distance in [(1, 0.0), (7, 5.0), (40, math.sqrt(50))]
        ]
        for mask in images.MASKS[:-1]:
            found += [Run(name, map_, mask), Run(name, map_, mask, distance=math.sqrt(8), most=20)]
    for image in pictures.values():
        if image.contrasts is not None:
            weak, strong = image.contrasts
            found += [Run(image.name, map_, quality=weak**map_.power / strong**map_.power) for map_ in maps]
    random = np.random.default_rng(5)

    def choose(choices):
        return choices[random.integers(len(choices))]

    for _ in range(500):
        found.append(
            Run(
                choose(names),
                choose(maps),
                choose([None] + images.MASKS[:-2]),
                choose([0.0] + DISTANCES),
                choose([0, 0, 2, 15, 100]),
                choose([QUALITY, QUALITY, 0.05, 0.3, 1e-6]),
            )
        )
    found += [Run(case.split(".")[0], case=case, **choices) for case, choices in CASES.items()]
    return list(dict.fromkeys(found))


class Program:
    """The program harris, and a folder with the images and masks as files."""

    def __init__(self, path, folder, pictures):
        self.path, self.folder, self.pictures = path, folder, pictures

    def write_inputs(self):
        for name, image in self.pictures.items():
            cv2.imwrite(str(self.folder / f"{name}.png"), image.gray)
        for kind, shape in itertools.product(images.MASKS, {image.gray.shape for image in self.pictures.values()}):
            cv2.imwrite(str(self.mask(kind, shape)), images.mask(kind, shape))

    def mask(self, kind, shape):
        return self.folder / f"mask-{kind}-{shape[1]}x{shape[0]}.png"

    def call(self, names, options, mask=None, with_response=False):
        """The lists of corners of images, and their response maps."""
        lists, maps = {}, {}
        with tempfile.TemporaryDirectory() as out:
            out = pathlib.Path(out)
            files = [str(self.folder / f"{name}.png") for name in names]
            kinds = ["csv", "npy"] if with_response else ["csv"]
            # One input has a file for its output, several have a folder.
            where = {kind: out / f"{names[0]}.{kind}" if len(names) == 1 else out for kind in kinds}
            command = [
                self.path,
                "detect",
                *files,
                "--threads",
                "1",
                "--backend",
                "cpu",
                "--preset",
                "opencv_gftt",
                *options,
                "--csv",
                where["csv"],
            ]
            if with_response:
                command += ["--response", where["npy"]]
            if mask is not None:
                command += ["--mask", self.mask(mask, self.pictures[names[0]].gray.shape)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            for name in names:
                lines = (out / f"{name}.csv").read_text().splitlines()[1:]
                corners = [[float(place) for place in line.split(",")[:2]] for line in lines]
                lists[name] = np.array(corners).reshape(-1, 2).astype(int)
                if with_response:
                    maps[name] = np.load(out / f"{name}.npy")
        return lists, maps


class Tally:
    """Counts and greatest differences, which can be merged."""

    def __init__(self):
        self.counts = collections.Counter()
        self.greatest = collections.defaultdict(float)
        self.failures = []

    def add(self, other):
        self.counts.update(other.counts)
        for key, value in other.greatest.items():
            self.greatest[key] = max(self.greatest[key], value)
        self.failures += other.failures

    def at_least(self, key, value):
        self.greatest[key] = max(self.greatest[key], value)

    def hold(self, promise, run, is_held, kind="all"):
        self.counts[promise, kind, "of"] += 1
        self.counts[promise, kind, "held"] += bool(is_held)
        if not is_held and kind == "all":
            self.failures.append(f"{promise}: {run}")


PROGRAM = None


def start(program):
    """Initialises a process."""
    global PROGRAM
    PROGRAM = program
    cv2.setNumThreads(1)


def compare(batch):
    """Compares the runs of some images with one kind of response map."""
    map_, batch = batch
    tally = Tally()
    names = list(dict.fromkeys(run.image for run in batch))
    plain = {run for run in batch if run == Run(run.image, map_)}
    lists, ours = PROGRAM.call(names, map_.options(), with_response=True)
    scenes = {name: Scene(tally, PROGRAM.pictures[name], map_, ours[name]) for name in names}
    found = {run: lists[run.image] for run in plain}
    for _, group in grouped([run for run in batch if run not in plain], key_of_call):
        lists, _ = PROGRAM.call([run.image for run in group], group[0].options(), group[0].mask)
        found |= {run: lists[run.image] for run in group}
    noticed = set()
    for run in batch:
        scenes[run.image].compare_lists(run, found[run], noticed)
    tally.counts.update(("noticed", rule) for rule in noticed)
    tally.counts["batches"] += 1
    return tally


def key_of_call(run):
    """A key: runs with equal keys share one call of the program."""
    shape = None if run.mask is None else PROGRAM.pictures[run.image].gray.shape
    return repr((run.options(), run.mask, shape, run.case))


def grouped(items, key):
    return [(value, list(group)) for value, group in itertools.groupby(sorted(items, key=key), key)]


class Scene:
    """An image with one kind of response map, ours and OpenCV's."""

    def __init__(self, tally, image, map_, ours):
        self.tally, self.image, self.ours, self.theirs = tally, image, ours, {}
        exact, self.unit = map_.exact(image.gray)
        self.greatest = float(exact.max())
        gradient = self.unit ** (1 / map_.power) * 255
        self.has_corners = self.greatest >= LEAST_MAXIMUM * self.unit and gradient >= LEAST_GRADIENT
        own = self.apart(ours, exact)
        self.candidates, self.reversals = functools.cache(self.candidates), functools.cache(self.reversals)
        tally.at_least(("exact", "ours", map_.measure, map_.aperture), own)
        if own > ROUNDING:
            tally.failures.append(f"our response map: {image.name}, {map_}: {own:.2g} from exact values")
        for build in BUILDS:
            cv2.setUseOptimized(BUILDS[build])
            self.theirs[build] = theirs = map_.of_opencv(image.gray)
            difference = self.apart(ours, theirs)
            tally.counts["maps", build] += 1
            tally.at_least(("map", build, map_.measure, map_.aperture), difference)
            tally.at_least(("exact", build, map_.measure, map_.aperture), self.apart(theirs, exact))
            if difference > TOLERANCE:
                tally.failures.append(f"response map, {build}: {image.name}, {map_}: {difference:.2g}")
            is_near = difference * self.unit <= TOLERANCE * self.greatest
            if not is_near:
                tally.counts["far from maxima", image.name, build] += 1
            if self.has_corners:
                tally.hold(f"maxima {build}", f"{image.name}, {map_}", is_near)

    def apart(self, one, other):
        """The greatest difference of two response maps, in units of their rounding errors."""
        difference = float(np.abs(one.astype(np.float64) - other).max())
        return difference / self.unit if difference > 0 else 0.0

    def mask(self, run):
        return None if run.mask is None else images.mask(run.mask, self.image.gray.shape)

    def candidates(self, whose, quality, mask):
        """Memoised: the candidates of a response map."""
        mask = None if mask is None else images.mask(mask, self.image.gray.shape)
        return emulation.candidates(self.ours if whose == "ours" else self.theirs[whose], quality, mask)

    def reversals(self, build, quality, mask):
        """Memoised: why the candidates of both maps differ."""
        mask = None if mask is None else images.mask(mask, self.image.gray.shape)
        gaps, unexplained = emulation.reversals(self.ours, self.theirs[build], quality, mask)
        self.tally.counts["reversals", build] += gaps.size
        return (float(gaps.max() / self.unit) if gaps.size else math.inf), unexplained

    def compare_lists(self, run, found, noticed):
        tally, image, width = self.tally, self.image, self.image.gray.shape[1]

        def expected(whose):
            return emulation.select(self.candidates(whose, run.quality, run.mask), width, run.distance, run.most)

        tally.hold("rules", run, np.array_equal(found, expected("ours")))
        tally.counts["corners"] += len(found)
        if run.case is not None:
            committed = np.loadtxt(images.CASES / run.case, delimiter=",", dtype=int, ndmin=2)
            tally.hold("committed", run, np.array_equal(found, committed))
        mask = self.mask(run)
        if image.gray.size <= LARGE:
            for rule in emulation.RULES.keys() - noticed:
                numbers = emulation.candidates(self.ours, run.quality, mask, rule)
                broken = emulation.select(numbers, width, run.distance, run.most, rule)
                if not np.array_equal(found, broken):
                    noticed.add(rule)
        for build in BUILDS:
            cv2.setUseOptimized(BUILDS[build])
            list_ = run.of_opencv(image.gray, mask)
            tally.hold(f"emulation {build}", run, np.array_equal(list_, expected(build)))
            is_equal = np.array_equal(found, list_)
            is_usual = run.map == Map() and run.quality == QUALITY and image.kind == "photograph"
            if is_usual or run.case is not None:
                tally.hold("equal", run, is_equal, EQUAL[build])
            tally.hold(f"outright {build}", run, is_equal, image.kind)
            if not is_equal:
                # Both lists follow from the candidates by the same rules.
                gap, unexplained = self.reversals(build, run.quality, run.mask)
                tally.at_least(("gap", build), gap)
                is_explained = unexplained == 0 and gap <= TOLERANCE
                if self.has_corners:
                    in_maxima = gap * self.unit / self.greatest
                    tally.at_least(("gap in maxima", build), in_maxima)
                    is_explained &= in_maxima <= TOLERANCE
                tally.hold(f"explained {build}", run, is_explained)
                tally.counts["places", build] += differing(found, list_)


def differing(one, other):
    """The number of positions of the longer list that differ."""
    common = min(len(one), len(other))
    return int((one[:common] != other[:common]).any(axis=1).sum()) + max(len(one), len(other)) - common


def report(tally, pictures):
    counts = tally.counts
    kinds = list(dict.fromkeys(image.kind for image in pictures.values()))

    def held(promise, kind="all"):
        return f"{counts[promise, kind, 'held']} of {counts[promise, kind, 'of']}"

    def row(title, value):
        print(f"{title:52}" + "".join(f"{value(build):>18}" for build in BUILDS))

    print(
        f"OpenCV {cv2.__version__}: {len(pictures)} images, "
        f"{counts['rules', 'all', 'of']} runs, {counts['corners']} corners\n"
    )
    print(f"{'OpenCV code':52}" + "".join(f"{build:>18}" for build in BUILDS))
    row("response maps", lambda build: counts["maps", build])
    print("greatest difference, in (A + C)² or A + C")
    for key in itertools.product(["harris", "shi-tomasi"], [3, 5, 7]):
        row(f"  {key[0]}, Sobel {key[1]}", lambda build: f"{tally.greatest['map', build, *key]:.1e}")
    print("greatest error against f64, in the same; ours in front")
    for key in itertools.product(["harris", "shi-tomasi"], [3, 5, 7]):
        own = tally.greatest["exact", "ours", *key]
        row(f"  {key[0]}, Sobel {key[1]}: {own:.1e}", lambda build: f"{tally.greatest['exact', build, *key]:.1e}")
    print(f"differences within {TOLERANCE} of the map's maximum")
    row("  images with corners of some contrast", lambda build: held(f"maxima {build}"))
    for name in pictures:
        if any(counts["far from maxima", name, build] for build in BUILDS):
            row(f"  maps farther apart: {name}", lambda build: counts["far from maxima", name, build])
    print("lists")
    row("  OpenCV's are those of the rules on its map", lambda build: held(f"emulation {build}"))
    print(f"{'  ours are those of the rules on our map':52}{held('rules'):>18}")
    print(f"{'  ours are the committed ones':52}{held('committed'):>18}")
    row("  photographs, Harris 3, 3; cases: equal outright", lambda build: held("equal", EQUAL[build]))
    for kind in kinds:
        row(f"  equal outright: {kind}", lambda build: held(f"outright {build}", kind))
    row("lists that differ: explained", lambda build: held(f"explained {build}"))
    row("  places that differ", lambda build: counts["places", build])
    row("  comparisons that decide differently", lambda build: counts["reversals", build])
    row("  farthest apart of these, in (A + C)² or A + C", lambda build: f"{tally.greatest['gap', build]:.1e}")
    row(
        "  the same in maxima, of images with such corners",
        lambda build: f"{tally.greatest['gap in maxima', build]:.1e}",
    )
    print(f"\nbroken rules: how many of {counts['batches']} batches of runs notice them")
    for rule, instead in emulation.RULES.items():
        number = counts["noticed", rule]
        print(f"  {rule + '; broken: ' + instead:80}{number:>6}")
        if number == 0:
            tally.failures.append(f"no run notices a broken rule: {rule}")


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else images.ROOT / "target/release/harris")
    if not path.exists():
        sys.exit(f"there is no {path}: cargo build --release -p harris-cli")
    pictures = images.images()
    place = {name: place for place, name in enumerate(pictures)}
    batches = grouped(runs(pictures), lambda run: (run.map, place[run.image] // 8))
    # The longest batches come first.
    batches = sorted(((key[0], group) for key, group in batches), key=lambda batch: -len(batch[1]))
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(path.resolve(), pathlib.Path(folder), pictures)
        program.write_inputs()
        # Spawned, because a forked process lacks the threads of OpenCV.
        with multiprocessing.get_context("spawn").Pool(2, start, [program]) as pool:
            for found in pool.imap_unordered(compare, batches):
                tally.add(found)
    report(tally, pictures)
    if tally.failures:
        print(f"\n{len(tally.failures)} failures")
        print("\n".join(sorted(tally.failures)[:40]))
        sys.exit(1)


if __name__ == "__main__":
    main()
