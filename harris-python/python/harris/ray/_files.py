"""Lists, reads and writes files: local ones, and those of buckets through `pyarrow.fs`."""

from __future__ import annotations

import os
import posixpath
import uuid
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pyarrow import fs

from ._images import has_image_ending

__all__ = [
    "UsageError",
    "is_uri",
    "list_images",
    "locate",
    "printable",
    "read_file",
    "remove_files",
    "write_file",
]


class UsageError(ValueError):
    """A wrong argument of the command."""


def is_uri(path: str) -> bool:
    """Return whether a path names a file system, as in ``s3://bucket/photos``."""
    return "://" in path


@lru_cache
def _file_system(base: str) -> tuple[fs.FileSystem, str]:
    system, root = fs.FileSystem.from_uri(base)
    return system, root


def locate(path: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a local path or a URI, and the path in it.

    The query of a URI has options of its file system, such as ``endpoint_override`` for S3.
    """
    if not is_uri(path):
        return fs.LocalFileSystem(), os.path.abspath(path)
    scheme, host, key, query = _split(path)
    system, root = _file_system(urlunsplit((scheme, host, "/", query, "")))
    return system, posixpath.join(root, key) if key else root.rstrip("/") or "/"


def _split(uri: str) -> tuple[str, str, str, str]:
    """Return scheme, host or bucket, path without its first slash, and query."""
    scheme, rest = uri.split("://", 1)
    rest, _, query = rest.partition("?")
    host, _, key = rest.partition("/")
    return scheme, host, key, query


def list_images(source: str) -> list[str]:
    """List the images of a folder and those below it, of a list file, or one image.

    A list file has a path or a URI a line. Relative paths start from its folder. Its order is
    kept, and repeated lines are left out. Other lists are sorted.

    Raises
    ------
    UsageError
        The source is not there, or has no images.
    """
    if not is_uri(source):
        return _list_local(os.path.abspath(source), source)
    shown = printable(source)
    try:
        system, path = locate(source)
        info = system.get_file_info(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot list {shown}: {error}") from error
    if info.type == fs.FileType.NotFound:
        raise UsageError(f"{shown} is not there")
    if info.type == fs.FileType.File:
        if has_image_ending(path):
            return [source]
        folder = posixpath.dirname(source.partition("?")[0])
        return _lines(read_file(source), folder, shown)
    base, _, query = source.rstrip("/").partition("?")
    tail = f"?{query}" if query else ""
    try:
        entries = system.get_file_info(fs.FileSelector(path, recursive=True))
    except OSError as error:
        raise UsageError(f"cannot list {shown}: {error}") from error
    start = len(path.rstrip("/")) + 1
    names = [f"{base.rstrip('/')}/{entry.path[start:]}{tail}" for entry in entries if entry.is_file]
    return _some([n for n in names if has_image_ending(n.partition("?")[0])], shown)


def _list_local(path: str, shown: str) -> list[str]:
    if os.path.isdir(path):

        def fail(error: OSError) -> None:
            raise UsageError(f"cannot list {error.filename}: {error.strerror}")

        names = [
            os.path.join(folder, name)
            for folder, _, files in os.walk(path, onerror=fail, followlinks=False)
            for name in files
            if has_image_ending(name)
        ]
        return _some(names, shown)
    if not os.path.exists(path):
        raise UsageError(f"{shown} is not there")
    if has_image_ending(path):
        return [path]
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {shown}: {error.strerror}") from error
    return _lines(data, os.path.dirname(path), shown)


def _some(names: list[str], source: str) -> list[str]:
    if not names:
        raise UsageError(f"{source} has no image file: none ends in .png, .jpg, .tif or the like")
    return sorted(names)


def _lines(data: bytes, folder: str, shown: str) -> list[str]:
    if b"\0" in data:
        raise UsageError(f"{shown} is neither an image by its ending nor a list of paths")
    lines = os.fsdecode(data).splitlines()
    names: dict[str, None] = {}
    for line in lines:
        name = line.strip("\r")
        if name:
            names[name if is_uri(name) else _join(folder, name)] = None
    if not names:
        raise UsageError(f"{shown} lists no images")
    return list(names)


def _join(folder: str, name: str) -> str:
    if is_uri(folder):
        return f"{folder}/{name}"
    return os.path.abspath(os.path.join(folder, name))


def printable(path: str) -> str:
    r"""Return how tables name a file: without a URI's password and query, bytes as in ``\xff``."""
    if is_uri(path):
        parts = urlsplit(path.partition("?")[0])
        host = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{host}/{_split(path)[2]}"
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_file(path: str) -> bytes:
    """Read a file.

    Raises
    ------
    OSError
        It cannot be read.
    """
    if not is_uri(path):
        return Path(path).read_bytes()
    system, inside = locate(path)
    with system.open_input_file(inside) as file:
        return bytes(file.read())


def write_file(system: fs.FileSystem, path: str, data: bytes) -> None:
    """Write a file that is there in whole or not at all.

    Objects of a bucket appear when they are complete. Other files are renamed when they are.
    """
    if system.type_name not in ("local", "hdfs"):
        with system.open_output_stream(path) as stream:
            stream.write(data)
        return
    folder, name = posixpath.split(path)
    temporary = posixpath.join(folder, f".{name}.{uuid.uuid4().hex[:8]}.tmp")
    with system.open_output_stream(temporary) as stream:
        stream.write(data)
    system.move(temporary, path)


def remove_files(system: fs.FileSystem, paths: list[str]) -> None:
    """Remove files."""
    for path in paths:
        system.delete_file(path)
