"""How many samples tell that loading of data matters, and which line they are told of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, FunctionShare, HostShare, HostWait
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules import examine as module
from jaxmagic.doctor.rules.host import input_bound, not_jitted
from jaxmagic.doctor.rules.host.loading import unjudged_loading
from jaxmagic.records.call_stack import Frame

UNJUDGED = "doctor.input_unjudged"

SOURCE = """\
def augment(batch):
    for image in batch:
        padded = np.pad(image, 4)
        i, j = rng.integers(0, 8, 2)
    return padded

def loader():
    for batch in batches:
        yield augment(batch)

def train():
    for batch in loader():
        step(batch)
"""


@pytest.fixture
def sampled(evidence: Any, tmp_path: Path) -> Any:
    """Return evidence with samples of lines of the loader, which get the next item of the loop in ``train``."""
    file = tmp_path / "train.py"
    file.write_text(SOURCE)

    def frame(function: str, line: int) -> Frame:
        return Frame(function=function, file=str(file), line=line)

    functions = {3: "augment", 4: "augment", 9: "loader"}

    def make(slower_ms: int = 0, **samples: int) -> Evidence:
        host = tuple(
            HostShare(
                line=(line := frame(functions[int(name[4:])], int(name[4:]))),
                called="",
                samples=count,
                loading=(line, frame("train", 12)),
            )
            for name, count in samples.items()
        )
        elsewhere = HostShare(line=frame("train", 13), called="", samples=60, stack=(frame("train", 13),))
        made = evidence(host=(*host, elsewhere))
        slower = replace(made.observed, wait_ns=made.observed.wait_ns + slower_ms * MS)
        return replace(made, observed=slower)

    return make


@pytest.mark.parametrize(
    ("samples", "slower_ms", "is_found", "unjudged"),
    [
        (4, 0, False, None),  # less than the least loss
        (5, 0, False, (5, 0)),
        (9, 0, False, (9, 0)),
        (10, 0, True, None),
        (10, 5, True, None),
        (10, 6, False, (10, 6 * MS)),  # the run may have paused meanwhile
        (19, 15, False, (19, 15 * MS)),
        (20, 50, True, None),
    ],
)
def test_loading_is_found_unknown_or_too_short(
    samples: int, slower_ms: int, is_found: bool, unjudged: tuple[int, int] | None, sampled: Any
) -> None:
    made = sampled(slower_ms=slower_ms, line3=samples)
    told = unjudged_loading(made)
    assert bool(list(input_bound.look(made))) is is_found
    assert (None if told is None else (told.facts["samples"], told.facts["slower_ns"])) == unjudged


def test_the_device_that_is_always_busy_waits_for_no_loading(sampled: Any) -> None:
    made = sampled(line3=9)
    assert unjudged_loading(replace(made, host_use=replace(made.host_use, idle_ns=4 * MS))) is None


def test_loading_that_is_unknown_is_told_of_a_diagnosis_without_findings_about_the_host(sampled: Any) -> None:
    for samples, kinds in ((9, [UNJUDGED]), (10, [])):
        told = module.examine(sampled(line3=samples), only=("input-bound",))
        assert [each.kind for each in told.notes if each.kind == UNJUDGED] == kinds
        assert len(told.findings) == 1 - len(kinds)
    assert UNJUDGED not in [each.kind for each in module.examine(sampled(line3=9), only=("transfer",)).notes]


@pytest.mark.parametrize(
    ("samples", "line", "listed"),
    [
        ({"line3": 20}, 3, ""),
        ({"line4": 4, "line3": 14}, 3, "14 at {file}:3, 4 at {file}:4"),
        ({"line4": 5, "line3": 14}, 1, "14 at {file}:3, 5 at {file}:4"),  # either of them may be slower
        ({"line9": 8, "line3": 14}, 3, "14 at {file}:3, 8 at {file}:9"),
    ],
)
def test_lines_that_are_close_are_told_as_their_function(
    samples: dict[str, int], line: int, listed: str, sampled: Any, tmp_path: Path
) -> None:
    (found,) = input_bound.look(sampled(**samples))
    file = tmp_path / "train.py"
    assert (found.line, found.source) == (f"{file}:{line}", SOURCE.splitlines()[line - 1].strip())
    (told,) = found.evidence
    assert told.facts["lines"] == listed.format(file=file)
    assert found.code is not None
    assert found.code.endswith("for batch in prefetched(loader()):")


EVALUATE = """\
class Net(nn.Module):
    def __call__(self, x):
        return nn.Dense(10)(x)

def evaluate(params):
    for x in xs:
        logits = net.apply(params, x)
        wrong(logits).item()
"""


@pytest.mark.parametrize(
    ("operations", "conversions", "others", "is_loading"),
    [(0, 0, 50, True), (50, 0, 0, False), (30, 0, 29, False), (29, 0, 30, True), (0, 50, 50, True)],
)
def test_a_line_that_is_mostly_in_operations_of_jax_loads_nothing(
    operations: int, conversions: int, others: int, is_loading: bool, evidence: Any, tmp_path: Path
) -> None:
    """Operations of a model outside of jit; a library may call them, and its own work belongs to them."""
    file = tmp_path / "evaluate.py"
    file.write_text(EVALUATE)
    inner, outer = (Frame(function=name, file=str(file), line=at) for name, at in (("__call__", 3), ("evaluate", 7)))
    samples = {"jax._src.lax.lax.dot_general": operations, "jax._src.numpy.array_constructors.asarray": conversions}
    host = tuple(
        HostShare(line=inner, called="flax.linen.module.call", in_jax=in_jax, samples=count, stack=(inner, outer))
        for in_jax, count in (samples | {"": others}).items()
        if count
    )
    waits = (HostWait(line=replace(outer, line=8), function="item", library=None, count=9, wait_ns=1),)
    assert bool(list(input_bound.look(evidence(host=host, waits=waits)))) is is_loading


def test_a_forward_pass_outside_of_jit_costs_the_time_in_the_model(
    evidence: Any, executable: Any, tmp_path: Path
) -> None:
    """The device is idle for 10 ms at the operations; the model takes nearly all of 100 ms."""
    file = tmp_path / "evaluate.py"
    file.write_text(EVALUATE)
    inner, outer = (Frame(function=name, file=str(file), line=at) for name, at in (("__call__", 3), ("evaluate", 7)))
    called = "flax.linen.module.call"
    host = HostShare(line=inner, called=called, in_jax="jax._src.lax.lax.dot", samples=100, stack=(inner, outer))
    model = FunctionShare(function=replace(inner, line=2), called="", samples=100, time_ns=100 * MS)
    calls = Dispatch(name="dot", count=100, host_ns=10 * MS, exposed_ns=10 * MS, busy_ns=5 * MS)
    program = Program(executable=executable(name="jit_dot"), module=None, function="dot", eager=True, called_at=inner)
    made = evidence((calls,), host=(host,), functions=(model,), programs=(program,))
    (found,) = not_jitted.look(made)
    assert found.remedy is not None
    assert found.remedy.facts["way"] == "model"
    assert found.cost_ns == pytest.approx(80 * MS, rel=0.2)
