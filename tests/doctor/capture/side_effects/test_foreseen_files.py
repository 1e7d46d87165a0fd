"""The files that some code will write, foreseen from its source."""

from __future__ import annotations

import ast
import gzip
import io
import os
import pickle
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture.side_effects.foreseen import foreseen


class Own:
    def to_csv(self, path: str) -> str:
        return path


class Frame:
    """One of a library, whose methods are no functions of the user's."""

    to_csv = print


def logs(path: Path, value: float) -> None:
    with path.open("a") as file:
        file.write(str(value))


def reads(path: Path) -> str:
    with open(path) as file:
        return file.read()


def dumps(state: Any) -> bytes:
    buffer = io.BytesIO()
    pickle.dump(state, buffer)
    np.save(buffer, state)
    return buffer.getvalue()


def saves(state: Any) -> None:
    name = f"state-{len(state)}.pkl"
    with open(name, "wb") as file:
        pickle.dump(state, file)


KNOWN = {
    **{each.__name__: each for each in (Path, logs, reads, dumps, saves)},
    "np": np,
    "jnp": jnp,
    "os": os,
    "gzip": gzip,
    "io": io,
    "path": Path("run"),
    "text": "x.npy",
    "x": np.ones(3),
    "own": Own(),
    "frame": Frame(),
    "buffer": io.BytesIO(),
}


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("open('log.txt', 'w')", ["log.txt"]),
        ("open('log.txt', mode='ab')", ["log.txt"]),
        ("with open(f'{text}.txt', 'w') as f: f.write('a')", ["f'{text}.txt'"]),
        ("open('log.txt')", []),
        ("open('log.txt', 'rb')", []),
        ("open('log.txt', mode)", []),
        ("open('/dev/null', 'w')", []),
        ("open(os.devnull, 'w')", []),
        ("if x.any():\n    open('log.txt', 'w')", []),
        ("def f():\n    open('log.txt', 'w')", []),
        ("for i in range(9):\n    if i % 3 == 0:\n        np.save(text, x)", ["text"]),
        ("np.save('x.npy', x)", ["x.npy"]),
        ("np.savez(file='x.npz', x=x)", ["x.npz"]),
        ("jnp.save(path / 'x', x)", ["path / 'x'"]),
        ("np.save(os.path.join('a', 'b'), x)", ["os.path.join('a', 'b')"]),
        ("np.save(buffer, x)", []),
        ("np.save(io.BytesIO(), x)", []),
        ("np.save(unknown, x)", []),
        ("name = 'a' + text\nnp.save(name, x)", ["name"]),
        ("target = io.BytesIO()\nnp.save(target, x)", []),
        ("np.load('x.npy')", []),
        ("x.tofile('x.bin')", ["x.bin"]),
        ("frame.to_csv('a.csv')", ["a.csv"]),
        ("own.to_csv('a.csv')", []),
        ("table.to_csv()", []),
        ("table.to_csv(path / 'a.csv')", ["path / 'a.csv'"]),
        ("figure.savefig('a.png')", ["a.png"]),
        ("figure.savefig(buffer)", []),
        ("path.write_text('a')", ["path"]),
        ("Path('a').write_bytes(b'')", ["Path('a')"]),
        ("(path / 'a' / 'b').open('w')", ["path / 'a' / 'b'"]),
        ("path.open()", []),
        ("path.read_text()", []),
        ("gzip.open('a.gz', 'wt')", ["a.gz"]),
        ("logs(path, 1.)", ["path"]),
        ("reads(path)", []),
        ("dumps(x)", []),
        ("saves(x)", ["name"]),
    ],
)
def test_files_that_code_writes_are_foreseen(code: str, files: list[str]) -> None:
    assert foreseen(ast.parse(code), KNOWN).written == files


def test_no_code_of_the_users_runs_for_it() -> None:
    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        def __eq__(self, other: object) -> bool:
            raise AssertionError(other)

        __hash__ = None  # type: ignore[assignment]

    known = {"x": Hostile(), "np": np}
    assert foreseen(ast.parse("x.to_csv('a'); x.save('b'); np.save(x, x); x('c'); x.open('w')"), known).written == [
        "a"
    ]


def test_code_that_writes_runs_once_under_the_profiler(tmp_path: Path) -> None:
    def train(x: Any) -> Any:
        y = jnp.sin(x)
        np.save(tmp_path / "y.npy", y)
        return y

    diagnosis = jaxmagic.diagnose(train, np.ones(8, np.float32))
    assert len(diagnosis.runs) == 1
    assert diagnosis.profile is not None
    assert {"not-jitted", "dispatch-bound"} <= {*diagnosis.looked}
    (told,) = [each for each in diagnosis.notes if each.kind == "doctor.once_written"]
    assert told.facts["names"] == "tmp_path / 'y.npy'"
