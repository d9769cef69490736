"""The work of the command: actors that take the images of one part file at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import pyarrow as pa
import ray
from numpy.typing import NDArray
from PIL import Image
from ray.exceptions import OutOfMemoryError, RayActorError, WorkerCrashedError

import harris

from ._detection import RESULTS, AnyConfig, assigned, detect_images, make_detector
from ._files import is_uri, read_file
from ._images import ImageError, decode
from ._parts import Output, Part

__all__ = ["JobError", "Unit", "Worker", "run"]

T = TypeVar("T")
U = TypeVar("U")

# Images that a detector takes at once, and those that are read and decoded ahead of it.
_BATCH: Final = 8
_AHEAD: Final = 2 * _BATCH

# Files of a bucket that an actor reads at once.
_REMOTE_READS: Final = 16

# Deaths of its worker after which a part is split, or an image is given up.
_DEATHS: Final = 2


class JobError(RuntimeError):
    """The job cannot go on."""


@dataclass(frozen=True)
class Unit:
    """The images of a part file."""

    paths: Sequence[str]
    deaths: int = 0

    def again(self) -> list[Unit]:
        """Return what to do after the death of the worker: the same again, or its halves."""
        deaths = self.deaths + 1
        if deaths < _DEATHS or len(self.paths) == 1:
            return [replace(self, deaths=deaths)]
        middle = len(self.paths) // 2
        # One more death splits a half again.
        return [Unit(p, _DEATHS - 1) for p in (self.paths[:middle], self.paths[middle:])]


class Worker:
    """An actor that keeps a detector."""

    def __init__(self, config: AnyConfig, color: bool, backend: str, output: Output) -> None:
        self._config = config
        self._color = color
        self._backend = backend
        self._output = output
        self._detector: Any = None

    def start(self) -> str:
        """Make the detector. Errors of a constructor would look like a death of the actor."""
        # This process has a limit of its own.
        Image.MAX_IMAGE_PIXELS = None
        self._detector = make_detector(self._config, self._backend)
        return str(self._detector.backend)

    def work(self, unit: Unit) -> Part:
        """Detect in the images of a part, and write it."""
        paths = list(unit.paths)
        if unit.deaths:
            # The worker may have died after it wrote the part.
            part = self._output.find(paths)
            if part:
                return part
            if len(paths) == 1 and unit.deaths > _DEATHS:
                return self._output.write(paths, [_lost()])
        results: list[pa.Table] = []
        batch: list[NDArray[Any] | str] = []
        for image in self._images(paths):
            batch.append(image)
            if len(batch) == _BATCH:
                results.append(detect_images(self._detector, batch))
                batch = []
        if batch:
            results.append(detect_images(self._detector, batch))
        return self._output.write(paths, results)

    def _images(self, paths: list[str]) -> Iterator[NDArray[Any] | str]:
        """Read and decode images ahead of the detector. An error comes as its text."""
        threads, _ = assigned()
        with ThreadPoolExecutor(threads) as decoders, ThreadPoolExecutor(_REMOTE_READS) as readers:

            def read(path: str) -> Future[bytes]:
                return readers.submit(read_file, path)

            def decode_read(file: Future[bytes]) -> Future[NDArray[Any] | str]:
                return decoders.submit(_load, file.result, self._color)

            def decode_local(path: str) -> Future[NDArray[Any] | str]:
                return decoders.submit(_load, partial(read_file, path), self._color)

            if any(map(is_uri, paths)):
                images = _ahead(decode_read, _ahead(read, paths, _REMOTE_READS), _AHEAD)
            else:
                images = _ahead(decode_local, paths, _AHEAD)
            for image in images:
                yield image.result()


def _ahead(submit: Callable[[T], Future[U]], items: Iterable[T], count: int) -> Iterator[Future[U]]:
    """Submit items, and return their futures in order; `count` of them are submitted ahead."""
    submitted: deque[Future[U]] = deque()
    for item in items:
        submitted.append(submit(item))
        if len(submitted) > count:
            yield submitted.popleft()
    yield from submitted


def _load(read: Callable[[], bytes], color: bool) -> NDArray[Any] | str:
    """Read and decode an image; an error comes as its text."""
    try:
        return decode(read(), color=color)
    except ImageError as error:
        return str(error)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return f"the file cannot be read: {' '.join(reason.split())}"


def _lost() -> pa.Table:
    """Return the row of an image whose worker dies each time."""
    row: dict[str, Any] = {name: [] for name in RESULTS.names[:4]} | dict.fromkeys(
        RESULTS.names[4:7], 0
    )
    row["error"] = "the worker dies with this image, maybe for lack of memory"
    return pa.Table.from_pylist([row], schema=RESULTS)


def run(
    units: Sequence[Unit],
    make: Callable[[], Any],
    actors: int,
    wait: Callable[[int], None],
) -> Iterator[Part]:
    """Do units on actors, and return the parts as they are done.

    The units of an actor that dies are done by others. A new actor takes its place as soon as the
    cluster has room for it.

    Parameters
    ----------
    units : sequence of Unit
        What there is to do.
    make : callable
        Makes an actor of `Worker`.
    actors : int
        The number of actors.
    wait : callable
        Is called at least once a second, with the number of actors that have started.

    Raises
    ------
    JobError
        An actor cannot start, or cannot write.
    """
    queue = deque(units)
    left = len(queue)
    running: dict[Any, tuple[Any, Unit | None]] = {}
    idle: list[Any] = []
    started = failed_starts = 0

    def add() -> None:
        actor = make()
        running[actor.start.remote()] = (actor, None)

    try:
        for _ in range(min(actors, left)):
            add()
        while left:
            done, _ = ray.wait(list(running), timeout=1)
            wait(started)
            for reference in done:
                actor, unit = running.pop(reference)
                try:
                    result = ray.get(reference)
                except ray.exceptions.RayError as error:
                    if not _is_death(error, unit):
                        raise JobError(_line(getattr(error, "cause", None) or error)) from error
                    if unit is None:
                        failed_starts += 1
                        if failed_starts >= 3:
                            raise JobError(f"workers die at their start: {_line(error)}") from error
                    else:
                        halves = unit.again()
                        left += len(halves) - 1
                        queue.extend(halves)
                        started -= 1
                    ray.kill(actor)
                    add()
                else:
                    if unit is None:
                        failed_starts = 0
                        started += 1
                    else:
                        left -= 1
                        yield result
                    idle.append(actor)
            while idle and queue:
                actor, unit = idle.pop(), queue.popleft()
                running[actor.work.remote(unit)] = (actor, unit)
    finally:
        for actor in (*idle, *(actor for actor, _ in running.values())):
            ray.kill(actor)


def _is_death(error: BaseException, unit: Unit | None) -> bool:
    """Return whether a worker died, or its GPU fails at a unit."""
    if isinstance(error, (RayActorError, WorkerCrashedError, OutOfMemoryError)):
        return True
    return unit is not None and isinstance(getattr(error, "cause", None), harris.BackendError)


def _line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
