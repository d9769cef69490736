"""`harris.ray` on a real Ray of this machine."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")
import pyarrow as pa
import pyarrow.parquet as pq
import ray.cloudpickle
import ray.data
import yaml
from PIL import Image

import harris
import harris.ray
from harris.ray import __main__ as command
from harris.ray._detection import COLOR_PRESETS, read_config, resolve_config
from harris.ray._files import (
    UsageError,
    list_images,
    locate,
    printable,
    read_file,
    write_file,
)
from harris.ray._images import decode
from harris.ray._job import JobError, Unit, run
from harris.ray._parts import Output, Part

DOCS = Path(__file__).parents[2] / "docs" / "clusters.md"
IMAGES = 2000
PRESET = "opencv_gftt"
BROKEN = "later/broken.png"

# Tells the workers of these tests from those of others.
os.environ["HARRIS_TESTS"] = f"{os.getpid()}-{time.time_ns()}"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Workers wait for other work of the machine otherwise.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
# Actors import this module's classes without the module.
register: Any = ray.cloudpickle.register_pickle_by_value
register(sys.modules[__name__])


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    context: Any = ray.init(
        address="local",
        num_cpus=2,
        object_store_memory=200 << 20,
        include_dashboard=False,
        log_to_driver=False,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield context.address_info["gcs_address"]
    ray.shutdown()


def scene(seed: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    random = np.random.default_rng(seed)
    image = random.integers(0, 8, (64, 64 + seed % 3)).astype(np.uint8)
    for _ in range(4):
        top, left = random.integers(2, 45, 2)
        image[top : top + 12, left : left + 12] = random.integers(60, 256)
    return image


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2000 images in two folders, and a broken one."""
    folder = tmp_path_factory.mktemp("images")
    (folder / "later").mkdir()
    for i in range(IMAGES):
        name = f"{i:04}.png" if i % 2 else f"later/{i:04}.PNG"
        Image.fromarray(scene(i)).save(folder / name, "PNG", compress_level=1)
    (folder / BROKEN).write_bytes((folder / "0001.png").read_bytes()[:200])
    (folder / "notes.txt").write_text("no image")
    return folder


Row = tuple[bytes, bytes, bytes, bytes, int, int, int]


def row_of(values: dict[str, Any]) -> Row:
    lists = [
        np.asarray(values[name], np.float32).tobytes() for name in ("x", "y", "response", "scale")
    ]
    return (
        lists[0],
        lists[1],
        lists[2],
        lists[3],
        *(values[n] for n in ("count", "width", "height")),
    )


@pytest.fixture(scope="session")
def expected(folder: Path) -> dict[str, Row]:
    """What a single process finds."""
    detector = harris.Detector(PRESET, threads=1)
    rows = {}
    for path in sorted(folder.rglob("*.[pP][nN][gG]")):
        if path != folder / BROKEN:
            image = decode(path.read_bytes())
            table = detector.detect(image).table
            columns = [np.ascontiguousarray(table[:, i]).tobytes() for i in (0, 1, 3, 2)]
            rows[str(path)] = (
                columns[0],
                columns[1],
                columns[2],
                columns[3],
                len(table),
                image.shape[1],
                image.shape[0],
            )
    assert len(rows) == IMAGES
    assert sum(row[4] for row in rows.values()) > 10 * IMAGES
    return rows


def check(rows: list[dict[str, Any]], expected: dict[str, Row]) -> list[dict[str, Any]]:
    """Check the rows without an error, and return the others."""
    good = [row for row in rows if row["error"] is None]
    assert len(good) == len(expected)
    assert {row["path"]: row_of(row) for row in good} == expected
    return [row for row in rows if row["error"] is not None]


