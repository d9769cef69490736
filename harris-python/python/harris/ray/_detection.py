"""Detectors for Ray's actors, and tables of their keypoints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import ray
from numpy.typing import NDArray

import harris

__all__ = [
    "BACKENDS",
    "COLOR_PRESETS",
    "RESULTS",
    "AnyConfig",
    "assigned",
    "cluster_gpus",
    "cluster_resources",
    "detect_images",
    "make_detector",
    "read_config",
    "resolve_config",
]

AnyConfig: TypeAlias = harris.Config | harris.FastHessianConfig

COLOR_PRESETS: Final = frozenset({"chahuara_2017"})
"""The presets that use the colours of colour images."""

BACKENDS: Final = ("auto", "cuda", "cpu", "reference")
"""The names of backends."""

_LIST: Final = pa.list_(pa.float32())

RESULTS: Final = pa.schema(
    [
        pa.field("x", _LIST, nullable=False),
        pa.field("y", _LIST, nullable=False),
        pa.field("response", _LIST, nullable=False),
        pa.field("scale", _LIST, nullable=False),
        pa.field("count", pa.int32(), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("height", pa.int32(), nullable=False),
        pa.field("error", pa.string()),
    ]
)
"""The columns of results."""

# Places in the columns of `Keypoints.table`: x, y, response, scale.
_COLUMNS: Final = (0, 1, 3, 2)


def resolve_config(config: str | AnyConfig | None) -> AnyConfig:
    """Return a configuration, or that of the preset of either detector with this name.

    Raises
    ------
    harris.ConfigError
        No preset has the name.
    """
    if isinstance(config, str):
        if config in harris.FastHessianConfig.presets():
            return harris.FastHessianConfig(config)
        return harris.Config(config)
    return harris.Config() if config is None else config


def read_config(path: str) -> tuple[AnyConfig, bool]:
    """Read a configuration file in JSON, as ``harris detect --print-config json`` writes it.

    Returns
    -------
    tuple
        The configuration, and whether it uses the colours of colour images.

    Raises
    ------
    harris.ConfigError, OSError, UnicodeDecodeError
        The file is not valid, or cannot be read.
    """
    text = Path(path).read_text("utf-8")
    try:
        file = json.loads(text)
    except ValueError as error:
        raise harris.ConfigError(str(error)) from None
    is_blobs = isinstance(file, dict) and file.get("detector") == "fast_hessian"
    kind = harris.FastHessianConfig if is_blobs else harris.Config
    config = kind.from_json(text)
    return config, bool(file.get("color", False))


def cluster_resources() -> dict[str, float]:
    """Return the CPUs and GPUs of the cluster."""
    if not ray.is_initialized():
        ray.init()
    resources: Any = ray.cluster_resources
    return dict(resources())


def cluster_gpus(backend: str) -> float:
    """Return the default number of GPUs for an actor: 1 if the backend uses a GPU that is there."""
    if backend not in ("auto", "cuda"):
        return 0.0
    return 1.0 if backend == "cuda" or cluster_resources().get("GPU", 0) > 0 else 0.0


def assigned() -> tuple[int, bool]:
    """Return what Ray gave to this actor: whole CPUs, at least 1, and whether it has a GPU."""
    context: Any = ray.get_runtime_context()
    resources = context.get_assigned_resources()
    return max(1, int(resources.get("CPU", 1))), resources.get("GPU", 0) > 0


def make_detector(config: AnyConfig, backend: str) -> harris.Detector | harris.FastHessian:
    """Make a detector for the CPUs or the GPU that Ray gave to this actor.

    ``auto`` is CUDA for an actor with a GPU, and the CPU for others.
    """
    threads, has_gpu = assigned()
    if backend == "auto":
        backend = "cuda" if has_gpu else "cpu"
    given = threads if backend == "cpu" else None
    if isinstance(config, harris.FastHessianConfig):
        return harris.FastHessian(config, backend=backend, threads=given)
    return harris.Detector(config, backend=backend, threads=given)


def detect_images(
    detector: harris.Detector | harris.FastHessian, images: Sequence[NDArray[Any] | str]
) -> pa.Table:
    """Detect in images, and return a row of `RESULTS` for each.

    Parameters
    ----------
    detector : Detector or FastHessian
        The detector.
    images : sequence of ndarray or str
        The images. A text is the error of an image that could not be read.
    """
    found: list[harris.Keypoints | str] = [
        image if isinstance(image, str) else harris.Keypoints(np.empty((0, 4), np.float32))
        for image in images
    ]
    good: list[tuple[int, Any]] = [
        (place, image) for place, image in enumerate(images) if not isinstance(image, str)
    ]
    try:
        results: list[harris.Keypoints | str] = list(
            detector.detect_batch([image for _, image in good])
        )
    except (harris.InputError, harris.InputTypeError, harris.OutOfMemoryError, harris.PanicError):
        # Find out which of them it was.
        results = [_detect_one(detector, image) for _, image in good]
    for (place, _), result in zip(good, results, strict=True):
        found[place] = result
    return _table(images, found)


def _detect_one(
    detector: harris.Detector | harris.FastHessian, image: Any
) -> harris.Keypoints | str:
    try:
        return detector.detect(image)
    except (
        harris.InputError,
        harris.InputTypeError,
        harris.OutOfMemoryError,
        harris.PanicError,
    ) as error:
        return str(error)


def _table(
    images: Sequence[NDArray[Any] | str], found: Sequence[harris.Keypoints | str]
) -> pa.Table:
    tables = [np.empty((0, 4), np.float32) if isinstance(f, str) else f.table for f in found]
    counts = np.array([len(table) for table in tables], np.int32)
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
    values = np.concatenate([np.empty((0, 4), np.float32), *tables])
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(values[:, column])))
        for column in _COLUMNS
    ]
    shapes: list[tuple[int, ...]] = [getattr(image, "shape", ()) for image in images]
    sizes = [shape if len(shape) >= 2 else (0, 0) for shape in shapes]
    return pa.table(
        [
            *lists,
            pa.array(counts),
            pa.array([size[1] for size in sizes], pa.int32()),
            pa.array([size[0] for size in sizes], pa.int32()),
            pa.array([f if isinstance(f, str) else None for f in found], pa.string()),
        ],
        schema=RESULTS,
    )
