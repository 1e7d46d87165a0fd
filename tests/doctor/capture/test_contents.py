"""Buffers and streams in memory, whose contents change without a name being bound anew."""

from __future__ import annotations

import array
import io
import logging
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.changes import Snapshot
from jaxmagic.doctor.capture.contents import content_of, content_of_array
from jaxmagic.testing import assert_no_compile


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
        (lambda: jax.new_ref(jnp.zeros(3)), jax.jit(lambda held: held.addupdate(jnp.ones(3)))),
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
        "ref",
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


class Kept(logging.Handler):
    """A handler of the user's that keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.mark.parametrize("keeps", [False, True])
def test_what_a_logger_remembers_of_others_is_no_change_but_what_its_handlers_keep_is(keeps: bool) -> None:
    log = logging.Logger("train", logging.INFO)  # without a parent, in whose handlers pytest keeps what is logged
    if keeps:
        log.addHandler(Kept())
    snapshot = Snapshot({"log": log})
    log.info("step")
    log.isEnabledFor(logging.DEBUG)
    logging.getLogger(f"other_{keeps}")
    assert [each.partition("[")[0] for each in snapshot.changed()] == ["log.handlers"] * keeps


def halves() -> Any:
    mesh = jax.make_mesh((jax.device_count(),), ("devices",))
    return jax.device_put(np.arange(8.0), jax.NamedSharding(mesh, jax.P("devices")))


@pytest.mark.parametrize(
    ("made", "other"),
    [
        (lambda: jnp.arange(4.0), lambda: jnp.arange(4.0).at[3].set(7)),
        (lambda: jnp.arange(4.0), lambda: jnp.arange(4)),
        (lambda: jnp.arange(4.0), lambda: jnp.arange(4.0).reshape(2, 2)),
        (lambda: jnp.ones((2, 3), jnp.bfloat16), lambda: jnp.full((2, 3), 2, jnp.bfloat16)),
        (lambda: jnp.zeros(()), lambda: jnp.ones(())),
        (lambda: jax.random.key(1), lambda: jax.random.key(2)),
        (halves, lambda: halves() + 1),
        (lambda: (jnp.ones(2), {"n": 1}), lambda: (jnp.ones(2), {"n": 2})),
        (lambda: {"mu": [jnp.ones(2)], "nu": ()}, lambda: {"mu": [jnp.zeros(2)], "nu": ()}),
    ],
    ids=["values", "type", "shape", "bfloat16", "number", "key", "sharded", "tuple", "dictionary"],
)
def test_what_equals_what_it_replaces_is_no_change(made: Callable[[], Any], other: Callable[[], Any]) -> None:
    net = types.SimpleNamespace(value=made(), within=[made()])
    before = Snapshot({"net": net})
    net.value, net.within[0] = made(), made()
    assert before.changed() == []
    net.value = other()
    assert before.changed()[0] == "net"


def test_a_module_of_the_same_contents_is_another_one() -> None:
    """What else refers to the first one does not see what happens to it."""
    net = types.SimpleNamespace(layers=[types.SimpleNamespace(w=1)])
    before = Snapshot({"net": net})
    net.layers = [types.SimpleNamespace(w=1)]
    assert before.changed() == ["net"]


def test_what_is_too_large_to_read_counts_as_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jaxmagic.doctor.capture.contents._MOST_READ_BYTES", 24)
    net = types.SimpleNamespace(first=jnp.ones(4), second=jnp.ones(4))
    before = Snapshot({"net": net})
    net.first = jnp.ones(4)
    assert before.changed() == []
    net.second = jnp.ones(4)
    assert before.changed() == ["net"]


def test_a_deleted_array_has_no_content() -> None:
    gone = jnp.ones(3)
    gone.delete()
    assert content_of_array(gone) is None
    assert content_of_array(np.ones(3)) is None
    net = types.SimpleNamespace(w=gone)
    before = Snapshot({"net": net})
    net.w = jnp.ones(3)
    assert before.changed() == ["net"]


def test_reading_an_array_runs_nothing_and_leaves_it_to_be_donated() -> None:
    array, key = jnp.arange(1000.0) + 1, jax.random.key(3)
    address = array.unsafe_buffer_pointer()
    with assert_no_compile(), jax.transfer_guard("disallow"):
        assert content_of_array(array) is not None
        assert content_of_array(key) is not None
    donated = jax.jit(lambda x: x * 2, donate_argnums=0)(array)
    assert donated.unsafe_buffer_pointer() == address


@pytest.mark.parametrize("make", [lambda: jnp.arange(8.0), lambda: jax.random.key(3)])
def test_reading_an_array_leaves_no_other_array_of_the_same_memory(make: Callable[[], Any]) -> None:
    """Such an array would say that something else holds what the code replaces."""
    array = make()
    there = {id(each) for each in jax.live_arrays()}
    contents = content_of_array(array)
    assert contents is not None
    assert {id(each) for each in jax.live_arrays()} <= there
    assert content_of_array(array) == contents


def test_a_container_of_itself_ends() -> None:
    held: list[Any] = [jnp.ones(2)]
    held.append(held)
    net = types.SimpleNamespace(held=held)
    before = Snapshot({"net": net})
    assert before.changed() == []
    net.held = list(held)
    assert before.changed() == ["net"]
