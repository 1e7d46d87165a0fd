"""The calls that change what no variable shows, foreseen from the source of some code."""

from __future__ import annotations

import ast
import builtins
import ctypes
import os
import queue
import sqlite3
from os import chdir as go
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture.side_effects.foreseen import foreseen


class Own:
    """A class of the user's, whose code is read."""

    def execute(self, text: str) -> None: ...

    def put(self, item: object) -> None: ...


class Jobs(queue.SimpleQueue[int]):
    """One that a class of the user's derives."""


def moves(path: str) -> None:
    import os as system

    system.chdir(path)


def counts() -> None:
    import builtins as everywhere

    everywhere.steps += 1  # type: ignore[attr-defined]


def chdir(path: str) -> None:
    """A function of the user's with the name of one of Python's."""


KNOWN = {
    **{each.__name__: each for each in (moves, counts, chdir)},
    "os": os,
    "go": go,
    "builtins": builtins,
    "ctypes": ctypes,
    "jobs": queue.SimpleQueue(),
    "more": Jobs(),
    "own": Own(),
    "db": sqlite3.connect(":memory:"),
    "cursor": sqlite3.connect(":memory:").cursor(),
    "fd": 9,
}


@pytest.mark.parametrize(
    ("code", "called"),
    [
        ("os.chdir('s')", ["os.chdir"]),
        ("go('s')", ["go"]),
        ("chdir('s')", []),
        ("moves('s')", ["system.chdir"]),
        ("from os import chdir as move\nmove('s')", ["move"]),
        ("os.write(fd, b'a')", ["os.write"]),
        ("os.write(1, b'a')", []),
        ("os.getcwd()", []),
        ("os.putenv('a', 'b')", ["os.putenv"]),
        ("if fd:\n    os.chdir('s')", []),
        ("def f():\n    os.chdir('s')", []),
        ("jobs.put(1)", ["jobs.put"]),
        ("x = more.get()", ["more.get"]),
        ("jobs.qsize()", []),
        ("own.put(1); own.execute('insert')", []),
        ("db.execute('insert into t values (1)')", ["db.execute"]),
        ("db.execute(text)", ["db.execute"]),
        ("rows = db.execute(' SELECT * FROM t')", []),
        ("cursor.fetchone(); db.commit()", ["cursor.fetchone", "db.commit"]),
        ("ctypes.memset(fd, 0, 1)", ["ctypes.memset"]),
        ("builtins.steps += 1", ["builtins.steps"]),
        ("builtins.steps = builtins.steps + 1", ["builtins.steps"]),
        ("builtins.steps = 1", []),
        ("own.steps += 1", []),
        ("counts()", ["everywhere.steps"]),
        ("q = queue.SimpleQueue()\nq.put(1)", []),  # a new one each time
    ],
)
def test_calls_that_change_what_no_variable_shows_are_foreseen(code: str, called: list[str]) -> None:
    assert foreseen(ast.parse(code), KNOWN).called == called


def test_no_code_of_the_users_runs_for_it() -> None:
    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    code = "x.put(1); x.execute('a'); x('c'); x.steps += x.steps"
    assert foreseen(ast.parse(code), {"x": Hostile()}).called == []


def test_code_that_puts_into_a_queue_runs_once_under_the_profiler() -> None:
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def train(x: Any) -> Any:
        y = jnp.sin(x)
        jobs.put(y)
        return y

    diagnosis = jaxmagic.diagnose(train, np.ones(8, np.float32))
    assert jobs.qsize() == 1
    assert diagnosis.profile is not None
    (told,) = [each for each in diagnosis.notes if each.kind == "doctor.once_called"]
    assert "(jobs.put)" in str(told)
