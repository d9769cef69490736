"""The command ``python -m harris.ray``."""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import math
import sys
import time
from collections.abc import Sequence

import ray

import harris

from ._detection import (
    BACKENDS,
    COLOR_PRESETS,
    AnyConfig,
    cluster_gpus,
    cluster_resources,
    read_config,
    resolve_config,
)
from ._files import UsageError, list_images, printable
from ._job import JobError, Unit, Worker, run
from ._parts import Done, Output

# Images of a part file, at most, and part files for each actor, at least.
_IMAGES_A_PART = 1000
_PARTS_AN_ACTOR = 4

_DESCRIPTION = """\
Find keypoints in the images of INPUT with all machines of a Ray cluster, and write them to Parquet.

INPUT is a folder, which is searched with the folders in it; a file with a path or URI a line; or a
URI of a bucket, such as s3://bucket/photos. OUT.parquet is a folder of part files, or a URI of
one. All machines must see both by the same names.

A second run on the same output does only what is missing. One run at a time may use an output."""

_EPILOG = """\
exit codes: 0 all images are done; 1 some images have errors, or the job failed; 2 wrong arguments;
130 interrupted: run the same command again to do the rest"""


def _number(kind: type, least: float, what: str) -> argparse._ActionType:
    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"{text} is not {what}")
        return float(value) if kind is float else int(value)

    return parse


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m harris.ray",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    count = _number(int, 1, "a whole number of at least 1")
    share = _number(float, 0, "a number of at least 0")
    add = parser.add_argument
    add("input", metavar="INPUT", help="folder, list of paths, or URI")
    add("output", metavar="OUT.parquet", help="folder of the part files, or its URI")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--preset", metavar="NAME", help="preset of corners or of blobs")
    start.add_argument(
        "--config", metavar="FILE", help="JSON file of `harris detect --print-config json`"
    )
    add(
        "--color",
        action=argparse.BooleanOptionalAction,
        help="use the colours of colour images, or their luma (default: as the preset says)",
    )
    add("--backend", choices=BACKENDS, default="auto", help="auto: CUDA for actors with a GPU")
    add(
        "--num-gpus-per-actor",
        type=share,
        metavar="NUMBER",
        help="GPUs of an actor, such as 0.5 (default: 1 if the cluster has a GPU)",
    )
    add(
        "--num-cpus-per-actor",
        type=count,
        metavar="NUMBER",
        help="CPUs of an actor (default: 1, or with a GPU its part of the cluster's)",
    )
    add(
        "--concurrency",
        type=count,
        metavar="NUMBER",
        help="actors (default: as many as the cluster has room for)",
    )
    add(
        "--shards",
        type=count,
        metavar="NUMBER",
        help="part files for what is missing (default: of 1000 images or fewer). A worker that "
        "dies loses the part it works on",
    )
    add("--address", help="address of the cluster (default: RAY_ADDRESS, or this machine)")
    add("--limit", type=count, metavar="NUMBER", help="take only the first images of INPUT")
    add("--overwrite", action="store_true", help="remove the part files of earlier runs first")
    add(
        "--retry-errors",
        action="store_true",
        help="do part files again that have images with errors",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    args = _parser().parse_args(arguments)
    started_here = False
    try:
        config, color = _config(args)
        paths = list_images(args.input)[: args.limit]
        settings = json.loads(config.to_json(color=color))
        output = Output(args.output, json.dumps(settings, sort_keys=True))
        done = output.prepare(overwrite=args.overwrite, retry_errors=args.retry_errors)
        missing = [path for path in paths if printable(path) not in done.paths]
        if not ray.is_initialized():
            _connect(args.address)
            started_here = True
        return _detect(args, config, color, output, missing, len(paths), done)
    except (UsageError, harris.ConfigError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted: run the same command again to do the rest", file=sys.stderr)
        return 130
    except (JobError, OSError, ray.exceptions.RayError) as error:
        print(f"\nerror: {error}", file=sys.stderr)
        return 1
    finally:
        if started_here:
            ray.shutdown()


def _connect(address: str | None) -> None:
    try:
        ray.init(address=address, logging_level=logging.WARNING, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise JobError(f"cannot use Ray: {error}") from error


def _config(args: argparse.Namespace) -> tuple[AnyConfig, bool]:
    if args.config is not None:
        try:
            config, color = read_config(args.config)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{args.config}: {getattr(error, 'strerror', None) or error}"
            ) from None
    else:
        config, color = resolve_config(args.preset), args.preset in COLOR_PRESETS
    return config, color if args.color is None else args.color


def _detect(
    args: argparse.Namespace,
    config: AnyConfig,
    color: bool,
    output: Output,
    missing: list[str],
    total: int,
    done: Done,
) -> int:
    """Detect in the missing images, and tell what was done."""
    before = total - len(missing)
    if before:
        print(f"{before} of {total} images are done already", file=sys.stderr)
    errors, rate = done.errors, ""
    if missing:
        gpus = args.num_gpus_per_actor
        gpus = cluster_gpus(args.backend) if gpus is None else gpus
        actors, cpus = _resources(gpus, args.num_cpus_per_actor, args.concurrency)
        shards = args.shards or max(
            math.ceil(len(missing) / _IMAGES_A_PART), _PARTS_AN_ACTOR * actors
        )
        shards = min(shards, len(missing))
        bounds = [len(missing) * i // shards for i in range(shards + 1)]
        units = [Unit(missing[a:b]) for a, b in itertools.pairwise(bounds)]
        actor = ray.remote(Worker).options(num_cpus=cpus, num_gpus=gpus, max_restarts=0)
        progress = _Progress(len(missing))
        for part in run(
            units,
            lambda: actor.remote(config, color, args.backend, output),
            actors,
            progress.show,
        ):
            errors += part.errors
            progress.add(part.images, part.errors)
        rate = progress.end()
        if not output.count():
            raise JobError(
                f"the workers wrote to {args.output}, but this machine does not see it: "
                "all machines must share it"
            )
    print(f"{total} images, {len(missing)} of them now, {errors} errors{rate}")
    return 1 if errors else 0


def _resources(gpus: float, cpus: int | None, actors: int | None) -> tuple[int, int]:
    """Return the number of actors, and the CPUs of each."""
    there = cluster_resources()
    all_cpus, all_gpus = int(there.get("CPU", 0)), there.get("GPU", 0)
    if actors is None:
        actors = all_cpus // (cpus or 1)
        if gpus:
            actors = min(actors, int(all_gpus / gpus))
        if actors == 0:
            raise UsageError(
                f"the cluster has no room for an actor of {cpus or 1} CPUs and {gpus:g} GPUs: it "
                f"has {all_cpus} and {all_gpus:g}. With --concurrency the job waits for room"
            )
    if cpus is None:
        cpus = max(1, all_cpus // actors) if gpus else 1
    return actors, cpus


class _Progress:
    """A line on standard error: often on a terminal, every ten seconds elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = self._errors = 0
        self._start: float | None = None
        self._terminal = sys.stderr.isatty()
        self._next = 0.0

    def add(self, images: int, errors: int) -> None:
        """Count images that are done."""
        self._done += images
        self._errors += errors

    def show(self, actors: int) -> None:
        """Show the counts if it is time. The rate counts from the start of the first actor."""
        now = time.monotonic()
        if actors and self._start is None:
            self._start = now
        if now < self._next:
            return
        self._next = now + (0.5 if self._terminal else 10)
        rate = self._rate(now)
        rest = f", {(self._total - self._done) / rate:.0f} s left" if rate else ""
        text = f"{self._done}/{self._total} images, {self._errors} errors, {actors} actors"
        text += f", {rate:.1f} images/s{rest}"
        end = "" if self._terminal else "\n"
        print(f"\r{text:<78}" if self._terminal else text, end=end, file=sys.stderr, flush=True)

    def _rate(self, now: float) -> float:
        return 0.0 if self._start is None else self._done / max(now - self._start, 1e-9)

    def end(self) -> str:
        """Leave the line, and return the rate."""
        if self._terminal:
            print(file=sys.stderr)
        return f", {self._rate(time.monotonic()):.1f} images/s"


if __name__ == "__main__":
    sys.exit(main())
