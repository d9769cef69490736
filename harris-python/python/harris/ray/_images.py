"""Reads image files with Pillow, by the rules of the program ``harris detect``."""

from __future__ import annotations

import io
import sys
import zlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import (
    BmpImagePlugin,
    Image,
    ImageFile,
    JpegImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    UnidentifiedImageError,
    WebPImagePlugin,
)

__all__ = ["ENDINGS", "MAX_PIXELS", "ImageError", "decode", "has_image_ending"]

ENDINGS: Final = (
    *("png", "jpg", "jpeg", "jpe", "jfif", "bmp", "dib", "tif", "tiff"),
    *("webp", "pbm", "pgm", "ppm", "pnm"),
)
"""Endings of the image files that are looked for in folders, in lower case."""

MAX_PIXELS: Final = 1 << 28
"""The largest number of pixels of an image."""

# Only formats whose plugins are imported can be named.
_FORMATS: Final = (
    PngImagePlugin.PngImageFile.format,
    JpegImagePlugin.JpegImageFile.format,
    BmpImagePlugin.BmpImageFile.format,
    TiffImagePlugin.TiffImageFile.format,
    WebPImagePlugin.WebPImageFile.format,
    PpmImagePlugin.PpmImageFile.format,
)
_ORIENTATION: Final = 0x0112
_BITS_PER_SAMPLE: Final = 258

# ITU-R BT.601 luma in 15-bit integers: the gray of OpenCV and of the program.
_LUMA: Final = (9798, 19235, 3735)

# The unpackers of Pillow that take the first and the second byte of each 16-bit sample.
_BYTES_OF_16_BITS: Final = {
    "RGB;16B": ("RGB;16B", "RGB;16L"),
    "RGB;16L": ("RGB;16B", "RGB;16L"),
    "RGB;16N": ("RGB;16B", "RGB;16L"),
    "RGBA;16B": ("RGBA;16B", "RGBA;16L"),
    "RGBA;16L": ("RGBA;16B", "RGBA;16L"),
    "RGBA;16N": ("RGBA;16B", "RGBA;16L"),
}


class ImageError(ValueError):
    """A file that is no image, is damaged, or is of a kind that is not supported."""


def has_image_ending(path: str) -> bool:
    """Return whether a name ends as those of image files do, in upper or lower case."""
    return path.rpartition(".")[2].lower() in ENDINGS and "." in path.rpartition("/")[2]


def decode(data: bytes, *, color: bool = False) -> NDArray[Any]:
    """Decode an image file for detection.

    A gray file stays gray. A colour file becomes RGB or luma. Samples of 16 bits and floats stay
    what they are. An alpha channel is dropped: nothing is blended. The image is turned as its Exif
    data say.

    Parameters
    ----------
    data : bytes
        The content of the file.
    color : bool, default False
        Keep the colours of colour files, instead of their luma.

    Returns
    -------
    ndarray
        An array of shape (H, W) or (H, W, 3), of uint8, uint16 or float32.

    Raises
    ------
    ImageError
        The content is damaged, or is no image of a kind that is supported.
    """
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            return _turned(_samples(image, data, color), _orientation(image))
    except ImageError:
        raise
    except MemoryError:
        raise ImageError("there is not enough memory for the image") from None
    except UnidentifiedImageError:
        raise ImageError(
            "it is not a PNG, JPEG, BMP, TIFF, WebP, PBM, PGM or PPM file, or its header is damaged"
        ) from None
    # Decoders raise exceptions of many types on damaged files: struct.error, KeyError, and others.
    except Exception as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise ImageError(f"the image is damaged or not supported: {text}") from error


def _samples(image: ImageFile.ImageFile, data: bytes, color: bool) -> NDArray[Any]:
    """Decode an opened image as it is stored: gray, or RGB or luma."""
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise ImageError(
            f"it claims {width} x {height} pixels, more than the limit of {MAX_PIXELS}"
        )
    mode = image.mode
    if mode in ("RGB", "RGBA", "RGBX", "RGBa", "LA") and _bits(image, data) == 16:
        if image.format == "PNG" and data[25] == 4:
            return _gray_of_16_bits(data)
        return _rgb_of_16_bits(image, data, color)
    if mode in ("1", "L"):
        return np.asarray(image.convert("L"))
    if mode in ("LA", "La"):
        return np.asarray(image.getchannel(0))
    if mode in ("P", "PA"):
        is_gray = image.format == "BMP" and _has_gray_palette(image)
        rgb = image.convert("RGB")
        return np.asarray(rgb.getchannel(0) if is_gray else _rgb_or_luma(rgb, color))
    if mode == "RGB":
        return np.asarray(_rgb_or_luma(image, color))
    if mode in ("RGBA", "RGBX", "RGBa"):
        return np.asarray(_rgb_or_luma(Image.merge("RGB", image.split()[:3]), color))
    if mode in ("CMYK", "YCbCr"):
        return np.asarray(_rgb_or_luma(image.convert("RGB"), color))
    if mode.startswith("I;16"):
        return np.asarray(image).astype(np.uint16, copy=False)
    if mode == "I" and image.format in ("PNG", "PPM"):
        return np.asarray(image).astype(np.uint16)
    if mode == "F":
        return np.asarray(image, np.float32)
    raise ImageError(f"images of Pillow's mode {mode} are not supported")


