"""Runs the guide's shell and Python examples, and compares its pictures.

    python docs/guide/check.py target/release/harris
    python docs/guide/check.py target/release/harris --draw

The Python that runs this script needs the package `harris`. With `--draw` the pictures that the
examples draw replace those of the guide.

| block | what happens |
| --- | --- |
| `sh` | Bash runs it. A page's blocks share a scratch folder that has `docs` and `examples`. |
| `python` | Runs, in the same folder. A page's blocks share their names. |
| `sh,no_run`, `python,no_run` | It is only compiled. |
| `text` | It must be the output of the block before; `...` stands for any text. |
| `rust` | `cargo test -p harris-guide --doc` runs it. |

A picture of a page must be drawn by a block of that page. `cargo xtask prose` follows links.
"""

import argparse
import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

GUIDE = Path(__file__).resolve().parent
SRC = GUIDE / "src"
REPOSITORY = GUIDE.parents[1]
PAGES = sorted(page for page in SRC.glob("*.md") if page.name != "SUMMARY.md")
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""\]\(([^)\s]+)\)|(?:src|href)="([^"]+)\"""")


class GuideError(Exception):
    """Something that the guide's author must change."""


def bash(code: str, program: Path, *options: str) -> str:
    """Run a shell example that finds the program by its name, and return its output."""
    path = f"{program.parent}:{os.environ['PATH']}"
    command = ["bash", *options, "-euo", "pipefail", "-c", code]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    if done.returncode != 0:
        raise GuideError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def python(code: str, names: dict[str, object], *, runs: bool) -> str:
    """Compile a Python example, run it if it can be, and return its output."""
    output = io.StringIO()
    try:
        compiled = compile(code, "example", "exec")
        if runs:
            with contextlib.redirect_stdout(output):
                exec(compiled, names)
    except Exception as error:
        raise GuideError(f"{type(error).__name__}: {error}") from error
    return output.getvalue()


def run_blocks(page: Path, program: Path) -> int:
    """Run a page's blocks in the current folder, and return their number."""
    names: dict[str, object] = {}
    output = ""
    text = page.read_text()
    blocks = list(BLOCK.finditer(text))
    for block in blocks:
        language, code = block.groups()
        try:
            if language == "text":
                if not doctest.OutputChecker().check_output(code, output, doctest.ELLIPSIS):
                    raise GuideError(f"the output is\n{output}")
            elif language in ("sh", "sh,no_run"):
                output = bash(code, program, *["-n"] * language.endswith("no_run"))
            elif language in ("python", "python,no_run"):
                output = python(code, names, runs=language == "python")
            elif language not in ("rust", "rust,no_run"):
                raise GuideError(f"unknown language `{language}`")
        except GuideError as error:
            line = text[: block.start()].count("\n") + 1
            raise GuideError(f"{page.name}:{line}: {error}") from error
    if len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)) != 2 * len(blocks):
        raise GuideError(f"{page.name}: a block does not start or end at the start of a line")
    return len(blocks)


def links(page: Path) -> list[str]:
    """List the addresses of a page's links and pictures."""
    prose = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text()))
    return [markdown or html for markdown, html in LINK.findall(prose)]


def check_paths(page: Path) -> None:
    """Check that the documents of the repository that a page names exist."""
    for path in re.findall(r"`([\w./-]+\.md)`", page.read_text()):
        if not (REPOSITORY / path).is_file():
            raise GuideError(f"{page.name}: the repository has no {path}")


def check_pictures(page: Path, *, draw: bool) -> set[str]:
    """Compare a page's pictures with those in the current folder, and return their names."""
    shown = {link.removeprefix("pictures/") for link in links(page) if link.startswith("pictures/")}
    for name in sorted(shown):
        picture, drawn = SRC / "pictures" / name, Path(name)
        if not drawn.is_file():
            raise GuideError(f"{page.name}: no example draws {name}")
        if draw:
            picture.write_bytes(drawn.read_bytes())
        elif not picture.is_file() or picture.read_bytes() != drawn.read_bytes():
            raise GuideError(f"{page.name}: {name} is not what its example draws; see --draw")
    return shown


def check_page(page: Path, program: Path, *, draw: bool) -> set[str]:
    """Check a page in a scratch folder, and return the names of its pictures."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in ("docs", "examples"):
            Path(name).symlink_to(REPOSITORY / name)
        count = run_blocks(page, program)
        shown = check_pictures(page, draw=draw)
    check_paths(page)
    print(f"{page.name}: {count} blocks, {len(shown)} pictures")
    return shown


def check_lists(shown: set[str]) -> None:
    """Check that all pages are in the summary and among the Rust tests, and all pictures shown."""
    tested = (GUIDE / "pages.rs").read_text()
    for page in PAGES:
        if page.name not in links(SRC / "SUMMARY.md") or f'"src/{page.name}"' not in tested:
            raise GuideError(f"{page.name} is not in SUMMARY.md or not in pages.rs")
    if unused := {picture.name for picture in (SRC / "pictures").iterdir()} - shown:
        raise GuideError(f"no page shows {', '.join(sorted(unused))}")


def main() -> int:
    """Check what the arguments name."""
    parser = argparse.ArgumentParser(description="Checks the guide.")
    parser.add_argument("program", type=Path, help="the program harris, called `harris`")
    parser.add_argument("--draw", action="store_true", help="replace the guide's pictures")
    parser.add_argument("--page", help="only this page, such as images.md")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    pages = [page for page in PAGES if arguments.page in (None, page.name)]
    try:
        shown = [check_page(page, program, draw=arguments.draw) for page in pages]
        if arguments.page is None:
            check_lists(set().union(*shown))
    except GuideError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
