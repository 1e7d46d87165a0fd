"""Buffers and streams in memory, whose contents change without a name being bound anew."""

from __future__ import annotations

import array
import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxmagic.doctor.capture.changes import Snapshot
from jaxmagic.doctor.capture.contents import content_of


def rewrite(stream: io.StringIO) -> None:
    stream.seek(0)
    stream.write("b")


@pytest.mark.parametrize(
    ("made", "change"),
    [
        (lambda: bytearray(b"a"), lambda held: held.__setitem__(0, 1)),
        (lambda: bytearray(), lambda held: held.append(1)),
        (lambda: bytearray(2**20), lambda held: held.__setitem__(-1, 1)),
        (lambda: array.array("d", [1.0]), lambda held: held.__setitem__(0, 2.0)),
        (lambda: array.array("u", "ab"), lambda held: held.append("c")),
        (lambda: io.BytesIO(b"a"), lambda held: held.write(b"b")),
        (lambda: io.StringIO(), lambda held: held.write("b")),
        (lambda: io.StringIO("a"), lambda held: held.read()),
        (lambda: np.zeros(3), lambda held: held.__setitem__(0, 1)),
        (lambda: np.zeros((4, 6))[::2, ::3].T, lambda held: held.__setitem__((1, 1), 1)),
        (lambda: np.zeros((2000, 2000)), lambda held: held.__iadd__(1)),
        (lambda: np.ma.array([1.0, 2.0], mask=[0, 1]), lambda held: held.__setitem__(0, 2)),
        (lambda: np.array([None, 1]), lambda held: held.__setitem__(1, 2)),
    ],
    ids=[
        "bytearray",
        "empty",
        "large",
        "array",
        "letters",
        "BytesIO",
        "StringIO",
        "read",
        "numpy",
        "view",
        "megabytes",
        "masked",
        "objects",
    ],
)
def test_a_changed_buffer_is_found(made: Callable[[], Any], change: Callable[[Any], None]) -> None:
    within, named = made(), made()
    before = Snapshot({"held": [within], "named": named, "function": lambda: None})
    assert before.changed() == []
    change(within)
    change(named)
    assert before.changed() == ["named", "held[0]"]


def test_the_same_place_with_another_text_is_a_change() -> None:
    stream = io.StringIO("a")
    stream.seek(1)
    before = content_of(stream)
    rewrite(stream)
    assert content_of(stream) != before


def test_a_buffer_can_grow_afterwards() -> None:
    held = bytearray(2**20)
    content_of(held)
    held.append(1)
    assert len(held) == 2**20 + 1


def test_a_closed_stream_and_what_is_no_buffer_have_no_content() -> None:
    closed = io.StringIO("a")
    closed.close()
    assert content_of(closed) is None
    assert content_of([1]) is None
    assert content_of(type("Own", (bytearray,), {})(b"a")) is None


def opened(path: Path, mode: str, **options: Any) -> Any:
    path.write_text("one\ntwo\n" * 9999)
    return open(path, mode, **options)


@pytest.mark.parametrize(
    ("mode", "options", "change"),
    [
        ("w", {}, lambda file: file.write("a")),
        ("a", {}, lambda file: file.write("a")),
        ("ab", {}, lambda file: file.write(b"a")),
        ("wb", {"buffering": 0}, lambda file: file.write(b"a")),
        ("r+b", {}, lambda file: file.read(1)),
        ("r", {}, lambda file: file.readline()),
        ("rb", {}, lambda file: file.readline()),
        ("w", {}, lambda file: print("a", file=file)),
    ],
)
def test_a_file_that_stays_open_has_changed_if_its_position_has(
    tmp_path: Path, mode: str, options: Any, change: Callable[[Any], object]
) -> None:
    with opened(tmp_path / "log.txt", mode, **options) as file:
        snapshot = Snapshot({"log": {"file": file}})
        assert snapshot.changed() == []
        change(file)
        assert snapshot.changed() == ["log['file']"]


def test_a_closed_file_a_log_and_what_print_writes_to_do_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "closed.txt", "r") as closed:
        pass
    handler = logging.FileHandler(tmp_path / "log.txt")
    with opened(tmp_path / "out.txt", "w") as out:
        monkeypatch.setattr("sys.stdout", out)
        snapshot = Snapshot({"closed": closed, "handler": handler, "out": out})
        print("a")
        handler.stream.write("a")
        changed = snapshot.changed()
        monkeypatch.undo()
    handler.close()
    assert changed == []
