"""Library functions that allocated memory: of a library that is made for the test, and unqualified names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxmagic.memory_use.capture import library_calls
from jaxmagic.memory_use.capture.library_calls import with_inside
from jaxmagic.memory_use.record.heap import HeapProfile, HeapSample
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.code_names import qualified_name

TEXT = """
    import functools
    def _wrapped(function):
        @functools.wraps(function)
        def wrapper(*arguments):
            return function(*arguments)
        return wrapper
    class Meta(type):
        def __call__(cls, *arguments):
            return super().__call__(*arguments)
    class Layer(metaclass=Meta):
        @_wrapped
        def init(self):
            return [
                (lambda: 1)() for _ in range(3)
            ]
    class Other:
        def init(self):
            return 2
    def chain():
        def init():
            return 3
        return init
    """
LINES = textwrap.dedent(TEXT).splitlines()
STEP = Frame(function="step", file="/home/me/train.py", line=17)
JAXS = Frame(function="full", file="/opt/lib/python3.12/site-packages/jax/_src/lax/lax.py", line=3625)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The file of a package in a folder of packages, loaded."""
    path = tmp_path / "site-packages" / "imagined" / "nn.py"
    path.parent.mkdir(parents=True)
    (path.parent / "__init__.py").write_text("")
    path.write_text("\n".join(LINES))
    monkeypatch.syspath_prepend(str(path.parents[1]))
    importlib.import_module("imagined.nn")
    yield str(path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "imagined"]:
        del sys.modules[name]


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if text in line)


def inside(*stack: Frame) -> str | None:
    one = HeapSample(size_bytes=1, count=1, kind="buffer", device=None, stack=stack)
    (found,) = with_inside(HeapProfile(samples=(one,), started_at=None)).samples
    assert found.stack == stack
    return found.inside


def call(file: str, function: str, text: str) -> Frame:
    return Frame(function=function, file=file, line=line_of(text))


@pytest.mark.parametrize(
    ("function", "text", "name"),
    [
        ("init", "return [", "Layer.init"),
        ("init", "for _ in range(3)", "Layer.init"),
        ("<lambda>", "(lambda: 1)", "Layer.init.<locals>.<lambda>"),
        ("init", "return 2", "Other.init"),
        ("init", "return 3", "chain.<locals>.init"),
        ("wrapper", "return function(*arguments)", "_wrapped.<locals>.wrapper"),
        ("init", "import functools", None),
        ("nothing", "return 2", None),
    ],
)
def test_a_bare_name_and_a_line_lead_to_the_qualified_name(
    file: str, function: str, text: str, name: str | None
) -> None:
    found = qualified_name(file, function, line_of(text))
    if name is not None and "lambda" in name and found is not None:
        found = found.replace(".<listcomp>.<locals>", "").replace("<listcomp>", "<locals>")  # Python 3.11
        found = found.replace("<locals>.<locals>", "<locals>")
    assert found == name


def test_a_file_that_is_gone_or_not_loaded_has_no_names(file: str) -> None:
    assert qualified_name(file.replace("nn.py", "other.py"), "init", 14) is None
    other = Path(file).parent / "gone.py"
    other.write_text("def f():\n    return 1\n")
    importlib.import_module("imagined.gone")
    Path(importlib.util.cache_from_source(str(other))).unlink(missing_ok=True)
    other.unlink()
    assert qualified_name(str(other), "f", 2) is None


def test_the_users_line_called_the_outermost_public_function(file: str) -> None:
    meta, wrapper = call(file, "__call__", "super().__call__"), call(file, "wrapper", "return function(")
    layer, inner = call(file, "init", "return ["), call(file, "init", "return 2")
    assert inside(STEP, meta, wrapper, layer, inner, JAXS) == "imagined.nn.Layer.init"
    assert inside(STEP, call(file, "init", "return 3"), JAXS) == "imagined.nn.chain"
    assert inside(layer, STEP, inner, JAXS) == "imagined.nn.Other.init"
    assert inside(layer, STEP, JAXS) is None


def test_a_stack_of_a_library_alone_has_its_outermost_function(file: str) -> None:
    assert inside(call(file, "init", "return ["), call(file, "init", "return 2"), JAXS) == "imagined.nn.Layer.init"
    assert inside(JAXS) is None
    assert inside() is None


def test_a_library_that_is_not_loaded_is_told_by_its_module() -> None:
    elsewhere = Frame(function="init", file="/opt/lib/python3.12/site-packages/elsewhere/nn/layers.py", line=3)
    assert inside(STEP, elsewhere, JAXS) == "elsewhere.nn.layers.init"


def test_what_a_library_has_registered_as_internal_does_not_count_behind_a_line(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_calls, "is_registered_internal", lambda path: path == file)
    layer = call(file, "init", "return [")
    assert inside(STEP, layer, JAXS) is None
    assert inside(layer, JAXS) == "imagined.nn.Layer.init"


def test_files_that_are_registered_with_jax_are_internal(monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src import traceback_util

    monkeypatch.setattr(traceback_util, "_exclude_paths", ["/opt/registered.py"])
    assert library_calls.is_registered_internal("/opt/registered.py")
    assert not library_calls.is_registered_internal("/opt/other.py")
    monkeypatch.delattr(traceback_util, "include_filename")
    assert not library_calls.is_registered_internal("/opt/registered.py")
