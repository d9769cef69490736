"""The examples of all docstrings run."""

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harris


def documented() -> Iterator[tuple[str, Any]]:
    yield "harris", harris
    for name in harris.__all__:
        value = getattr(harris, name)
        if not (inspect.isclass(value) or callable(value)):
            continue
        yield f"harris.{name}", value
        if inspect.isclass(value):
            for member, method in vars(value).items():
                if not member.startswith("_"):
                    yield f"harris.{name}.{member}", method


@pytest.mark.parametrize(("name", "value"), list(documented()), ids=str)
def test_examples_run(name: str, value: Any) -> None:
    text = inspect.getdoc(value)
    assert text, f"{name} has no docstring"
    parsed = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        parsed, out=report.append
    )
    assert not failed, "".join(report)


def test_every_class_and_function_has_an_example() -> None:
    for name in harris.__all__:
        value = getattr(harris, name)
        is_exception = inspect.isclass(value) and issubclass(value, (Exception, tuple))
        if callable(value) and not is_exception:
            assert ">>>" in (inspect.getdoc(value) or ""), name


@pytest.mark.parametrize(
    ("readme", "strongest"),
    [
        ("README.md", "x 287.0 y 332.0 response 0.00722"),
        ("harris-python/README.md", "x 287.0 y 332.0 response 0.0296"),
    ],
)
def test_the_first_program_of_each_readme_runs(
    readme: str, strongest: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their photographs are in examples/data."""
    repository = Path(__file__).parents[2]
    monkeypatch.chdir(repository / "examples")
    exec((repository / readme).read_text().split("```python\n")[1].split("```")[0], {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[0].startswith(strongest), lines
