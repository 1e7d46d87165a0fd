"""Errors and interrupts after the measurement cost neither the record nor the value."""

from __future__ import annotations

import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from shells import Session

import jaxmagic
from jaxmagic.benchmarking.capture import conditions
from jaxmagic.benchmarking.capture.conditions import Surroundings
from jaxmagic.benchmarking.capture.runner import Runner
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.magics import block
from jaxmagic.memory_use.capture import heap_snapshots as snapshots
from jaxmagic.memory_use.capture import live_arrays as arrays
from jaxmagic.memory_use.capture import run as memory
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.runtime.machine_load import Load
from jaxmagic.session.record import Record


def fail(*_: Any, **__: Any) -> None:
    raise RuntimeError("no room")


@pytest.mark.parametrize(
    "form", ["%jaxtimeit -n1 -r3 -o -v kept f(x)", "%%jaxcompare -r 3 -o -v kept\na: f(x)\nb: f(x)"]
)
def test_a_renderer_that_raises_costs_no_record(
    session: Session, monkeypatch: pytest.MonkeyPatch, capsys: Any, form: str
) -> None:
    monkeypatch.setattr(block, "show", fail)
    record = session.run(form)
    assert isinstance(record, Benchmark | Comparison)
    assert session.shell.user_ns["kept"] is record
    assert jaxmagic.last().started_at == record.started_at
    assert "The report failed (RuntimeError: no room). The record is in jaxmagic.last()." in capsys.readouterr().out


@pytest.mark.parametrize("magic", ["%jaxtime", "%jaxmem", "%jaxprof"])
def test_a_renderer_that_raises_costs_no_value(
    session: Session, monkeypatch: pytest.MonkeyPatch, capsys: Any, magic: str
) -> None:
    monkeypatch.setattr(block, "show", fail)
    value = session.run(f"y = {magic} -v kept f(x)\ny")
    assert value.shape == (8, 8)
    assert session.shell.user_ns["kept"] is jaxmagic.last()
    assert "The report failed" in capsys.readouterr().out


def test_a_folder_that_has_gone_costs_no_record(session: Session, tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    session.shell.user_ns["folder"] = folder
    setup = "--setup 'folder.is_dir() and folder.rmdir()'"
    record = session.run(f"%jaxtimeit -n1 -r3 -o {setup} --save {folder}/run.json f(x)")
    assert isinstance(record, Benchmark)
    assert jaxmagic.last().started_at == record.started_at
    assert "--save failed (FileNotFoundError" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["[" * 100_000, "{}", "\x00"])
def test_a_list_that_cannot_be_read_costs_no_profile(session: Session, tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content)
    value = session.run(f"y = %jaxprof --logdir {tmp_path} -v kept f(x)\ny")
    record = session.shell.user_ns["kept"]
    assert value.shape == (8, 8)
    assert isinstance(record, Profile)
    assert any(each.kind == "profiling.not_listed" for each in record.notes)


_LATE = [(Load, "of_others"), (Runner, "overhead_ns"), (Surroundings, "conditions_of"), (Surroundings, "__exit__")]


@pytest.mark.parametrize(("owner", "name"), _LATE)
@pytest.mark.parametrize("form", ["%jaxtimeit -n1 -r3 -v kept f(x)", "%%jaxcompare -r 3 -v kept\na: f(x)\nb: f(x)"])
def test_an_interrupt_behind_the_last_sample_costs_none(
    session: Session, monkeypatch: pytest.MonkeyPatch, form: str, owner: Any, name: str
) -> None:
    original = getattr(owner, name)

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return original(*args, **kwargs)

    if owner is Load:  # the timing of the first call has one, too
        monkeypatch.setattr(conditions, "Load", type("Late", (Load,), {name: interrupted}))
    else:
        monkeypatch.setattr(owner, name, interrupted)
    session.run(form)
    record: Record = session.shell.user_ns["kept"]
    assert isinstance(record, Benchmark | Comparison)
    assert record.stopped_by == "interrupt"
    found = record if isinstance(record, Benchmark) else record.candidates[0]
    assert len(found.latency.samples_ns) == 3
    assert jaxmagic.last().started_at == record.started_at


_PARTS = {
    "describe": ["the memory that programs need", "the names that hold arrays", "memory by call stack"],
    "find_holders": ["the names that hold arrays", "memory by call stack"],
    "heap_data": ["memory by call stack"],
}

#: Where each of these is looked up, and the how manieth call comes behind the code.
_READERS = {"describe": (memory, 1), "find_holders": (arrays, 1), "heap_data": (snapshots, 2)}


def _fails_behind_the_code(monkeypatch: pytest.MonkeyPatch, name: str, fail: Callable[[], None]) -> None:
    """Let what reads a part of a memory record fail once."""
    owner, failing = _READERS[name]
    original, calls = getattr(owner, name), count(1)

    def failed(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == failing:
            fail()
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, failed)


@pytest.mark.parametrize("where", _PARTS)
def test_an_interrupt_while_a_memory_record_is_made_keeps_what_there_is(
    session: Session, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    _fails_behind_the_code(monkeypatch, where, lambda: signal.raise_signal(signal.SIGINT))
    session.run("%jaxmem --pprof -v kept f(x)", fails=KeyboardInterrupt)
    record = session.shell.user_ns["kept"]
    assert [str(each) for each in record.notes if each.kind == "memory_use.interrupted"] == [
        f"Interrupted while the record was made: {what} could not be read." for what in _PARTS[where]
    ]
    assert record is jaxmagic.last()
    assert record.timeline is not None
    assert record.arrays.total_bytes >= 256
    assert bool(record.executables) == (where != "describe")
    assert "Interrupted while the record was made" in session.report


@pytest.mark.parametrize("where", ["describe", "find_holders"])
def test_a_part_of_a_memory_record_that_cannot_be_read_costs_neither_record_nor_value(
    session: Session, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def fail() -> None:
        raise ValueError("odd")

    _fails_behind_the_code(monkeypatch, where, fail)
    value = session.run("y = %jaxmem -v kept f(x)\ny")
    assert value.shape == (8, 8)
    notes = list(map(str, session.shell.user_ns["kept"].notes))
    assert f"Could not read {_PARTS[where][0]} (ValueError: odd)." in notes


@pytest.mark.parametrize("magic", ["%jaxtime", "%jaxmem", "%jaxprof"])
def test_an_interrupt_while_the_report_is_drawn_shows_it(
    session: Session, monkeypatch: pytest.MonkeyPatch, magic: str
) -> None:
    original = block.show

    def interrupted(*args: Any, **kwargs: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        original(*args, **kwargs)

    monkeypatch.setattr(block, "show", interrupted)
    shown = len(session.published)
    session.run(f"{magic} -v kept f(x)", fails=KeyboardInterrupt)
    assert len(session.published) == shown + 1
    assert session.shell.user_ns["kept"] is jaxmagic.last()
