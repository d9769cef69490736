"""Detectors that are kept from call to call, for functions without a detector of their own."""

from __future__ import annotations

import os
import threading
from typing import Any

from ._core import Detector

__all__ = ["LIMIT", "Options", "give", "take"]

Options = tuple[tuple[str, Any], ...]
"""Changes to the preset ``opencv_gftt``."""

LIMIT = 32
"""The most idle detectors."""


class _IdleDetectors:
    """Idle detectors by their options. The least recently used are dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Options are removed when a detector is taken, and added at the end: the first is the
        # oldest.
        self._idle: dict[Options, list[Detector]] = {}
        self._count = 0

    def take(self, options: Options) -> Detector | None:
        """Remove and return a detector, if there is one."""
        with self._lock:
            group = self._idle.pop(options, None)
            if group is None:
                return None
            detector = group.pop()
            self._count -= 1
            if group:
                self._idle[options] = group
            return detector

    def give(self, options: Options, detector: Detector) -> None:
        """Add a detector."""
        dropped = None
        with self._lock:
            self._idle.setdefault(options, []).append(detector)
            self._count += 1
            if self._count > LIMIT:
                oldest, group = next(iter(self._idle.items()))
                dropped = group.pop(0)
                self._count -= 1
                if not group:
                    del self._idle[oldest]
        # Its memory is freed without the lock.
        del dropped


_idle = _IdleDetectors()


def take(options: Options) -> Detector:
    """Return an idle detector on the CPU, or make one."""
    return _idle.take(options) or Detector("opencv_gftt", backend="cpu", **dict(options))


def give(options: Options, detector: Detector) -> None:
    """Keep a detector for another call with these options."""
    _idle.give(options, detector)


def _after_fork() -> None:
    """Forget the detectors of the parent: one of its threads may have held the lock."""
    global _idle
    _idle = _IdleDetectors()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
