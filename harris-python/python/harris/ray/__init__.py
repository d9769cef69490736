"""Detection on a cluster with Ray.

`detect` adds keypoints to a Ray Dataset of images. The command ``python -m harris.ray`` does a
folder, a list or a bucket of image files, and can be run again after an interrupt.

The extra ``ray`` installs what both need: ``pip install harris[ray]``.
"""

from __future__ import annotations

from typing import Any

try:
    import PIL  # noqa: F401
    import pyarrow as pa
    import ray.data
except ImportError as error:
    message = f'{error}: install what harris.ray needs with pip install "harris[ray]"'
    raise ImportError(message) from error

import numpy as np
from ray.data.block import BlockAccessor

import harris

from ._detection import (
    BACKENDS,
    RESULTS,
    AnyConfig,
    cluster_gpus,
    detect_images,
    make_detector,
    resolve_config,
)

__all__ = ["detect"]


def detect(
    dataset: ray.data.Dataset,
    config: str | AnyConfig | None = None,
    *,
    backend: str = "auto",
    column: str = "image",
    batch_size: int = 32,
    num_cpus_per_actor: float = 1,
    num_gpus_per_actor: float | None = None,
    concurrency: int | tuple[int, int] | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """Find the keypoints of a dataset's images.

    Each actor makes one detector and keeps it. An actor on the CPU uses as many threads as Ray
    gives it CPUs.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Rows with an image, such as those of ``ray.data.read_images``. An image has the shape
        (H, W), (H, W, 1) or (H, W, 3), and samples of uint8, uint16 or float32. Sizes may differ.
    config : str, Config or FastHessianConfig, optional
        The name of a preset, or a configuration. A `FastHessianConfig` finds blobs.
    backend : str, default "auto"
        ``auto`` is CUDA for actors with a GPU, and the CPU for others.
    column : str, default "image"
        The column of images.
    batch_size : int, default 32
        The number of images that an actor takes at once.
    num_cpus_per_actor : float, default 1
        The CPUs, and threads, of an actor.
    num_gpus_per_actor : float, optional
        The GPUs of an actor; 0.5 lets two share one. It is 1 by default if the backend is ``cuda``,
        or is ``auto`` and the cluster has a GPU; else it is 0.
    concurrency : int or (int, int), optional
        The number of actors, or the least and the greatest number.
    **options
        Further arguments of ``Dataset.map_batches``.

    Returns
    -------
    ray.data.Dataset
        The dataset without the images, with these columns instead:

        - ``x``, ``y``, ``response``, ``scale``: lists of float32, one entry a keypoint,
        - ``count``: the number of keypoints,
        - ``width``, ``height``: the size of the image in pixels,
        - ``error``: null, or why there are no keypoints.

        An image that cannot be used does not end the job. Its row has an error and empty lists.

    Raises
    ------
    harris.ConfigError
        The configuration or the backend has no such choice.

    Examples
    --------
    >>> import ray, harris.ray
    >>> images = ray.data.read_images("photos", include_paths=True)  # doctest: +SKIP
    >>> corners = harris.ray.detect(images, "opencv_gftt")  # doctest: +SKIP
    >>> corners.write_parquet("corners")  # doctest: +SKIP
    """
    resolved = resolve_config(config)
    if backend not in BACKENDS:
        raise harris.ConfigError(f"no backend is called {backend}; there are {', '.join(BACKENDS)}")
    if num_gpus_per_actor is None:
        num_gpus_per_actor = cluster_gpus(backend)
    if concurrency is not None and "compute" not in options:
        least, most = (concurrency, concurrency) if isinstance(concurrency, int) else concurrency
        options["compute"] = ray.data.ActorPoolStrategy(min_size=least, max_size=most)
    return dataset.map_batches(
        _Detect,
        fn_constructor_kwargs={"config": resolved, "backend": backend, "column": column},
        batch_format="pyarrow",
        batch_size=batch_size,
        num_cpus=num_cpus_per_actor,
        num_gpus=num_gpus_per_actor or None,
        **options,
    )


class _Detect:
    """An actor's function for ``map_batches``."""

    def __init__(self, config: AnyConfig, backend: str, column: str) -> None:
        self._detector = make_detector(config, backend)
        self._column = column

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Replace the images of a batch by their keypoints."""
        others = batch.drop_columns([self._column])
        for name in RESULTS.names:
            if name in others.column_names:
                raise harris.InputError(f"the dataset has a column {name} already: rename it")
        images = BlockAccessor.for_block(batch.select([self._column])).to_numpy(self._column)
        rows = ["there is no image" if image is None else np.asarray(image) for image in images]
        found = detect_images(self._detector, rows)
        for name in RESULTS.names:
            others = others.append_column(RESULTS.field(name), found[name])
        return others
