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


def test_the_first_program_of_the_readme_runs() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text()
    program = text.split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(program, names)
    assert len(names["corners"]) == 4
