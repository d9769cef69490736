#!/usr/bin/env python3
"""Measures many configurations with `harris bench`, and prints a table with the best median of several rounds.

    cargo build --release -p harris-cli
    python3 benches/survey.py cpu [--threads 1]

    cargo build --release -p harris-cli
    python3 benches/survey.py cuda

Give `--program` several times to compare programs, such as two versions. Each round runs one after another, and the table
has the times of all.
"""

import argparse
import json
import pathlib
import shlex
import subprocess

data = pathlib.Path(__file__).resolve().parent / "../examples/data"

# Options of `harris bench`. The photograph is `camera` unless `--image` names another.
CONFIGURATIONS = [
    "",
    "--order raster",
    "--preset opencv_gftt",
    "--preset opencv_gftt --measure shi-tomasi --min-distance 10 --max-corners 500",
    "--preset jobanputra_stentz",
    "--preset harris_phull_2011",
    "--preset lococo_2011",
    "--preset lococo_2011 --gradient box:31 --window box:31",
    "--preset chahuara_2017 --image coffee.png",
    "--preset chahuara_2017 --image coffee.png --color",
    "--measure shi-tomasi",
    "--measure noble:1e-6",
    "--gradient scharr3",
    "--gradient central",
    "--gradient gaussian-derivative:5:1",
    "--gradient box:3",
    "--smoothing none",
    "--smoothing binomial5",
    "--smoothing gaussian:5:1",
    "--window box:5",
    "--window box:7",
    "--window box:7 --measure shi-tomasi",
    "--window box:9",
    "--window box:15",
    "--window box:31",
    "--window binomial:3",
    "--window binomial:5",
    "--window binomial:7",
    "--window gaussian:3:0.8",
    "--window gaussian:5:1",
    "--window gaussian:7:1.5",
    "--border replicate",
    "--border zero",
    "--nms-radius 1",
    "--nms-radius 4",
    "--nms-radius 8",
    "--threshold none",
    "--threshold rosin:256",
    "--subpixel quadratic",
    "--subpixel forstner:5",
    "--depth u16",
    "--depth u16 --window box:7",
    "--depth f32",
    "--depth f32 --window box:7",
    "--image coffee.png",
    "--image coffee.png --color",
    "--image coffee.png --color --window box:7",
    "--image brick.png",
    "--response",
    "--response --measure shi-tomasi",
]
# Programs with the last one are built by `cargo build --release -p harris-cli --features harris-cpu/portable`.
LEVELS = [f"--level {level}{more}" for level in ("avx2", "sse2", "portable") for more in ("", " --measure shi-tomasi")]

# Units of the times, each with the number of them in a millisecond.
UNITS = {"cpu": ("ms", 1), "cuda": ("µs", 1e3)}
# Columns: the title, the size, and the field of the output line.
COLUMNS = {
    "cpu": [(size, size, "median_ms") for size in ("512x512", "1920x1080", "4096x4096")],
    "cuda": [
        *((size, size, "resident_behind_ms") for size in ("512x512", "1920x1080", "3840x2160", "4096x4096")),
        ("stream, 512x512", "512x512", "streaming_ms"),
        ("pinned, 1920x1080", "1920x1080", "pinned_ms"),
        ("pinned, 3840x2160", "3840x2160", "pinned_ms"),
        ("pinned, 4096x4096", "4096x4096", "pinned_ms"),
    ],
}
# Fields for response maps, which have no list.
MAP = {"resident_behind_ms": "device_ms", "pinned_ms": None, "streaming_ms": None}


def timings(program, options, backend, sizes, more):
    """Runs the program and returns its output lines by size. A photograph is a file name in examples/data."""
    words = options.split()
    photograph = words[words.index("--image") + 1] if "--image" in words else "camera.png"
    words = [word for word in words if word not in ("--image", photograph)]
    command = [*shlex.split(program), "--json", "--backend", backend, "--sizes", ",".join(sizes), "--image", data / photograph]
    lines = subprocess.run([*command, *words, *more], check=True, stdout=subprocess.PIPE, text=True).stdout
    parsed = map(json.loads, lines.splitlines())
    return {f"{line['width']}x{line['height']}": line for line in parsed}


def field(line, name):
    return line.get(name if "keypoints" in line else MAP.get(name, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=COLUMNS)
    parser.add_argument("--program", action="append", help="`harris bench` by its path; may be given several times")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", default="0.1")
    parser.add_argument("--threads", default="1", help="threads of the CPU backend")
    parser.add_argument("--only", default="", help="measure only configurations whose options contain this text")
    arguments = parser.parse_args()
    programs = arguments.program or ["target/release/harris bench"]
    columns = COLUMNS[arguments.backend]
    sizes = list(dict.fromkeys(size for _, size, _ in columns))
    more = ["--seconds", arguments.seconds]
    configurations = CONFIGURATIONS
    if arguments.backend == "cpu":
        more += ["--threads", arguments.threads]
        configurations = CONFIGURATIONS + LEVELS
    unit, scale = UNITS[arguments.backend]
    print(f"| {unit} |", " | ".join(title for title, _, _ in columns), "|")
    print("| --- " * (1 + len(columns)) + "|")
    for options in configurations:
        if arguments.only not in options:
            continue
        found = [[[] for _ in columns] for _ in programs]
        for _ in range(arguments.rounds):
            for program, times in zip(programs, found):
                lines = timings(program, options, arguments.backend, sizes, more)
                for (_, size, name), cell in zip(columns, times):
                    cell.append(field(lines[size], name))
        best = [["–" if None in cell else f"{scale * min(cell):.3g}" for cell in times] for times in found]
        name = f"`{options}`" if options else "default"
        print(f"| {name} |", " | ".join("; ".join(cells) for cells in zip(*best)), "|", flush=True)


if __name__ == "__main__":
    main()
