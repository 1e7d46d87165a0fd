"""What the manual promises of every record, asked of every class that is one."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fabricate.profiling import fabricated
from matplotlib.figure import Figure

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.records.exportable import Exportable
from jaxmagic.records.note import note
from jaxmagic.report.displayable import Displayable
from jaxmagic.session.history import History

ROOT = Path(__file__).parent.parent


def public(below: type) -> list[str]:
    """The names of the public classes below one."""
    found = {name: getattr(jaxmagic, name) for name in jaxmagic._PUBLIC}
    return sorted(name for name, each in found.items() if isinstance(each, type) and issubclass(each, below))


RECORDS = public(Displayable)
PARTS = sorted({*public(Exportable)} - {*RECORDS})


@pytest.fixture
def make(
    timing: Any,
    benchmark: Any,
    comparison: Any,
    sweep: Any,
    memory_profile: Any,
    live_arrays: Any,
    executable: Any,
    heap_difference: Any,
    compilation: Any,
    environment: Any,
    diagnosis: Any,
    rule_finding: Any,
) -> Callable[[str], Any]:
    """Makes a record of the kind that is named."""
    history = History()
    for each in (timing(compilation()), benchmark, comparison, sweep, memory_profile(), fabricated(), diagnosis()):
        history.append(each)
    found = {
        "Timing": timing(compilation()),
        "Benchmark": benchmark,
        "Comparison": comparison,
        "Sweep": sweep,
        "MemoryProfile": memory_profile(),
        "LiveArrays": live_arrays((8, ("x",))),
        "Executable": executable(),
        "HeapDifference": heap_difference(),
        "HeapProfile": heap_difference().after,
        "Profile": fabricated(),
        "Diagnosis": diagnosis(),
        "RuleFinding": rule_finding(),
        "History": history,
        "Compilation": compilation(),
        "Cause": Cause(kind="shape", reason="shape of x"),
        "Environment": environment,
        "Note": note("timing.standstill", stood_ns=7, unheard="all"),
    }
    return lambda kind: found[kind] if kind in found else pytest.fail(f"fabricate a {kind}, here in the fixture make")


def test_the_kinds_are_those_that_the_changelog_names() -> None:
    assert len(RECORDS) == 12
    assert PARTS == ["Cause", "Compilation", "Environment", "Note", "RuleFinding"]


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_of_any_kind_is_saved_and_comes_back_equal(make: Any, kind: str, tmp_path: Any) -> None:
    record = make(kind)
    assert jaxmagic.load(record.save(tmp_path / "record.json")) == record


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_of_any_kind_has_text_html_and_a_figure(make: Any, kind: str) -> None:
    record = make(kind)
    assert set(record._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert isinstance(record.figure(), Figure)


@pytest.mark.parametrize("kind", [*RECORDS, *PARTS])
def test_all_of_them_are_dictionaries_and_frames(make: Any, kind: str) -> None:
    record = make(kind)
    frame = record.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    found = record.to_dict()
    assert set(record._derived) <= set(found)
    json.dumps({str(key): value for key, value in found.items()})
    with pytest.raises(ValueError, match="of: expected .*got 'nonsense'"):
        record.to_frame("nonsense")


def test_an_eager_operation_is_told_in_the_frame_of_compilations(timing: Any, compilation: Any) -> None:
    frame = timing(compilation(), compilation(eager=True)).to_frame("compilations")
    assert list(frame["eager"]) == [False, True]
    assert str(frame["eager"].dtype) == "boolean"


def test_texts_that_are_not_known_are_missing_and_not_none(timing: Any, benchmark: Any) -> None:
    for frame in (timing(code=None).to_frame(), replace(benchmark, code=None).to_frame("benchmarks")):
        assert frame["code"][0] is pd.NA
    assert timing().to_frame()["error"][0] is pd.NA


def test_every_class_whose_fields_the_manual_lists_is_public() -> None:
    text = (ROOT / "docs" / "records.md").read_text("utf-8")
    classes = re.findall(r"^```{record-fields} jaxmagic\.(.*)\.(\w+)$", text, re.M)
    assert len(classes) > 40
    for module, name in classes:
        assert getattr(jaxmagic, name, None) is getattr(import_module(f"jaxmagic.{module}"), name), name


def test_every_kind_of_finding_is_documented() -> None:
    kinds = {
        keyword.value.value
        for path in (ROOT / "jaxmagic").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
        for keyword in node.keywords
        if keyword.arg == "kind" and isinstance(keyword.value, ast.Constant)
    }
    assert len(kinds) >= 9
    documented = " ".join((jaxmagic.Finding.__doc__ or "").split())
    assert [each for each in sorted(kinds) if f'``"{each}"``' not in documented] == []


_WITHOUT_JAX = """
import sys
sys.modules["jax"] = sys.modules["jaxlib"] = None
import jaxmagic
old, new = jaxmagic.load(sys.argv[1]), jaxmagic.load(sys.argv[1])
assert str(old).startswith("Wall time")
assert old._repr_mimebundle_()["text/html"]
old.to_frame(), old.figure(), old.to_dict(), old.save(sys.argv[1])
jaxmagic.explore(old), jaxmagic.history().to_frame()
one, two = jaxmagic.load(sys.argv[2]), jaxmagic.load(sys.argv[2])
print(jaxmagic.compare(one, two).verdict)
for verb in jaxmagic.benchmark, jaxmagic.profile, jaxmagic.memory, lambda *_: jaxmagic.profiler().__enter__():
    try:
        verb(sum, [1])
    except jaxmagic.JaxNotAvailable as error:
        print("JaxNotAvailable")
"""


@pytest.mark.slow
def test_what_a_record_can_do_works_without_jax(timing: Any, benchmark: Any, tmp_path: Any) -> None:
    paths = [str(timing().save(tmp_path / "t.json")), str(benchmark.save(tmp_path / "b.json"))]
    command = [sys.executable, "-c", _WITHOUT_JAX, *paths]
    done = subprocess.run(command, check=False, timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["too noisy to tell", *["JaxNotAvailable"] * 4]
