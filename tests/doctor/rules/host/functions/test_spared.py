"""What jitting a function spares, on evidence that was never measured."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate import hlo

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, FunctionShare, HostShare, HostUse
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.inside_function import SourceRange, times_called
from jaxmagic.doctor.rules.host.functions.spared import OWN_CALL, Part, Spared, operations_ns, spared_by
from jaxmagic.doctor.rules.host.host_time import HostTime
from jaxmagic.records.call_stack import Frame

SOURCE = """def field(y):
    return jnp.sin(drag(y))

def solve(y):
    for _ in range(30):
        y = y + 0.1 * field(y)
    return y

def drag(y):
    return -y
"""
FIELD, SOLVE, DRAG = (each for each in ast.parse(SOURCE).body if isinstance(each, ast.FunctionDef))

#: Each of the 120 calls takes 10 µs, and the device is idle for 20 µs.
CALLS = tuple(
    Dispatch(name=each, count=30, host_ns=300_000, exposed_ns=600_000) for each in ["sin", "neg", "multiply", "add"]
)
#: A call of a jitted function takes longer than one of an operation.
OWN_NS = 10_000 * OWN_CALL

LINES = {"sin": 2, "neg": 10, "multiply": 6, "add": 6}


@pytest.fixture
def evidence(timing: Any, executable: Any, tmp_path: Path) -> Callable[..., Evidence]:
    file = tmp_path / "ode.py"
    file.write_text(SOURCE)

    def program(name: str, line: int | None) -> Program:
        owner = {2: "field", 10: "drag"}.get(line or 0, "solve")
        at = None if line is None else Frame(function=owner, file=str(file), line=line)
        outer = Frame(function="main.<locals>.field", file=str(file), line=2)
        inner = () if at is None else (replace(at, function=f"main.<locals>.{owner}"),)
        stack = (outer, *inner) if owner == "drag" else inner
        module = hlo.module(hlo.instruction(name, stack=stack), name=f"jit_{name}")
        made = Program(executable=executable(name=f"jit_{name}"), module=module, function=name, eager=True)
        return replace(made, called_at=at)

    def make(code: str = "for y in ys: solve(y)", **lines: int | None) -> Evidence:
        return Evidence(
            code=code,
            first=timing(),
            observed=timing(),
            programs=tuple(program(name, line) for name, line in (LINES | lines).items()),
            host_use=HostUse(dispatches=CALLS, idle_ns=2_400_000, waited_ns=0, waits=0),
        )

    return make


def spared(function: Any, made: Evidence, tmp_path: Path, *, whole: bool = False, scale: float = 1.0) -> Spared:
    assert made.host_use is not None
    time = HostTime(made.host_use, scale, (), 0, 0, 0, scale, 0)
    return spared_by(Part(function, str(tmp_path / "ode.py")), CALLS, made, time, whole=whole)


@pytest.mark.parametrize(
    ("called", "others_ns", "expected_ns"),
    [
        ("jax._src.numpy.ufuncs.sin", 0, 20_000_000 * (1 - 1 / 1000) - 1_000_000),
        ("jax._src.array.ArrayImpl.__getitem__", 0, 20_000_000 * (1 - 1 / 1000) - 1_000_000),
        ("jax._src.numpy.ufuncs.sin", 10_000_000, 18_000_000 - 10_000_000),
        ("jax._src.array.ArrayImpl.__float__", 0, 2_400_000),
        ("train.load", 0, 2_400_000),
    ],
)
def test_the_time_in_operations_counts_at_least(
    evidence: Any, timing: Any, called: str, others_ns: int, expected_ns: float
) -> None:
    """Python needs longer than the idle time just before each call, in a run of 20 ms with 1 ms of the device."""
    made = evidence()
    line = Frame(function="field", file="ode.py", line=2)
    run = replace(timing(), dispatch_ns=20_000_000, wait_ns=0, code_wait_ns=0, compilation_ns=0, compilations=())
    shares = (HostShare(line=line, called=called, samples=1000),)
    made = replace(made, observed=run, first=run, timed=(run,), host=shares)
    calls = (replace(CALLS[0], busy_ns=1_000_000), *CALLS[1:])
    others = Dispatch(name="step", count=9, host_ns=9, exposed_ns=others_ns)
    use = replace(made.host_use, dispatches=(*calls, others))
    time = HostTime(use, 1.0, (), 0, 0, 18_000_000 if others_ns else 20_000_000, 1.0, 0)
    assert operations_ns(calls, made, time) == pytest.approx(expected_ns)
    through = HostShare(line=line, called="flax.linen.module.call", in_jax=called, samples=1000)
    assert operations_ns(calls, replace(made, host=(through,)), time) == pytest.approx(expected_ns)


@pytest.mark.parametrize(
    ("transformed", "eager", "expected_ns"),
    [("sin", True, 20_000_000 * (1 - 1 / 1000)), (None, True, 2_400_000), ("step", False, 2_400_000)],
)
def test_transforming_functions_that_are_not_jitted_is_part_of_calling_their_operations(
    evidence: Any, timing: Any, executable: Any, transformed: str | None, eager: bool, expected_ns: float
) -> None:
    """``jax.grad(loss)(w)`` traces ``loss`` in each call. If ``loss`` is jitted, that is another finding."""
    made = evidence()
    line = Frame(function="step", file="ode.py", line=2)
    called = "jax._src.traceback_util.api_boundary.<locals>.reraise_with_filtered_traceback"
    run = replace(timing(), dispatch_ns=20_000_000, wait_ns=0, code_wait_ns=0, compilation_ns=0, compilations=())
    program = Program(executable=executable(name="jit_own"), module=None, eager=eager, transformed=transformed)
    shares = (HostShare(line=line, called=called, in_jax=called, samples=1000),)
    programs = (*(made.programs or ()), program)
    made = replace(made, observed=run, first=run, timed=(run,), host=shares, programs=programs)
    time = HostTime(made.host_use, 1.0, (), 0, 0, 20_000_000, 1.0, 0)
    assert operations_ns(CALLS, made, time) == pytest.approx(expected_ns)


def test_a_jitted_function_has_calls_of_its_own(evidence: Any, tmp_path: Path) -> None:
    """Two of four operations are called in it, and 30 of its calls remain, each longer than one of an operation."""
    found = spared(FIELD, evidence(), tmp_path)
    assert found.time_ns == pytest.approx(2 * 600_000 - 30 * OWN_NS)
    assert [each.facts for each in found.evidence] == [{"function": "field", "share": 0.5}]
    assert str(found.evidence[0]).startswith(
        "Going by the first call of each, field has 50 % of the time of all of them."
    )


def test_the_longest_operation_is_computed_in_each_call_all_the_same(evidence: Any, tmp_path: Path) -> None:
    """Each of 30 calls has one that takes 15 µs; another one is called less often than the function."""
    made = evidence()
    longer = (replace(CALLS[0], host_ns=450_000), *CALLS[1:], replace(CALLS[0], name="dot", count=3))
    time = HostTime(made.host_use, 1.0, (), 0, 0, 0, 1.0, 0)
    part = Part(FIELD, str(tmp_path / "ode.py"))
    before = spared_by(part, (*CALLS, longer[-1]), made, time, whole=True).time_ns
    after = spared_by(part, longer, made, time, whole=True).time_ns
    assert before - after == pytest.approx(30 * OWN_CALL * (15_000 - 1_500_000 / 123))


def test_calls_that_take_longer_than_the_device_is_idle_leave_nothing(evidence: Any, tmp_path: Path) -> None:
    """As on a machine that is busy with something else."""
    made = evidence()
    slow = tuple(replace(each, host_ns=1000 * each.host_ns) for each in CALLS)
    time = HostTime(made.host_use, 1.0, (), 0, 0, 0, 1.0, 0)
    assert spared_by(Part(FIELD, str(tmp_path / "ode.py")), slow, made, time, whole=False).time_ns == 0


def test_both_are_as_much_shorter_without_the_profiler(evidence: Any, tmp_path: Path) -> None:
    whole = spared(FIELD, evidence(), tmp_path).time_ns
    assert spared(FIELD, evidence(), tmp_path, scale=0.25).time_ns == pytest.approx(whole / 4)


@pytest.mark.parametrize(("code", "count"), [("solve(y)", 1), ("solve", 1), ("[solve(y) for y in ys]", 30)])
def test_the_code_tells_how_often_it_calls_a_function(evidence: Any, tmp_path: Path, code: str, count: int) -> None:
    made = evidence(code)
    assert times_called(SOLVE, str(tmp_path / "ode.py"), made) == count
    assert spared(SOLVE, made, tmp_path, whole=True).time_ns == pytest.approx(4 * 600_000 - count * OWN_NS)


def test_of_the_programs_of_one_operation_those_count_that_were_called_inside(evidence: Any, tmp_path: Path) -> None:
    made = evidence()
    outside = next(each for each in made.programs if each.name == "multiply")
    both = replace(made, programs=(*made.programs, replace(outside, called_at=made.programs[0].called_at)))
    more = spared(FIELD, both, tmp_path).time_ns - spared(FIELD, made, tmp_path).time_ns
    assert more == pytest.approx(600_000 / 2)


def test_a_program_of_its_own_may_be_called_around_it_as_often(evidence: Any, tmp_path: Path) -> None:
    """Of one program for both, 30 of 30 calls may be those of ``y + 0.1 * field(y)``."""
    shared = spared(FIELD, evidence(multiply=2), tmp_path)
    assert shared.time_ns == pytest.approx(spared(FIELD, evidence(), tmp_path).time_ns)


def test_a_method_that_it_calls_belongs_to_it(evidence: Any, tmp_path: Path) -> None:
    """Its name does not lead there, but the stacks of the programs do."""
    made = evidence()
    (tmp_path / "ode.py").write_text(SOURCE.replace("drag(y))", "me.f(y))"))
    found = spared(FIELD, made, tmp_path)
    assert found.time_ns == pytest.approx(2 * 600_000 - 30 * OWN_NS)


def test_of_samples_and_lines_the_smaller_share_counts(evidence: Any, tmp_path: Path) -> None:
    at = Frame(function="field", file=str(tmp_path / "ode.py"), line=2)
    for samples, share in ((3, 0.3), (8, 0.5)):
        own = FunctionShare(function=replace(at, line=1), called="jax.numpy.sin", samples=samples, time_ns=10**9)
        host = tuple(
            HostShare(line=replace(at, function=each), called="jax.numpy.sin", samples=count)
            for each, count in (("field", samples), ("solve", 10 - samples))
        )
        found = spared(FIELD, replace(evidence(), host=host, functions=(own,)), tmp_path)
        assert found.time_ns == pytest.approx(share * 2_400_000 - 30 * OWN_NS)
        assert [each.facts["share"] for each in found.evidence] == [share]


def test_many_samples_tell_more_than_the_lines_of_earlier_calls(evidence: Any, tmp_path: Path) -> None:
    """Operations that a cell before compiled have its lines, although the function calls them as well."""
    at = Frame(function="field", file=str(tmp_path / "ode.py"), line=2)
    own = FunctionShare(function=replace(at, line=1), called="jax.numpy.sin", samples=100, time_ns=10**9)
    host = (HostShare(line=at, called="jax.numpy.sin", samples=100),)
    elsewhere = evidence(sin=6, neg=6)
    assert spared(FIELD, elsewhere, tmp_path).time_ns == 0
    found = spared(FIELD, replace(elsewhere, host=host, functions=(own,)), tmp_path)
    assert found.time_ns == pytest.approx(100 / 104 * 2_400_000 - OWN_NS, rel=1e-6)  # Wilson's bound of 100 of 100
    assert not found.evidence


def test_it_is_said_if_no_line_is_known(evidence: Any, tmp_path: Path) -> None:
    found = spared(FIELD, evidence(sin=None, neg=None, multiply=None, add=None), tmp_path)
    assert found.time_ns == pytest.approx(4 * 600_000 - OWN_NS)
    assert "is unknown" in str(found.evidence[0])


def test_operations_that_the_first_run_compiles_are_called_sooner_afterwards(evidence: Any, tmp_path: Path) -> None:
    made = evidence()
    slow = [replace(each, host_ns=1_000 * each.host_ns) for each in CALLS]
    assert made.host_use is not None
    time = HostTime(made.host_use, 1.0, (), 0, 0, 0, 1.0, 0)
    part = Part(FIELD, str(tmp_path / "ode.py"))
    once = replace(made, observed=made.first)
    assert spared_by(part, slow, once, time, whole=False).time_ns == pytest.approx(
        2 * 600_000 - 30 * OWN_CALL * 20_000
    )
    assert spared_by(part, slow, made, time, whole=False).time_ns == 0


def test_a_transformed_call_costs_all_its_time_but_that_of_the_device(
    evidence: Any, tmp_path: Path, timing: Any
) -> None:
    made = evidence(code="for y in ys: g(y)")
    file = str(tmp_path / "ode.py")
    inside = Frame(function="field", file=file, line=2)
    at = Frame(function="run", file="<ipython-input-1>", line=1)
    samples = (
        HostShare(line=inside, called="jax.numpy.sin", samples=9_900, stack=(inside, at)),
        HostShare(line=None, called="", samples=100),
    )
    wall_ns = 10 * sum(each.exposed_ns for each in CALLS)
    warm = timing(dispatch_ns=wall_ns, wait_ns=0)
    busy = tuple(replace(each, busy_ns=100_000) for each in CALLS)
    use = HostUse(dispatches=busy, idle_ns=2_400_000, waited_ns=0, waits=0)
    seen = replace(made, host=samples, host_use=use, observed=warm, timed=(warm,))
    time = HostTime(use, 1.0, (), 0, 0, 0, 1.0, 0)
    called_at = (SourceRange(at.file, 1, 1),)
    own_ns = 30 * OWN_NS
    found = spared_by(Part(FIELD, file, called_at), CALLS, seen, time, whole=False)
    assert 0.98 * wall_ns < found.time_ns + own_ns + 400_000 < 0.99 * wall_ns
    jitted_itself = spared_by(Part(FIELD, file), CALLS, seen, time, whole=False)
    assert jitted_itself.time_ns < sum(each.exposed_ns for each in CALLS)


def test_a_function_that_transforms_others_costs_the_time_in_it_but_that_of_the_device(
    evidence: Any, tmp_path: Path, timing: Any
) -> None:
    """Between its operations, Python traces what ``jax.grad`` transforms, or computes; jit spares both.

    Where jit does not compile the function as it is, the operations tell.
    """
    file = str(tmp_path / "ode.py")
    inside = Frame(function="solve", file=file, line=SOLVE.lineno)
    wall_ns = 10 * sum(each.exposed_ns for each in CALLS)
    own = FunctionShare(function=inside, called="jax.numpy.sin", samples=9_900, time_ns=round(0.99 * wall_ns))
    samples = (
        HostShare(line=inside, called="jax.numpy.sin", samples=9_900, stack=(inside,)),
        HostShare(line=None, called="", samples=100),
    )
    warm = timing(dispatch_ns=wall_ns, wait_ns=0)
    use = HostUse(
        dispatches=tuple(replace(each, busy_ns=100_000) for each in CALLS), idle_ns=2_400_000, waited_ns=0, waits=0
    )
    made = replace(evidence("solve(y)"), host=samples, functions=(own,), host_use=use, observed=warm, timed=(warm,))
    time = HostTime(use, 1.0, (), 0, 0, 0, 1.0, 0)
    part = Part(SOLVE, file)
    found = spared_by(part, CALLS, made, time, whole=True, compiles=True).time_ns
    assert 0.98 * wall_ns < found + OWN_NS + 400_000 < 0.99 * wall_ns
    assert spared_by(part, CALLS, made, time, whole=True).time_ns == pytest.approx(4 * 600_000 - OWN_NS)
