"""Lists of keypoints and of matches, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["Keypoint", "Keypoints", "Match", "Matches"]


class Keypoint(NamedTuple):
    """A keypoint: place, scale and response."""

    x: float
    """Column in pixels; the centre of the leftmost pixel is 0."""
    y: float
    """Row in pixels; the centre of the topmost pixel is 0."""
    scale: float
    """Size of the structure in pixels; 1 for corners."""
    response: float
    """The measure's value, in the units of an image in 0..1."""


class Keypoints:
    """Keypoints as the columns of one array.

    ``len``, iteration and indexing work as in a list of `Keypoint`. A slice, an array of indices
    or a mask gives `Keypoints`.

    Parameters
    ----------
    table : array_like
        An array of shape (N, 4) with the columns x, y, scale and response, or of shape (N, 2) with
        x and y; the scale is then 1 and the response 0.

    Examples
    --------
    >>> import numpy as np
    >>> import harris
    >>> image = np.zeros((48, 64), np.uint8)
    >>> image[12:36, 16:40] = 255
    >>> found = harris.Detector().detect(image)
    >>> len(found)
    4
    >>> found.xy[0].tolist()
    [16.0, 12.0]
    >>> [(k.x, k.y) for k in found][1:3]
    [(39.0, 12.0), (16.0, 35.0)]
    >>> found[:2]
    harris.Keypoints([[16, 12, 1, 0.0189665519], [39, 12, 1, 0.0189665519]])
    """

    __module__ = "harris"
    __slots__ = {
        "table": "The columns x, y, scale and response: float32 of shape (N, 4).",
    }
    __hash__ = None  # type: ignore[assignment]

    table: NDArray[np.float32]

    def __init__(self, table: ArrayLike) -> None:
        rows = np.asarray(table, np.float32)
        if rows.ndim == 2 and rows.shape[1] == 2:
            full = np.zeros((len(rows), 4), np.float32)
            full[:, :2] = rows
            full[:, 2] = 1
            rows = full
        if rows.ndim != 2 or rows.shape[1] != 4:
            from ._errors import InputError

            raise InputError(f"keypoints have the shape (N, 4) or (N, 2), not {rows.shape}")
        self.table = np.ascontiguousarray(rows)

    @classmethod
    def _of_table(cls, table: NDArray[np.float32]) -> Keypoints:
        """Wrap a table of shape (N, 4)."""
        found = cls.__new__(cls)
        found.table = table
        return found

    @property
    def xy(self) -> NDArray[np.float32]:
        """Columns and rows in pixels: a view of shape (N, 2)."""
        return self.table[:, :2]

    @property
    def scale(self) -> NDArray[np.float32]:
        """Sizes in pixels: a view of shape (N,)."""
        return self.table[:, 2]

    @property
    def response(self) -> NDArray[np.float32]:
        """Responses, in the units of an image in 0..1: a view of shape (N,)."""
        return self.table[:, 3]

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Keypoint]:
        return map(Keypoint._make, self.table.tolist())

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Keypoint: ...
    @overload
    def __getitem__(self, index: slice | NDArray[Any] | list[int] | list[bool]) -> Keypoints: ...
    def __getitem__(self, index: Any) -> Keypoint | Keypoints:
        rows = self.table[index]
        if rows.ndim == 1 and rows.shape == (4,):
            return Keypoint._make(rows.tolist())
        return type(self)(rows)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != self.table.dtype:
            if copy is False:
                raise ValueError(f"keypoints cannot be {np.dtype(dtype)} without a copy")
            return self.table.astype(dtype)
        return self.table.copy() if copy else self.table

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Keypoints):
            return NotImplemented
        return self.table.shape == other.table.shape and bool(
            np.array_equal(self.table.view(np.uint32), other.table.view(np.uint32))
        )

    def __reduce__(self) -> tuple[type[Keypoints], tuple[NDArray[np.float32]]]:
        return type(self), (self.table,)

    def __repr__(self) -> str:
        def text(row: list[float]) -> str:
            return "[" + ", ".join(f"{np.float32(value):.9g}" for value in row) + "]"

        shown = [text(row) for row in self.table[:3].tolist()]
        if len(self) > 3:
            shown.append(f"... {len(self)} in all")
        return f"harris.Keypoints([{', '.join(shown)}])"


class Match(NamedTuple):
    """A match: a query descriptor and its nearest train descriptor."""

    query: int
    """Row of the query descriptor."""
    train: int
    """Row of the train descriptor."""
    distance: float
    """Euclidean distance, 0 to 2 for descriptors of length 1."""


class Matches(NamedTuple):
    """Matches as arrays of equal length, in the order of queries."""

    query: NDArray[np.int64]
    """Rows of the query descriptors."""
    train: NDArray[np.int64]
    """Rows of the train descriptors."""
    distance: NDArray[np.float32]
    """Euclidean distances."""
