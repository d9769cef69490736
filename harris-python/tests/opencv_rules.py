"""OpenCV's rules for corners on a given response map, and the images and calls to test them on."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float32]
Image = NDArray[Any]
PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "examples/data"


def neighbours(response: Map) -> Map:
    """Compute the greatest of the eight neighbours of each pixel."""
    height, width = response.shape
    padded = np.pad(response, 1, constant_values=-np.inf)
    around = [
        padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width]
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
        if (dy, dx) != (0, 0)
    ]
    greatest_of_all: Map = np.maximum.reduce(around)
    return greatest_of_all


def allowed(shape: tuple[int, ...], mask: Image | None) -> NDArray[np.bool_]:
    """Mark the pixels that may be corners: in the mask, and not at an edge."""
    inside = np.zeros(shape, bool)
    inside[1:-1, 1:-1] = True
    return inside if mask is None else inside & (mask != 0)


def greatest(response: Map, mask: Image | None) -> float:
    """Compute the greatest response in the mask."""
    counted = response if mask is None else response[mask != 0]
    return float(counted.max()) if counted.size else 0.0


def select(
    response: Map, most: int, quality: float, distance: float, mask: Image | None
) -> NDArray[np.intp]:
    """Select corners by OpenCV's rules, as x and y."""
    # The threshold is a product of doubles, rounded once.
    least = np.float32(quality * greatest(response, mask))
    left = np.where(response > least, response, np.float32(0))
    is_corner = (left != 0) & (left >= neighbours(left)) & allowed(left.shape, mask)
    numbers = np.flatnonzero(is_corner)
    # From the strongest on; of equal ones the last comes first.
    numbers = numbers[np.lexsort((-numbers, -left.ravel()[numbers]))]
    rows, columns = np.divmod(numbers, response.shape[1])
    places = np.stack([columns, rows], axis=1)
    kept: list[int] = []
    for number, place in enumerate(places):
        if distance >= 1:
            offsets = places[kept] - place
            if ((offsets**2).sum(axis=1) < distance * distance).any():
                continue
        kept.append(number)
        if len(kept) == most:
            break
    return places[kept]


def has_near_ties(
    response: Map, found: NDArray[np.intp], call: "Call", mask: Image | None, tolerance: float
) -> bool:
    """Tell whether a list depends on a comparison of two values that are nearly equal."""
    exact: NDArray[np.float64] = response.astype(np.float64)
    least = call.quality * greatest(response, mask)
    around = neighbours(response).astype(np.float64)
    competes = (exact > least - tolerance) & (exact >= around - tolerance)
    competes &= allowed(response.shape, mask)
    if 0 < call.most == len(found):
        # The walk ended here.
        competes &= exact >= exact[found[-1][1], found[-1][0]] - tolerance
    values = exact[competes]
    is_near = np.abs(values - least) <= tolerance
    is_near |= np.abs(values - around[competes]) <= tolerance
    return bool(is_near.any() or (np.diff(np.sort(values)) <= tolerance).any())


@dataclass(frozen=True)
class Call:
    """Arguments of goodFeaturesToTrack."""

    block: int = 3
    aperture: int = 3
    k: float | None = None
    most: int = 0
    quality: float = 0.01
    distance: float = 0.0
    mask: str | None = None

    def optional(self, mask: Image | None) -> tuple[Any, ...]:
        """Give the optional arguments in the order of the second overload."""
        harris = self.k is not None
        return (mask, self.block, self.aperture, None, harris, self.k if harris else 0.04)

    def response(self, module: Any, image: Image) -> Map:
        """Compute the response map by `cv2`, or a module with its functions."""
        found: Map
        if self.k is None:
            found = module.cornerMinEigenVal(image, self.block, None, self.aperture)
        else:
            found = module.cornerHarris(image, self.block, self.aperture, self.k)
        return found


CALLS = [
    Call(),
    Call(most=25),
    Call(most=10, distance=10),
    Call(most=100, quality=0.05, distance=math.sqrt(50)),
    Call(quality=0.3, distance=3),
    Call(block=2, most=20),
    Call(block=4, most=20, distance=5),
    Call(block=5, aperture=5, most=15),
    Call(block=6, aperture=7, most=15, distance=2.5),
    Call(block=7, aperture=3, quality=0.1),
    Call(aperture=-1, most=12, distance=4),
    Call(aperture=1, most=12),
    Call(mask="half", most=10, distance=8),
    Call(mask="chequered", quality=0.2),
    Call(mask="random", block=5, most=5),
    Call(k=0.04),
    Call(k=0.04, most=25, distance=7),
    Call(k=0.06, block=2, aperture=5, most=15),
    Call(k=0.0, block=5, aperture=7, most=15, distance=1.5),
    Call(k=0.15, block=7, aperture=-1, quality=0.1),
    Call(k=0.04, block=4, aperture=1, most=10, mask="half"),
    Call(k=0.04, block=6, mask="random", distance=6, most=1),
    Call(k=0.05, block=3, mask="empty"),
    Call(k=0.04, quality=1.0),
]