def read(output: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for part in output.glob("part-*.parquet"):
        rows += pq.read_table(part).to_pylist()
    return rows


def kill_one(title: bytes, ready: threading.Event, killed: list[int]) -> None:
    """Kill a worker process of these tests with this title."""
    mark = f"HARRIS_TESTS={os.environ['HARRIS_TESTS']}".encode()
    ready.wait(100)
    while ready.is_set() and not killed:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                found = title in (process / "cmdline").read_bytes()
                if found and mark in (process / "environ").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.append(int(process.name))
                    return
            except OSError:
                continue
        time.sleep(0.01)


def test_a_dataset_equals_a_single_process_though_a_worker_is_killed(
    cluster: str, folder: Path, expected: dict[str, Row]
) -> None:
    paths = [*expected, "empty"]
    items = [
        {"image": decode(Path(path).read_bytes()), "path": path, "note": None} for path in expected
    ]
    items.insert(77, {"image": np.zeros((0, 5), np.uint8), "path": "empty", "note": None})
    dataset = ray.data.from_items(items, override_num_blocks=40)
    ready, killed = threading.Event(), list[int]()
    killer = threading.Thread(target=kill_one, args=(b"ray::MapWorker", ready, killed))
    killer.start()
    rows = []
    found = harris.ray.detect(dataset, PRESET, batch_size=25, concurrency=2)
    for row in found.iter_rows():
        rows.append(row)
        ready.set()
    ready.clear()
    killer.join()
    assert killed
    assert [row["path"] for row in check(rows, expected)] == ["empty"]
    assert sorted(row["path"] for row in rows) == sorted(paths)
    assert list(rows[0]) == [
        *("path", "note", "x", "y", "response", "scale"),
        *("count", "width", "height", "error"),
    ]
    empty = next(row for row in rows if row["path"] == "empty")
    assert empty["count"] == 0
    assert len(empty["x"]) == 0
    assert empty["error"]


def test_the_command_equals_a_single_process_though_a_worker_is_killed(
    cluster: str,
    folder: Path,
    expected: dict[str, Row],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = tmp_path / "out.parquet"
    ready, killed = threading.Event(), list[int]()
    killer = threading.Thread(target=kill_one, args=(b"ray::Worker.work", ready, killed))
    killer.start()
    ready.set()
    arguments = [str(folder), str(output), "--preset", PRESET, "--shards", "30"]
    assert command.main([*arguments, "--concurrency", "2"]) == 1
    ready.clear()
    killer.join()
    assert killed
    errors = check(read(output), expected)
    assert [row["path"] for row in errors] == [str(folder / BROKEN)]
    assert "damaged" in errors[0]["error"]
    assert errors[0]["x"] == []
    assert len(list(output.iterdir())) == 30
    said = capsys.readouterr()
    # Ray tells there that a worker died.
    assert f"{IMAGES + 1} images, {IMAGES + 1} of them now, 1 errors, " in said.out
    assert f"/{IMAGES + 1} images" in said.err

    # A second run has nothing to do, and starts no actor.
    assert command.main(arguments) == 1
    assert capsys.readouterr().out == f"{IMAGES + 1} images, 0 of them now, 1 errors\n"
    # Another configuration is refused.
    before = sorted(output.iterdir())
    assert command.main([str(folder), str(output)]) == 2
    assert "another configuration" in capsys.readouterr().err
    assert command.main([*arguments, "--color"]) == 2
    assert sorted(output.iterdir()) == before

    # A part that is cut, one that is taken away and one with an error are done again.
    capsys.readouterr()
    parts = [p for p in before if pq.read_table(p)["error"].null_count == len(pq.read_table(p))]
    missing = sum(len(pq.read_table(part)) for part in parts[:2])
    parts[0].write_bytes(parts[0].read_bytes()[:-9])
    parts[1].unlink()
    missing += len(pq.read_table(next(p for p in before if p not in parts)))
    assert command.main([*arguments, "--retry-errors"]) == 1
    assert f" {missing} of them now, 1 errors" in capsys.readouterr().out
    assert len(check(read(output), expected)) == 1


def test_resume_after_an_interrupt(
    cluster: str,
    folder: Path,
    expected: dict[str, Row],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = tmp_path / "out.parquet"
    paths = tmp_path / "list.txt"
    paths.write_text("\n".join([*expected, *list(expected)[:9], "", ""]))
    arguments = [str(paths), str(output), "--preset", PRESET, "--shards", "100"]
    with subprocess.Popen(
        [sys.executable, "-m", "harris.ray", *arguments, "--address", cluster],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        end = time.monotonic() + 100
        while len(list(output.glob("part-*"))) < 3:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "interrupted: run the same command again" in err
    assert "Traceback" not in err
    done = {row["path"] for row in read(output)}
    assert 0 < len(done) < IMAGES
    (output / ".part-0.parquet.1.tmp").write_bytes(b"PAR1")
    times = {part: part.stat().st_mtime_ns for part in output.glob("part-*")}

    assert command.main(arguments) == 0
    said = capsys.readouterr()
    # A part may have been finished after the driver's end.
    again = int(said.out.split(" of them now")[0].rpartition(" ")[2])
    assert 0 < again <= IMAGES - len(done)
    assert f"{IMAGES - again} of {IMAGES} images are done already" in said.err
    assert check(read(output), expected) == []
    assert all(part.stat().st_mtime_ns == time for part, time in times.items())
    assert not list(output.glob(".*"))

    # From the start again.
    assert command.main([*arguments, "--overwrite", "--limit", "7", "--shards", "2"]) == 0
    assert {row["path"] for row in read(output)} == set(list(expected)[:7])


class Dying:
    """An actor that dies with the image ``bad``."""

    def start(self) -> None:
        pass

    def work(self, unit: Unit) -> Part:
        if "bad" in unit.paths and not (len(unit.paths) == 1 and unit.deaths > 2):
            os._exit(1)
        if "gpu" in unit.paths and not unit.deaths:
            raise harris.BackendError("the GPU is lost")
        if "disk" in unit.paths:
            raise OSError("no space\nleft")
        return Part(len(unit.paths), int("bad" in unit.paths))


def test_an_image_that_kills_its_worker_is_isolated(cluster: str) -> None:
    def make() -> Any:
        return ray.remote(Dying).options(num_cpus=0.5).remote()

    parts = list(run([Unit(["a", "bad"]), Unit(["gpu"])], make, 1, lambda _: None))
    assert sorted((part.images, part.errors) for part in parts) == [(1, 0), (1, 0), (1, 1)]
    with pytest.raises(JobError, match="left"):
        list(run([Unit(["disk"])], make, 1, lambda _: None))


def test_what_is_missing_is_named() -> None:
    program = "import sys; sys.modules['ray'] = None; import harris.ray"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'pip install "harris[ray]"' in done.stderr


def test_units_are_split_after_deaths() -> None:
    unit = Unit(list("abcde"))
    (again,) = unit.again()
    assert (again.paths, again.deaths) == (list("abcde"), 1)
    halves = again.again()
    assert [half.paths for half in halves] == [["a", "b"], ["c", "d", "e"]]
    assert [half.paths for half in halves[0].again()] == [["a"], ["b"]]
    single = Unit(["a"], 1)
    for deaths in (2, 3, 4):
        (single,) = single.again()
        assert single.deaths == deaths


def test_wrong_arguments(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.txt").write_text("\n\n")
    (tmp_path / "binary").write_bytes(b"\0\1\2")
    (tmp_path / "bad.json").write_text('{"colour": 1}')
    (tmp_path / "no.json").write_text("{")
    out = str(tmp_path / "out.parquet")
    few = str(folder)
    cases = [
        ([str(tmp_path / "empty"), out], "has no image file"),
        ([str(tmp_path / "absent"), out], "is not there"),
        ([str(tmp_path / "empty.txt"), out], "lists no images"),
        ([str(tmp_path / "binary"), out], "neither an image"),
        (["file:///no/such/folder", out], "is not there"),
        (["nonsense://bucket/photos", out], "cannot list"),
        ([few, "nonsense://bucket/out"], "cannot use"),
        ([few, out, "--preset", "no_such"], "no_such"),
        ([few, out, "--config", str(tmp_path / "absent.json")], "absent.json"),
        ([few, out, "--config", str(tmp_path / "bad.json")], "colour"),
        ([few, out, "--config", str(tmp_path / "no.json")], "no.json"),
        ([few, str(tmp_path / "empty.txt")], "is a file"),
        ([few, str(tmp_path / "empty.txt" / "below")], "cannot use"),
    ]
    for arguments, message in cases:
        assert command.main(arguments) == 2, arguments
        said = capsys.readouterr()
        assert message in said.err, arguments
        assert said.err.count("\n") == 1, said.err
        assert said.out == ""
    for arguments in (
        [],
        [few],
        [few, out, "--preset", "default", "--config", "x.json"],
        [few, out, "--backend", "abacus"],
        [few, out, "--concurrency", "0"],
        [few, out, "--shards", "1.5"],
        [few, out, "--limit", "-1"],
        [few, out, "--num-gpus-per-actor", "nan"],
        [few, out, "--unknown"],
    ):
        with pytest.raises(SystemExit) as raised:
            command.main(arguments)
        assert raised.value.code == 2, arguments
    assert not Path(out).exists()


def test_a_cluster_without_room_is_an_error(
    cluster: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out.parquet")
    assert command.main([str(folder), out, "--backend", "cuda"]) == 2
    assert "has no room for an actor of 1 CPUs and 1 GPUs" in capsys.readouterr().err
    assert command.main([str(folder), out, "--num-cpus-per-actor", "3"]) == 2


def test_wrong_arguments_of_detect() -> None:
    dataset: Any = None
    with pytest.raises(harris.ConfigError, match="no_such"):
        harris.ray.detect(dataset, "no_such")
    with pytest.raises(harris.ConfigError, match="abacus"):
        harris.ray.detect(dataset, backend="abacus")


def test_configurations_of_both_detectors(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(harris.Config("lococo_2011", max_corners=5).to_json(color=True))
    config, color = read_config(str(path))
    assert (config, color) == (harris.Config("lococo_2011", max_corners=5), True)
    blobs = harris.FastHessianConfig(octaves=2)
    path.write_text(blobs.to_json())
    assert read_config(str(path)) == (blobs, False)
    for name in (*harris.presets(), *harris.FastHessianConfig.presets()):
        assert json.loads(resolve_config(name).to_json())
    both = set(harris.presets()) & set(harris.FastHessianConfig.presets())
    assert both <= {"default"}


def test_colour_presets_are_those_of_the_library() -> None:
    source = Path(__file__).parents[2] / "harris-core" / "src" / "presets.rs"
    presets = source.read_text().split("Preset {")[1:]
    colored = {text.split('name: "')[1].split('"')[0] for text in presets if "color: true" in text}
    assert colored == COLOR_PRESETS


def test_names_of_files(tmp_path: Path) -> None:
    assert printable("s3://key:secret@bucket/a/b.png?region=x") == "s3://bucket/a/b.png"
    assert printable(os.fsdecode(b"/a/\xff.png")) == "/a/\\xff.png"
    assert printable("/a/b?c#d%20.png") == "/a/b?c#d%20.png"
    for name in ("b.png", "a#?%41.PNG", "c.txt"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "e f.jpg").write_bytes(b"y")
    local = list_images(str(tmp_path))
    assert local == [str(tmp_path / n) for n in ("a#?%41.PNG", "b.png", "d/e f.jpg")]
    by_uri = list_images(f"file://{tmp_path}/d/")
    assert by_uri == [f"file://{tmp_path}/d/e f.jpg"]
    assert read_file(by_uri[0]) == b"y"
    assert list_images(f"file://{tmp_path}/b.png") == [f"file://{tmp_path}/b.png"]
    (tmp_path / "list").write_text("b.png\r\n\nd/e f.jpg\nb.png\ns3://bucket/c.png\n")
    listed = list_images(f"file://{tmp_path}/list")
    folder = f"file://{tmp_path}"
    assert listed == [f"{folder}/b.png", f"{folder}/d/e f.jpg", "s3://bucket/c.png"]
    assert list_images(str(tmp_path / "list"))[1] == str(tmp_path / "d/e f.jpg")


def test_files_are_written_in_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    system, path = locate(str(tmp_path / "part"))
    write_file(system, path, b"first")
    assert [file.name for file in tmp_path.iterdir()] == ["part"]
    output = Output(str(tmp_path), "{}")
    pq.write_table(pa.table({"path": ["a"]}), tmp_path / "part-foreign.parquet")
    with pytest.raises(UsageError, match="another configuration"):
        output.prepare(overwrite=False, retry_errors=False)
    output.prepare(overwrite=True, retry_errors=False)
    assert [file.name for file in tmp_path.iterdir()] == ["part"]


def test_the_page_of_the_docs() -> None:
    text = DOCS.read_text()
    blocks = text.split("```yaml\n")[1:]
    assert len(blocks) >= 2
    for block in blocks:
        documents = list(yaml.safe_load_all(block.split("```")[0]))
        assert all(isinstance(document, dict) for document in documents)
    commands = [
        line.partition("python -m harris.ray ")[2].rstrip('"')
        for line in text.replace("\\\n", " ").splitlines()
        if "python -m harris.ray " in line and "`" not in line
    ]
    assert len(commands) >= 3
    for line in commands:
        command._parser().parse_args(shlex.split(line.partition("#")[0]))
