"""Lists that functions append to are copied for the functions that see them, or nothing is tried."""

from __future__ import annotations

from collections import deque
from typing import Any

import jax
import pytest

from jaxmagic.doctor.capture.changes import Changed
from jaxmagic.doctor.capture.remedies.calls.jitted_function import Jitted
from jaxmagic.doctor.capture.remedies.logs import Logs, keep_apart, logs_of
from jaxmagic.doctor.capture.remedies.remedy import NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.records.note import Note, note

losses = [1.0]
history: dict[str, float] = {"loss": 1.0}
recent = deque([1.0])
OTHERS = [Changed("n in f()", by_function=True), Changed("state")]


def log(x: float) -> None:
    losses.append(x)
    history["loss"] = x
    recent.append(x)


def train(x: float) -> float:
    log(x)
    return x


class Trainer:
    def train(self, x: float) -> None:
        losses.append(x)


def logs(code: TriedCode) -> Logs:
    return logs_of(code, [*(Changed(each, by_function=True) for each in ("losses", "history", "recent")), *OTHERS])


def test_each_run_begins_with_what_there_was() -> None:
    code = TriedCode("train(2.0)", {"train": train})
    found = logs(code)
    assert (found.names, found.changed) == (["losses", "history", "recent"], OTHERS)
    keep_apart(code, found, {})
    call, _ = code.made(found.copies)
    for _ in range(2):
        found.fill()
        assert call() == 2.0
        assert [*map(str, found.copies.values())] == ["[1.0, 2.0]", "{'loss': 2.0}", "deque([1.0, 2.0])"]
        assert found.added() == [[2.0]]
    assert (losses, history, recent) == ([1.0], {"loss": 1.0}, deque([1.0]))


def test_a_bound_method_writes_to_the_copy() -> None:
    code = TriedCode("train(2.0), f(3.0)", {"train": train, "f": Trainer().train})
    found = logs(code)
    keep_apart(code, found, {})
    call, _ = code.made(found.copies)
    found.fill()
    call()
    assert found.copies[id(losses)] == [1.0, 2.0, 3.0]
    assert losses == [1.0]


def test_what_is_not_copied_keeps_the_original() -> None:
    code = TriedCode("train(2.0), f(2.0)", {"train": train, "f": jax.jit(train)})
    with pytest.raises(NotTried) as raised:
        keep_apart(code, logs(code), {})
    assert raised.value.notes == (note("doctor.not_tried_log", name="losses"),)


@pytest.mark.parametrize(
    ("remedy", "told"),
    [
        (jax.jit(log), note("doctor.remedy_reads_log", name="losses")),
        (Jitted(log).call, note("doctor.jit_reads_log", name="losses", function="log")),
    ],
)
def test_a_remedy_may_lead_to_the_original(remedy: Any, told: Note) -> None:
    code = TriedCode("train(2.0)", {"train": train})
    with pytest.raises(NotTried) as raised:
        keep_apart(code, logs(code), {id(log): remedy})
    assert raised.value.notes == (told,)


def trains_otherwise(x: float) -> float:
    log(2 * x)
    return x


def test_a_function_in_place_of_another_gets_the_copies_as_well() -> None:
    code = TriedCode("train(2.0)", {"train": train})
    found, instead = logs(code), {id(train): trains_otherwise}
    keep_apart(code, found, instead)
    call, _ = code.made({**found.copies, **instead})
    found.fill()
    assert call() == 2.0
    assert found.added() == [[4.0]]
    assert losses == [1.0]
