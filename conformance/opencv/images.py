"""The images and masks on which corners are compared with OpenCV's."""

import dataclasses
import pathlib

import cv2
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "conformance/cases"
WIDTH, HEIGHT = 96, 80


@dataclasses.dataclass(frozen=True)
class Image:
    """An 8-bit image, and the kind of picture it is."""

    name: str
    kind: str
    gray: np.ndarray
    # The ratio of contrasts of an image of kind "threshold", as a numerator and a denominator.
    contrasts: tuple[int, int] | None = None


def images():
    """All images by name."""
    makers = [boards, screens, specks, plateaus, gradients, noise, small, photographs, thresholds, cases]
    return {image.name: image for make in makers for image in make()}


def board(square, dark, light, height=HEIGHT, width=WIDTH):
    y, x = np.indices((height, width)) // square
    return np.where((x + y) % 2 == 0, dark, light).astype(np.uint8)


def boards():
    """Chessboards: squares and contrasts."""
    for square, dark, light in [
        (1, 0, 255),
        (2, 0, 255),
        (3, 10, 200),
        (4, 0, 255),
        (5, 0, 255),
        (5, 120, 131),
        (7, 30, 220),
        (8, 127, 128),
        (11, 0, 255),
        (16, 64, 192),
    ]:
        yield Image(f"board-{square}-{dark}-{light}", "board", board(square, dark, light))
    turn = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 20, 1)
    turned = cv2.warpAffine(board(9, 0, 255), turn, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR)
    yield Image("board-turned", "board", turned)


def screens():
    """Screenshots: text, windows, buttons."""
    text = np.full((HEIGHT, WIDTH), 255, np.uint8)
    for line, (words, kind) in enumerate(
        [("Corners", cv2.LINE_AA), ("of Harris", cv2.LINE_8), ("+# HTEF", cv2.LINE_8)]
    ):
        cv2.putText(text, words, (3, 22 + 24 * line), cv2.FONT_HERSHEY_SIMPLEX, 0.6, 0, 1, kind)
    yield Image("text", "screen", text)
    yield Image("text-inverse", "screen", 255 - text)
    window = np.full((160, 240), 200, np.uint8)
    for x, y, w, h, level in [
        (8, 8, 140, 100, 255),
        (8, 8, 140, 12, 60),
        (90, 60, 140, 90, 240),
        (90, 60, 140, 12, 90),
    ]:
        cv2.rectangle(window, (x, y), (x + w, y + h), level, -1)
        cv2.rectangle(window, (x, y), (x + w, y + h), 0, 1)
    for i in range(4):
        cv2.rectangle(window, (100 + 32 * i, 120), (120 + 32 * i, 132), 128, -1)
    cv2.putText(window, "OK", (100, 110), cv2.FONT_HERSHEY_PLAIN, 1, 0, 1, cv2.LINE_8)
    yield Image("windows", "screen", window)


def specks():
    """Dots at random places: equal ones, different ones, and squares of 2 x 2 pixels."""
    random = np.random.default_rng(1)
    equal = np.zeros((HEIGHT, WIDTH), np.uint8)
    equal[random.integers(0, HEIGHT, 120), random.integers(0, WIDTH, 120)] = 255
    yield Image("specks-equal", "specks", equal)
    different = np.full((HEIGHT, WIDTH), 40, np.uint8)
    different[random.integers(0, HEIGHT, 200), random.integers(0, WIDTH, 200)] = random.integers(41, 256, 200)
    yield Image("specks-different", "specks", different)
    squares = np.full((HEIGHT, WIDTH), 90, np.uint8)
    for x, y in zip(random.integers(0, WIDTH - 2, 60), random.integers(0, HEIGHT - 2, 60)):
        squares[y : y + 2, x : x + 2] = 200
    yield Image("specks-squares", "specks", squares)


def plateaus():
    """Flat blocks, with many equal responses next to each other."""
    random = np.random.default_rng(2)
    yield Image("flat", "plateaus", np.full((HEIGHT, WIDTH), 77, np.uint8))
    yield Image(
        "mosaic-4", "plateaus", np.kron(random.choice([0, 128, 255], (20, 24)), np.ones((4, 4))).astype(np.uint8)
    )
    yield Image(
        "mosaic-6", "plateaus", np.kron(random.choice([50, 60], (14, 16)), np.ones((6, 6)))[:HEIGHT].astype(np.uint8)
    )
    blocks = np.full((HEIGHT, WIDTH), 20, np.uint8)
    for i, (x, y) in enumerate((x, y) for y in range(4, 72, 14) for x in range(4, 88, 14)):
        blocks[y : y + 3 + i % 5, x : x + 3 + i % 4] = 220
    yield Image("blocks", "plateaus", blocks)


