"""Decoding of image files for `harris.ray`, which follows the program ``harris detect``."""

import contextlib
import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("ray")
from PIL import Image

from harris.ray._images import ImageError, decode, has_image_ending

RANDOM = np.random.default_rng(1)


def file(image: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_of_16_bits(samples: NDArray[np.uint16], color_type: int) -> bytes:
    """Write a PNG. Filter 2 of each second line subtracts the line above."""
    height, width = samples.shape[:2]
    lines = samples.astype(">u2").reshape(height, -1).view(np.uint8)
    data = b""
    for y in range(height):
        data += b"\2" + (lines[y] - lines[y - 1]).tobytes() if y % 2 else b"\0" + lines[y].tobytes()
    header = struct.pack(">IIBBBBB", width, height, 16, color_type, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def tiff_of_16_bits(
    samples: NDArray[np.uint16], order: str, orientation: int = 1, deflate: bool = False
) -> bytes:
    """Write a TIFF of one strip; `order` is ``<`` or ``>``."""
    height, width, channels = samples.shape
    data = samples.astype(np.dtype(f"{order}u2")).tobytes()
    data = zlib.compress(data) if deflate else data
    bits = struct.pack(f"{order}{channels}H", *[16] * channels)
    entries = [(256, 3, width), (257, 3, height), (258, 0, 0), (259, 3, 8 if deflate else 1)]
    entries += [(262, 3, 2), (273, 4, 0), (274, 3, orientation), (277, 3, channels)]
    entries += [(278, 3, height), (279, 4, len(data))]
    end = 10 + 12 * len(entries) + 4
    text = struct.pack(order + "2sHIH", b"II" if order == "<" else b"MM", 42, 8, len(entries))
    for tag, kind, value in entries:
        if tag == 258:
            text += struct.pack(order + "HHII", tag, 3, channels, end)
        elif tag == 273:
            text += struct.pack(order + "HHII", tag, 4, 1, end + len(bits))
        elif kind == 3:
            text += struct.pack(order + "HHIHH", tag, 3, 1, value, 0)
        else:
            text += struct.pack(order + "HHII", tag, kind, 1, value)
    return text + bytes(4) + bits + data


def luma(rgb: NDArray[Any]) -> NDArray[Any]:
    weights = np.array([9798, 19235, 3735], np.uint64)
    return ((rgb.astype(np.uint64) @ weights + np.uint64(1 << 14)) >> np.uint64(15)).astype(
        rgb.dtype
    )


def same(found: NDArray[Any], expected: NDArray[Any]) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


RGB = RANDOM.integers(0, 256, (60, 90, 3)).astype(np.uint8)
GRAY = RGB[..., 0].copy()
WIDE = RANDOM.integers(0, 65536, (13, 9, 4)).astype(np.uint16)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM", "WEBP"])
def test_colour_becomes_rgb_or_luma(kind: str) -> None:
    data = file(Image.fromarray(RGB), kind, **({"lossless": True} if kind == "WEBP" else {}))
    same(decode(data, color=True), RGB)
    same(decode(data), luma(RGB))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM"])
@pytest.mark.parametrize("color", [False, True])
def test_gray_stays_gray(kind: str, color: bool) -> None:
    same(decode(file(Image.fromarray(GRAY), kind), color=color), GRAY)


def test_jpeg() -> None:
    image = Image.fromarray(RGB).resize((200, 100))
    data = file(image, "JPEG")
    with Image.open(io.BytesIO(data)) as opened:
        pixels = np.asarray(opened)
    same(decode(data, color=True), pixels)
    same(decode(data), luma(pixels))
    with Image.open(io.BytesIO(file(image.convert("L"), "JPEG"))) as opened:
        same(decode(file(image.convert("L"), "JPEG"), color=True), np.asarray(opened))


def test_alpha_is_dropped_and_nothing_blended() -> None:
    alpha = RANDOM.integers(0, 256, GRAY.shape).astype(np.uint8)
    rgba = file(Image.fromarray(np.dstack([RGB, alpha])), "PNG")
    same(decode(rgba, color=True), RGB)
    same(decode(rgba), luma(RGB))
    same(decode(file(Image.fromarray(np.dstack([GRAY, alpha])), "PNG")), GRAY)


def test_palettes_and_bits() -> None:
    palette = Image.fromarray(RGB).quantize(16)
    rgb = np.asarray(palette.convert("RGB"))
    for kind in ("PNG", "BMP", "TIFF"):
        same(decode(file(palette, kind), color=True), rgb)
        same(decode(file(palette, kind)), luma(rgb))
    same(decode(file(palette, "PNG", transparency=3), color=True), rgb)
    bits = Image.fromarray(GRAY > 99)
    for kind in ("PNG", "BMP", "TIFF", "PPM"):
        same(decode(file(bits, kind), color=False), (GRAY > 99) * np.uint8(255))


def test_16_bits_and_floats_stay() -> None:
    gray = WIDE[..., 0].copy()
    for kind in ("PNG", "TIFF", "PPM"):
        same(decode(file(Image.fromarray(gray), kind)), gray)
    same(decode(png_of_16_bits(WIDE[..., :1], 0)), gray)
    same(decode(png_of_16_bits(WIDE[..., :2], 4), color=True), gray)
    floats = RANDOM.random((7, 5)).astype(np.float32)
    same(decode(file(Image.fromarray(floats), "TIFF")), floats)


@pytest.mark.parametrize("color", [False, True])
def test_colour_of_16_bits_stays(color: bool) -> None:
    rgb = WIDE[..., :3].copy()
    expected = rgb if color else luma(rgb)
    same(decode(png_of_16_bits(rgb, 2), color=color), expected)
    same(decode(png_of_16_bits(WIDE, 6), color=color), expected)
    for order in "<>":
        for deflate in (False, True):
            same(decode(tiff_of_16_bits(rgb, order, 1, deflate), color=color), expected)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_turned(orientation: int) -> None:
    # The stored image, and the upright one by numpy.
    up = {
        1: RGB,
        2: RGB[:, ::-1],
        3: np.rot90(RGB, 2),
        4: RGB[::-1],
        5: RGB.swapaxes(0, 1),
        6: np.rot90(RGB, -1),
        7: np.rot90(RGB, 2).swapaxes(0, 1),
        8: np.rot90(RGB),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    for kind in ("PNG", "TIFF", "WEBP"):
        options = {"lossless": True} if kind == "WEBP" else {}
        data = file(Image.fromarray(RGB), kind, exif=exif, **options)
        same(decode(data, color=True), np.ascontiguousarray(up))
    jpeg = file(Image.fromarray(RGB), "JPEG", exif=exif)
    assert decode(jpeg).shape == up.shape[:2]
    turned = decode(tiff_of_16_bits(WIDE[..., :3], "<", orientation), color=True)
    assert turned.shape[:2] == ((13, 9) if orientation < 5 else (9, 13))


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")
def test_damaged_files_are_errors() -> None:
    good = {kind: file(Image.fromarray(RGB), kind) for kind in ("PNG", "JPEG", "BMP", "TIFF")}
    for data in (b"", b"\0" * 100, b"GIF89a", b"P5\n", *good.values()):
        with pytest.raises(ImageError) as raised:
            decode(data[: len(data) // 2])
        assert "\n" not in str(raised.value)
    for data in good.values():
        for _ in range(100):
            damaged = bytearray(data)
            for place in RANDOM.integers(0, min(len(data), 200), 4):
                damaged[place] = RANDOM.integers(0, 256)
            with contextlib.suppress(ImageError):
                assert decode(bytes(damaged)).ndim == 2


def test_huge_sizes_are_errors() -> None:
    header = struct.pack(">IIBBBBB", 1 << 20, 1 << 20, 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    with pytest.raises(ImageError, match="limit"):
        decode(data)


def test_endings() -> None:
    assert has_image_ending("/a/b.PNG")
    assert has_image_ending("c.jpeg")
    for path in ("/a.png/b", "png", "/a/png", "b.gif", "b.png.txt"):
        assert not has_image_ending(path)


def test_the_cases_of_the_program() -> None:
    cases = Path(__file__).parents[2] / "harris-cli" / "tests" / "cases"
    raster = [
        decode((cases / f"comment-in-raster.{kind}").read_bytes()) for kind in ("pgm", "same.png")
    ]
    same(raster[0], raster[1])
    turned = decode((cases / "orientation-6.jpg").read_bytes(), color=True)
    upright = decode((cases / "orientation-6.upright.png").read_bytes(), color=True)
    assert turned.shape == upright.shape
    assert np.abs(turned.astype(int) - upright).max() <= 4
