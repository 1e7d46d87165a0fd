"""What the manual promises of every record, asked of every class that is one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from profiles import fabricated

import jaxmagic
from jaxmagic.model.compilation import Cause
from jaxmagic.model.display import Displayable, Exportable
from jaxmagic.model.history import History


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
) -> Callable[[str], Any]:
    """Makes a record of the kind that is named."""
    history = History()
    for each in (timing(compilation()), benchmark, comparison, sweep, memory_profile(), fabricated()):
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
        "History": history,
        "Compilation": compilation(),
        "Cause": Cause(kind="shape", reason="shape of x"),
        "Environment": environment,
    }
    return found.__getitem__


def test_the_kinds_are_those_that_the_changelog_names() -> None:
    assert len(RECORDS) == 11
    assert PARTS == ["Cause", "Compilation", "Environment"]


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
    with pytest.raises(ValueError, match="expected one of .*found 'nonsense'"):
        record.to_frame("nonsense")


def test_an_eager_operation_is_told_in_the_frame_of_compilations(timing: Any, compilation: Any) -> None:
    frame = timing(compilation(), compilation(eager=True)).to_frame("compilations")
    assert list(frame["eager"]) == [False, True]
    assert str(frame["eager"].dtype) == "boolean"