def gradients():
    """Slopes: even, to a corner, round, and steps."""
    y, x = np.indices((HEIGHT, WIDTH))
    yield Image("slope", "gradient", (2 * x + y // 2).astype(np.uint8))
    yield Image(
        "pyramid",
        "gradient",
        (3 * np.minimum(np.minimum(x, WIDTH - 1 - x), np.minimum(y, HEIGHT - 1 - y))).astype(np.uint8),
    )
    yield Image("rings", "gradient", (127.5 + 127 * np.cos(0.02 * ((x - 48) ** 2 + (y - 40) ** 2))).astype(np.uint8))
    yield Image("step", "gradient", np.where(x < 40, 30, 210).astype(np.uint8))


def noise():
    """Noise: of all levels, of few, of two, and smoothed."""
    random = np.random.default_rng(3)
    yield Image("noise", "noise", random.integers(0, 256, (HEIGHT, WIDTH), np.uint8))
    yield Image("noise-faint", "noise", random.integers(100, 104, (HEIGHT, WIDTH), np.uint8))
    yield Image("noise-two", "noise", 255 * random.integers(0, 2, (HEIGHT, WIDTH), np.uint8))
    yield Image(
        "noise-smooth", "noise", cv2.GaussianBlur(random.integers(0, 256, (HEIGHT, WIDTH), np.uint8), (9, 9), 2)
    )


def small():
    """Sizes down to one pixel, where borders reflect more than once."""
    random = np.random.default_rng(4)
    for width, height in [(1, 1), (1, 9), (2, 2), (3, 3), (4, 3), (5, 7), (17, 33), (33, 17), (65, 3), (31, 31)]:
        yield Image(f"noise-{width}x{height}", "small", random.integers(0, 256, (height, width), np.uint8))
    yield Image("board-17x33", "small", board(4, 20, 230, 33, 17))


def photographs():
    """The photographs in examples/data, as they are, scaled, and parts of them."""
    of = {}
    for path in sorted((ROOT / "examples/data").glob("*.png")):
        of[path.stem] = read(path)
        yield Image(path.stem, "photograph", of[path.stem])
    parts = {
        "camera-half": cv2.resize(of["camera"], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
        "camera-part": of["camera"][150:227, 120:221],
        "camera-dark": of["camera"][100:200, 200:333] // 8,
        "brick-part": of["brick"][201 : 201 + HEIGHT, 99 : 99 + WIDTH],
        "brick-third": cv2.resize(of["brick"], (171, 171), interpolation=cv2.INTER_AREA),
        "coffee-part": of["coffee"][31:230, 40:291],
        "coffee-twice": cv2.resize(of["coffee"][100:200, 200:300], (200, 200), interpolation=cv2.INTER_LINEAR),
    }
    for name, gray in parts.items():
        yield Image(name, "photograph", np.ascontiguousarray(gray))


def thresholds():
    """The same corners with two contrasts, so that responses have a known ratio, up to rounding."""
    for weak, strong in [(1, 2), (1, 10), (1, 3), (3, 7), (5, 9), (2, 11)]:
        gray = np.zeros((HEIGHT, WIDTH), np.uint8)
        unit = 255 // strong
        for i, (x, y) in enumerate((x, y) for y in range(6, 70, 16) for x in range(6, 86, 16)):
            gray[y : y + 7, x : x + 7] = unit * (strong if i % 2 == 0 else weak)
        yield Image(f"contrasts-{weak}-{strong}", "threshold", gray, (weak, strong))


def cases():
    """The images with committed lists."""
    for path in sorted(CASES.glob("*.png")):
        if ".mask." not in path.name:
            yield Image(path.stem, "case", read(path))


def read(path):
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    return image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


MASKS = ["half", "chequered", "random", "empty", "case"]


def mask(kind, shape):
    """A mask of a shape: pixels that are not 0 are in it."""
    y, x = np.indices(shape)
    match kind:
        case "half":
            return np.where(x < shape[1] // 2, 255, 0).astype(np.uint8)
        case "chequered":
            return np.where((x // 6 + y // 6) % 2 == 0, 0, 255).astype(np.uint8)
        case "random":
            return np.random.default_rng(shape).choice(np.array([0, 0, 1, 255], np.uint8), shape)
        case "empty":
            return np.zeros(shape, np.uint8)
        case "case":
            return read(CASES / "mask-half.mask.png")
    raise ValueError(kind)