def _rgb_or_luma(image: Image.Image, color: bool) -> Image.Image:
    """Return an RGB image, or its luma."""
    if color:
        return image
    # Sums of these products are exact as floats. Pillow adds 1/2 and truncates.
    weights = tuple(weight / 32768 for weight in _LUMA)
    return image.convert("L", matrix=(*weights, 0.0))


def _bits(image: ImageFile.ImageFile, data: bytes) -> int:
    """Return the bits a sample of a file whose samples Pillow would cut to 8 bits."""
    if image.format == "PNG":
        return data[24]
    if image.format == "TIFF":
        bits = getattr(image, "tag_v2", {}).get(_BITS_PER_SAMPLE, (8,))
        return int(max(bits)) if isinstance(bits, tuple) else int(bits)
    if image.format == "PPM":
        # The decoder's arguments are the raw mode and the greatest value.
        args = image.tile[0][3] if image.tile else None
        return 16 if isinstance(args, tuple) and int(args[-1]) > 255 else 8
    return 8


def _rgb_of_16_bits(image: ImageFile.ImageFile, data: bytes, color: bool) -> NDArray[np.uint16]:
    """Decode a colour image of 16 bits, of which Pillow gives the first or the second bytes."""
    tile = image.tile[0] if len(image.tile) == 1 else None
    args = tile[3] if tile else None
    raw_mode = str(args[0] if isinstance(args, tuple) else args)
    pair = _BYTES_OF_16_BITS.get(raw_mode)
    if pair is None:
        raise ImageError(f"{image.format} of 16 bits a sample in this layout is not supported")
    halves = []
    for half in pair:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
            name, box, offset, given = opened.tile[0]
            new: Any = (half, *given[1:]) if isinstance(given, tuple) else half
            opened.tile = [type(opened.tile[0])(name, box, offset, new)]
            halves.append(np.asarray(opened)[..., :3].astype(np.uint16))
    # libtiff gives samples in the order of this machine's bytes.
    is_big = raw_mode.endswith("B") or (raw_mode.endswith("N") and sys.byteorder == "big")
    high, low = halves if is_big else reversed(halves)
    rgb = (high << 8 | low).astype(np.uint16)
    if color:
        return rgb
    wide = rgb.astype(np.uint32)
    luma = np.full(wide.shape[:2], 1 << 14, np.uint32)
    for channel, weight in enumerate(_LUMA):
        luma += wide[..., channel] * np.uint32(weight)
    return (luma >> 15).astype(np.uint16)


def _gray_of_16_bits(data: bytes) -> NDArray[np.uint16]:
    """Decode a PNG of gray and alpha of 16 bits, as if it had four channels of 8 bits."""
    start = 12  # Of the first chunk's name.
    header = data[start : start + 12] + bytes([8, 6]) + data[start + 14 : start + 17]
    checksum = zlib.crc32(header).to_bytes(4, "big")
    with Image.open(
        io.BytesIO(data[:start] + header + checksum + data[start + 21 :]), formats=("PNG",)
    ) as opened:
        pixels = np.asarray(opened).astype(np.uint16)
    return (pixels[..., 0] << 8 | pixels[..., 1]).astype(np.uint16)


def _has_gray_palette(image: Image.Image) -> bool:
    palette = np.asarray(image.getpalette("RGB") or [], np.uint8).reshape(-1, 3)
    return bool((palette == palette[:, :1]).all())


def _orientation(image: Image.Image) -> int:
    """Return the orientation in a decoded image's Exif data, 1 to 8; 1 if they have none."""
    if image.format == "TIFF":
        # Pillow has turned it.
        return 1
    data = image.info.get("exif")
    if not data:
        return 1
    try:
        exif = Image.Exif()
        exif.load(data)
        value = exif.get(_ORIENTATION, 1)
    # Damaged Exif data are none.
    except Exception:
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def _turned(samples: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Turn an image as an Exif orientation says."""
    if orientation >= 5:
        samples = samples.swapaxes(0, 1)
    # Orientations whose rows, and whose columns, run backwards after that.
    if orientation in (3, 4, 7, 8):
        samples = samples[::-1]
    if orientation in (2, 3, 6, 7):
        samples = samples[:, ::-1]
    return np.ascontiguousarray(samples)
