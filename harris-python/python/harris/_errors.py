"""The exceptions of the package."""

from __future__ import annotations

__all__ = [
    "BackendError",
    "ClosedError",
    "ConfigError",
    "Error",
    "InputError",
    "InputTypeError",
    "OutOfMemoryError",
    "PanicError",
]


class Error(Exception):
    """The base of all exceptions of the package."""

    __module__ = "harris"


class ConfigError(Error, ValueError):
    """A value of a configuration or an option is out of range, or names no choice."""

    __module__ = "harris"


class InputError(Error, ValueError):
    """An image, a mask, keypoints or descriptors that the library cannot use."""

    __module__ = "harris"


class InputTypeError(Error, TypeError):
    """An argument has a wrong type, such as an image of float64."""

    __module__ = "harris"


class BackendError(Error, RuntimeError):
    """A backend fails, or cannot be used: there is no GPU, or threads cannot be started."""

    __module__ = "harris"


class OutOfMemoryError(Error, MemoryError):
    """Memory of the host or of a GPU cannot be had."""

    __module__ = "harris"


class ClosedError(Error, ValueError):
    """The object was closed."""

    __module__ = "harris"


class PanicError(Error, RuntimeError):
    """A defect of the library. The object works again for the next call."""

    __module__ = "harris"
