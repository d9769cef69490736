"""Images for the tests."""

import numpy as np
from numpy.typing import NDArray


def scene(height: int = 61, width: int = 83, seed: int = 1) -> NDArray[np.uint8]:
    """Draw rectangles on noise."""
    random = np.random.default_rng(seed)
    image = random.integers(0, 40, (height, width)).astype(np.uint8)
    for _ in range(12):
        top, left = random.integers(0, height - 8), random.integers(0, width - 8)
        bottom, right = top + random.integers(5, 30), left + random.integers(5, 30)
        image[top:bottom, left:right] = random.integers(60, 256)
    return image


def as_type(image: NDArray[np.uint8], dtype: str) -> NDArray[np.generic]:
    """Convert an image to another type of samples, of the same brightness."""
    if dtype == "uint8":
        return image
    if dtype == "uint16":
        return image.astype(np.uint16) * 257
    return (image / 255).astype(np.float32)
