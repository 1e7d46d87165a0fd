"""Ctrl-C at every instruction of code that begins or ends something, and at lines of all magics."""

from __future__ import annotations

import gc
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from injected import ALL, chosen, differences, interrupt_at, session, spots
from shells import Session, open_shell

import jaxmagic
from jaxmagic.benchmarking.capture.conditions import Surroundings
from jaxmagic.compilation.capture.compile_log import CompileLog
from jaxmagic.compilation.capture.listeners import unheard
from jaxmagic.doctor.capture.host_lines import LineSampler
from jaxmagic.doctor.capture.host_waits import WaitPlaces
from jaxmagic.errors import NotMeasured
from jaxmagic.extension import load_ipython_extension
from jaxmagic.memory_use.capture.executables import watch
from jaxmagic.memory_use.capture.usage_sampler import MemorySampler
from jaxmagic.profiling.capture.profiler_session import Profiler
from jaxmagic.progress.bar import Display, shown_progress
from jaxmagic.progress.compiling_line import CompilingLine
from jaxmagic.records.files import write
from jaxmagic.records.recordings import append_entry, copy_folder
from jaxmagic.runtime.copies import unguarded
from jaxmagic.runtime.gc_pause import Collections, held_back
from jaxmagic.timing.capture.waits import WaitLog


def _started(thing: Any) -> Callable[[Path], None]:
    def program(_: Path) -> None:
        begun = thing()
        end = getattr(begun, "cancel", begun.stop)
        try:
            begun.start()
        finally:
            end()

    return program


def _entered(thing: Callable[[], Any]) -> Callable[[Path], None]:
    def program(_: Path) -> None:
        with thing():
            pass

    return program


def _listening(_: Path) -> None:
    log = CompileLog()
    log.start()
    try:
        jax.jit(lambda x: x).lower(1.0)
    finally:
        log.stop()


def _recording(_: Path) -> None:
    profiler = Profiler()
    try:
        profiler.start(most_s=60)
        profiler.stop()
    except NotMeasured:
        pass
    finally:
        profiler.cancel()


def _compiling(_: Path) -> None:
    line = CompilingLine(make_line=lambda: None)  # type: ignore[arg-type,return-value]
    log = CompileLog(line)
    log.start()
    try:
        line.began("f", lambda: True)
    finally:
        log.stop()


def _showing(_: Path) -> None:
    with shown_progress(lambda: Display(make_line=lambda: None, prepare=list)) as shown:  # type: ignore[arg-type,return-value]
        shown.stage("first")
        shown.stage("second", ticking=False)


def _writing(folder: Path) -> None:
    write(b"x", folder / "file")
    append_entry(folder / "list.json", {"x": 1})
    (folder / "list.json").unlink()


def _copying(folder: Path) -> None:
    (folder / "from").mkdir(exist_ok=True)
    (folder / "into").mkdir(exist_ok=True)
    copy_folder(folder / "from", folder / "into").rmdir()


def _copying_arrays(_: Path) -> None:
    unguarded(jax.device_get, jnp.ones(3))


#: Programs that each begin and end one thing.
PROGRAMS: dict[str, Callable[[Path], None]] = {
    "listeners": _listening,
    "waits": _started(WaitLog),
    "memory": _started(MemorySampler),
    "lines": _started(LineSampler),
    "wait places": _started(WaitPlaces),
    "stopwatch": _entered(jaxmagic.stopwatch),
    "surroundings": _entered(lambda: Surroundings(lambda: 0)),
    "programs": _entered(watch),
    "muted": _entered(unheard),
    "collector": _entered(held_back),
    "collections": _entered(lambda: Collections(lambda: 0)),
    "profiler": _recording,
    "compiling": _compiling,
    "progress": _showing,
    "files": _writing,
    "folders": _copying,
    "arrays": _copying_arrays,
}

_F = "import jax, jax.numpy as jnp\nf, x = jax.jit(lambda x: x + 1), jnp.ones(3)\nf(x).block_until_ready()"

#: A cell for each magic, and at how many of its lines it is interrupted: fewer where it takes long.
CELLS = {
    "jaxtime": ("%jaxtime f(x)", 200),
    "jaxmem": ("%jaxmem f(x)", 30),
    "jaxprof": ("%jaxprof f(x)", 30),
    "jaxprof --cold": ("%jaxprof --cold f(x)", 30),
    "jaxtimeit": ("%jaxtimeit -r 3 -n 1 f(x)", 20),
    "jaxtimeit --device": ("%jaxtimeit -r 3 -n 1 --device f(x)", 15),
    "jaxcompare": ("%%jaxcompare -r 2\na: f(x)\nb: f(x)", 20),
    "jaxcompare --profile": ("%%jaxcompare -r 2 --profile\na: f(x)\nb: f(x)", 10),
    "jaxdoctor": ("%jaxdoctor f(x)", 30),
    "jaxdoctor once": ("%jaxdoctor x = f(x)", 10),
    "unload": ("%unload_ext jaxmagic", 15),
}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for temporary files that is used by no other test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def magics() -> Iterator[Session]:
    with open_shell() as opened:
        opened.run("%load_ext jaxmagic")
        yield opened


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_begins_ends_whenever_it_is_interrupted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc, "collect", lambda: 0)  # 0.3 s for all that other tests have left, hundreds of times
    folder = tmp_path / "files"
    folder.mkdir()
    jnp.ones(3).block_until_ready()

    def program() -> None:
        PROGRAMS[name](folder)

    all_spots = spots(program)
    assert all_spots
    before, chance = session(), random.Random(0)
    for spot in all_spots:
        later = chance.randrange(1, 200) if spot.within else 0
        for again in {0, later} if ALL else (chance.choice((0, later)),):
            arrived = interrupt_at(spot, program, again=again)
            found = [*differences(before), *(f"left: {each.name}" for each in folder.rglob("*.tmp"))]
            assert not found, f"Ctrl-C at {spot}, once more {again} later:\n" + "\n".join(found)
            assert arrived, f"Ctrl-C at {spot} never arrived"


@pytest.mark.parametrize("name", CELLS)
def test_a_magic_leaves_the_session_as_it_was(name: str, magics: Session) -> None:
    magics.run(_F)

    cell, most = CELLS[name]

    def program() -> None:
        magics.shell.run_cell(cell)
        load_ipython_extension(magics.shell)

    all_spots = spots(program, lines=True)
    before = session()
    for spot in chosen(all_spots, most, seed=2):
        interrupt_at(spot, program, lines=True)
        load_ipython_extension(magics.shell)  # all of it is gone, or nothing
        magics.shell.run_cell("")  # what an interrupted cell left is forgotten behind the next one
        found = list(differences(before))
        assert not found, f"{name}: Ctrl-C at {spot}:\n" + "\n".join(found)
