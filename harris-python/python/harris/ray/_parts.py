"""The output of the command: a folder of Parquet files."""

from __future__ import annotations

import hashlib
import io
import posixpath
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from ._detection import RESULTS
from ._files import UsageError, is_uri, locate, printable, remove_files, write_file

__all__ = ["Done", "Output", "Part"]

_SCHEMA: Final = pa.schema([pa.field("path", pa.string(), nullable=False), *RESULTS])
_KEY: Final = b"harris"

# Part files that are read at once, mainly for buckets.
_THREADS: Final = 16


@dataclass(frozen=True)
class Part:
    """What a complete part file has."""

    images: int
    errors: int


@dataclass
class Done:
    """What complete part files of earlier runs have."""

    paths: set[str] = field(default_factory=set)
    errors: int = 0


class Output:
    """A folder of part files that have one configuration.

    Parameters
    ----------
    path : str
        The folder: a local path or a URI.
    settings : str
        The configuration, as the files' metadata name it.
    """

    def __init__(self, path: str, settings: str) -> None:
        self.path = path
        self.shown = printable(path) if is_uri(path) else path
        self.settings = settings

    def _place(self) -> tuple[fs.FileSystem, str]:
        return locate(self.path)

    def _files(self) -> list[str]:
        system, folder = self._place()
        entries = system.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        return [entry.path for entry in entries if entry.is_file]

    def prepare(self, *, overwrite: bool, retry_errors: bool) -> Done:
        """Make the folder, remove what is incomplete, and return what is done.

        Raises
        ------
        UsageError
            The folder is a file, cannot be made, or has part files of other settings.
        """
        try:
            system, folder = self._place()
            if system.get_file_info(folder).is_file:
                raise UsageError(f"{self.shown} is a file; the output is a folder")
            system.create_dir(folder, recursive=True)
            files = self._files()
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot use {self.shown} for the output: {error}") from error
        names = [(posixpath.basename(file), file) for file in files]
        parts = [file for name, file in names if name.startswith("part-")]
        remove_files(
            system, [f for name, f in names if name.startswith(".part-") and name.endswith(".tmp")]
        )
        if overwrite:
            remove_files(system, parts)
            return Done()
        done = Done()
        with ThreadPoolExecutor(_THREADS) as pool:
            for file, table in zip(parts, pool.map(self._read, parts), strict=True):
                errors = 0 if table is None else len(table) - table["error"].null_count
                if table is None or (retry_errors and errors):
                    remove_files(system, [file])
                    continue
                done.paths.update(table["path"].to_pylist())
                done.errors += errors
        return done

    def _read(self, file: str) -> pa.Table | None:
        """Read paths and errors of a part file; `None` if it is not complete."""
        system, _ = self._place()
        try:
            with system.open_input_file(file) as opened:
                parquet = pq.ParquetFile(opened)
                settings = (parquet.schema_arrow.metadata or {}).get(_KEY, b"").decode()
                if settings != self.settings:
                    raise UsageError(
                        f"{self.shown} was made with another configuration, or by another program: "
                        "name another output, or remove its files with --overwrite"
                    )
                return parquet.read(columns=["path", "error"])
        except (pa.ArrowInvalid, EOFError):
            return None

    def name(self, paths: Iterable[str]) -> str:
        """Return the file of a part with these images: always the same one."""
        digest = hashlib.sha256(self.settings.encode())
        for path in paths:
            digest.update(b"\0" + printable(path).encode())
        return posixpath.join(self._place()[1], f"part-{digest.hexdigest()[:20]}.parquet")

    def find(self, paths: list[str]) -> Part | None:
        """Return what the part of these images has, if it is complete already."""
        system, _ = self._place()
        file = self.name(paths)
        if not system.get_file_info(file).is_file:
            return None
        table = self._read(file)
        return None if table is None else Part(len(table), len(table) - table["error"].null_count)

    def write(self, paths: list[str], results: list[pa.Table]) -> Part:
        """Write the part of these images, with their results in the same order."""
        rows = pa.concat_tables([RESULTS.empty_table(), *results])
        names = pa.array([printable(path) for path in paths], pa.string())
        columns = [names, *rows.columns]
        schema = _SCHEMA.with_metadata({_KEY: self.settings.encode()})
        buffer = io.BytesIO()
        pq.write_table(pa.table(columns, schema=schema), buffer, compression="zstd")
        system, _ = self._place()
        write_file(system, self.name(paths), buffer.getvalue())
        return Part(len(paths), int(pc.sum(pc.is_valid(rows["error"])).as_py() or 0))

    def count(self) -> int:
        """Return the number of part files that this machine sees."""
        return sum(posixpath.basename(file).startswith("part-") for file in self._files())