def mask_of(kind: str | None, shape: tuple[int, ...]) -> Image | None:
    """Draw a mask."""
    y, x = np.indices(shape)
    if kind is None:
        return None
    if kind == "half":
        return np.where(x < shape[1] // 2, 255, 0).astype(np.uint8)
    if kind == "chequered":
        return np.asarray((x // 6 + y // 6) % 2 == 1)
    if kind == "random":
        return np.random.default_rng(7).choice(np.array([0, 0, 1, 255], np.uint8), shape)
    return np.zeros(shape, np.uint8)


def board(square: int, dark: int, light: int, height: int = 80, width: int = 96) -> Image:
    """Draw a chessboard."""
    y, x = np.indices((height, width)) // square
    return np.where((x + y) % 2 == 0, dark, light).astype(np.uint8)


def drawn() -> Iterator[tuple[str, Image]]:
    """Draw images: noise of several grains, boards, gradients, dots, flat ones and tiny ones."""
    random = np.random.default_rng(3)
    noise = random.integers(0, 256, (80, 96), np.uint8)
    yield "noise", noise
    yield "noise-odd", random.integers(0, 256, (77, 93), np.uint8)
    yield "noise-faint", random.integers(100, 104, (80, 96), np.uint8)
    yield "noise-two", 255 * random.integers(0, 2, (81, 96), np.uint8)
    for sigma in (1, 2, 4):
        yield f"noise-smooth-{sigma}", cv2.GaussianBlur(noise, (0, 0), sigma)
    yield "noise-coarse", cv2.resize(noise[:20, :24], (96, 80), interpolation=cv2.INTER_CUBIC)
    yield "mosaic", np.kron(random.integers(0, 256, (16, 19)), np.ones((5, 5))).astype(np.uint8)
    yield "board-8", board(8, 0, 255)
    yield "board-5-faint", board(5, 120, 131)
    yield "board-7-odd", board(7, 30, 220, 61, 83)
    turn = cv2.getRotationMatrix2D((48, 40), 20, 1)
    yield "board-turned", cv2.warpAffine(board(9, 0, 255), turn, (96, 80))
    y, x = np.indices((80, 96))
    yield "slope", (2 * x + y // 2).astype(np.uint8)
    yield "rings", (127.5 + 127 * np.cos(0.02 * ((x - 48) ** 2 + (y - 40) ** 2))).astype(np.uint8)
    yield "step", np.where(x < 40, 30, 210).astype(np.uint8)
    dots = np.full((80, 96), 40, np.uint8)
    at = random.integers(0, 80, 150), random.integers(0, 96, 150)
    dots[at] = random.integers(41, 256, 150)
    yield "dots", dots
    yield "flat", np.full((80, 96), 77, np.uint8)
    text = np.full((80, 96), 255, np.uint8)
    cv2.putText(text, "Corners", (3, 45), cv2.FONT_HERSHEY_SIMPLEX, 0.7, 0, 1, cv2.LINE_AA)
    yield "text", text
    for width, height in [(1, 1), (1, 9), (2, 2), (3, 3), (5, 7), (17, 33), (65, 3), (31, 31)]:
        yield f"tiny-{width}x{height}", random.integers(0, 256, (height, width), np.uint8)


def photographs() -> Iterator[tuple[str, Image]]:
    """Read the photographs: parts of them, and smaller copies."""
    for path in sorted(PHOTOGRAPHS.glob("*.png")):
        gray = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        assert gray is not None
        yield path.stem, np.ascontiguousarray(gray[60:260, 100:351])
        yield (
            f"{path.stem}-half",
            cv2.resize(gray, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
        )


def images() -> dict[str, Image]:
    """Make all images by name: uint8 and float32."""
    found = dict(drawn()) | dict(photographs())
    floats = {
        "noise": 255.0,
        "noise-smooth-2": 1.0,
        "board-7-odd": 255.0,
        "rings": 1.0,
        "dots": 255.0,
        "tiny-17x33": 255.0,
        "flat": 255.0,
    }
    for name, full in floats.items():
        found[f"{name}-float"] = (found[name] / np.float32(full)).astype(np.float32)
    random = np.random.default_rng(8)
    signed = random.normal(0, 3, (64, 70)).astype(np.float32)
    found["normal-float"] = signed
    found["normal-smooth-float"] = cv2.GaussianBlur(signed, (0, 0), 1.5)
    return found
