"""Programs without arguments that run repeatedly are found; those that may compute something else are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate import hlo
from fabricate.profiling import MS, use

import jaxmagic
from jaxmagic.doctor.record.conversion import Conversion
from jaxmagic.doctor.record.evidence import (
    Dispatch,
    Evidence,
    FunctionShare,
    HostShare,
    HostUse,
    Input,
    LibraryNames,
)
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import EquationCount, Program
from jaxmagic.doctor.rules.host.same_result import same_results
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.records.call_stack import Frame
from jaxmagic.timing.record import Timing
from jaxmagic.xla.hlo import Sharded

SIZE = 400


def heavy(size: int) -> Any:
    x = jnp.arange(float(size * size)).reshape(size, size) / size**2
    return jnp.sort(jnp.tanh(x @ x))


@jax.jit
def table() -> Any:
    return heavy(SIZE)


@jax.jit
def noise() -> Any:
    return heavy(SIZE) + jax.random.normal(jax.random.key(0), (SIZE, SIZE))


@partial(jax.jit, static_argnums=0)
def sized(size: int) -> Any:
    return heavy(size)


@jax.jit
def scaled(scale: Any) -> Any:
    return heavy(SIZE) * scale


@jax.jit
def called_back() -> Any:
    shape = jax.ShapeDtypeStruct((), np.float32)
    return heavy(SIZE) + jax.pure_callback(lambda: np.float32(1), shape)


@jax.jit
def step(x: Any, t: Any) -> Any:
    return 0.5 * x + t[0, 0]


@partial(jax.jit, donate_argnums=1)
def using_up(x: Any, t: Any) -> Any:
    return 0.5 * x, t + 1.0


def in_a_loop(x: Any) -> Any:
    for _ in range(4):
        t = table()
        x = step(x, t)
    return x


def in_an_argument(x: Any) -> Any:
    for _ in range(4):
        x = step(x, noise())
    return x


def of_one_size(x: Any) -> Any:
    return [step(x, sized(SIZE)) for _ in range(4)]


def once(x: Any) -> Any:
    t = table()
    for _ in range(4):
        x = step(x, t)
    return x


def with_an_argument(x: Any) -> Any:
    for scale in range(4):
        x = step(x, scaled(scale))
    return x


def of_several_sizes(x: Any) -> Any:
    return [step(x, sized(SIZE + number)) for number in (0, 1)]


def with_a_callback(x: Any) -> Any:
    return [step(x, called_back()) for _ in range(4)]


def donated(x: Any) -> Any:
    for _ in range(4):
        x, _last = using_up(x, table())
    return x


def eager(x: Any) -> Any:
    return [x + jnp.ones((SIZE, SIZE)) for _ in range(4)]


QUERIES = [jnp.full(SIZE, float(number)) for number in range(4)]
EMBEDDED = jnp.ones((SIZE, SIZE))


@jax.jit
def gram(e: Any) -> Any:
    return jnp.sort(jnp.tanh(e.T @ e))


def one_matrix(x: Any) -> Any:
    out = []
    for q in QUERIES:
        s = gram(EMBEDDED)
        out.append(s @ q)
    return out


def one_matrix_in_an_expression(x: Any) -> Any:
    matrix = jnp.ones((SIZE, SIZE))
    return [gram(matrix) @ q for q in QUERIES]


def a_matrix_that_changes(x: Any) -> Any:
    matrix, out = EMBEDDED, []
    for q in QUERIES:
        out.append(gram(matrix) @ q)
        matrix = 0.5 * matrix
    return out


def a_matrix_for_each(x: Any) -> Any:
    return [gram(jnp.outer(q, q)) for q in QUERIES]


def a_matrix_that_numpy_may_change(x: Any) -> Any:
    matrix = np.ones((SIZE, SIZE), np.float32)
    return [gram(matrix) @ q for q in QUERIES]


def only_this(x: Any) -> Any:
    for _ in range(4):
        s = gram(EMBEDDED)
    return s


def timed(x: Any) -> Any:
    return [gram(EMBEDDED).block_until_ready() @ q for q in QUERIES]


def once_before(x: Any) -> Any:
    s = gram(EMBEDDED)
    return [s @ q for q in QUERIES]


def found(fn: Callable[..., Any], **options: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(fn, jnp.float32(1), only=("captured-constant",), **options).findings)


@pytest.mark.clock
@pytest.mark.parametrize(
    ("function", "source", "code"),
    [
        (in_a_loop, "t = table()", "t = table()  # before the loop, instead of in it"),
        (in_an_argument, "x = step(x, noise())", None),
        (of_one_size, "return [step(x, sized(SIZE)) for _ in range(4)]", None),
    ],
)
def test_what_is_computed_again_in_vain_is_found(function: Any, source: str, code: str | None) -> None:
    (finding,) = found(function)
    assert (finding.source, finding.code) == (source, code)
    assert finding.found.kind == "doctor.same_result"
    assert finding.found.facts["count"] == 4
    assert finding.cost_ns is not None
    assert 0 < finding.cost_ns <= 3.01 * float(finding.found.facts["busy_ns"])
    assert [each.kind for each in finding.evidence] == (["doctor.same_random"] if function is in_an_argument else [])


@pytest.mark.clock
@pytest.mark.parametrize(
    ("function", "names", "code"),
    [
        (one_matrix, "EMBEDDED", "s = gram(EMBEDDED)  # before the loop, instead of in it"),
        (
            one_matrix_in_an_expression,
            "matrix",
            "gram_result = gram(matrix)  # before the loop\nreturn [gram_result @ q for q in QUERIES]  # in the loop",
        ),
    ],
)
def test_what_is_computed_again_of_the_same_array_is_found(function: Any, names: str, code: str) -> None:
    (finding,) = found(function)
    assert finding.found.kind == "doctor.same_arguments"
    assert (finding.found.facts["names"], finding.found.facts["count"]) == (names, 4)
    assert finding.code == code


@pytest.mark.clock
def test_parameters_that_a_model_makes_again_are_found() -> None:
    nn = pytest.importorskip("flax.linen")

    @jax.jit
    def parameters() -> Any:
        return nn.Dense(500).init(jax.random.key(0), jnp.ones((1, 500)))

    def train(x: Any) -> Any:
        for _ in range(4):
            x = step(x, parameters()["params"]["kernel"])
        return x

    (finding,) = found(train)
    assert finding.found.facts["function"] == "parameters"


@pytest.mark.clock
def test_keeping_the_result_is_measured() -> None:
    (finding,) = found(in_a_loop, verify=True, budget_s=600)
    verified = finding.verified
    assert verified is not None
    assert verified.notes[0].kind == "doctor.result_kept"
    assert verified.outputs_agree
    assert verified.survives


@pytest.mark.parametrize(
    "function",
    [
        *(once, with_an_argument, of_several_sizes, with_a_callback, donated, eager, jax.jit(in_a_loop)),
        *(a_matrix_that_changes, a_matrix_for_each, a_matrix_that_numpy_may_change, only_this, timed, once_before),
    ],
)
def test_a_clean_program_has_no_finding(function: Callable[..., Any]) -> None:
    assert found(function) == []


RUN_NS = 100 * MS


@pytest.fixture
def evidence(timing: Callable[..., Timing], executable: Callable[..., Executable]) -> Callable[..., Evidence]:
    """A run of 100 ms, in which a function without arguments is called four times for 10 ms each."""

    def make(
        count: int = 4,
        busy_ns: int = 40 * MS,
        primitive: str = "sort",
        argument_bytes: int | None = 0,
        **changes: Any,
    ) -> Evidence:
        program = Program(
            executable=executable(name="jit_table", argument_bytes=argument_bytes),
            module=hlo.module(name="jit_table"),
            function="table",
            location="cell 3:1",
            equations=(EquationCount(primitive=primitive, line=None, count=1),),
        )
        call = Dispatch(name="table", count=count, host_ns=1, exposed_ns=0, busy_ns=busy_ns)
        steady = timing(dispatch_ns=50 * MS, wait_ns=50 * MS)
        profile = Profile(
            runs=1, recorded_ns=RUN_NS, device_uses=(use("CPU:0", busy_ns),), operation_times=(), place_times=()
        )
        return Evidence(
            code=None,
            first=timing(),
            observed=steady,
            timed=(steady,),
            profile=profile,
            host_use=HostUse(dispatches=(call,), idle_ns=0, waited_ns=0, waits=0),
            programs=(replace(program, **changes),),
        )

    return make


@pytest.mark.parametrize(
    ("changes", "cost_ns"),
    [
        ({}, 30 * MS),
        ({"count": 2}, 20 * MS),
        ({"count": 1}, None),
        ({"count": 2, "busy_ns": 4 * MS}, 2 * MS),
        ({"count": 2, "busy_ns": 4 * MS - 2}, None),
        ({"argument_bytes": 4}, None),
        ({"argument_bytes": None}, None),
        ({"module": None}, None),
        ({"module": hlo.module(inputs=(Sharded(name="x", shape="f32[0]", pieces=None),))}, None),
        ({"equations": None}, None),
        ({"primitive": "debug_callback"}, None),
        ({"primitive": "rng_uniform"}, None),
        ({"donated": (0,)}, None),
        ({"location": None}, None),
        ({"eager": True}, None),
    ],
)
def test_borders(evidence: Callable[..., Evidence], changes: dict[str, Any], cost_ns: int | None) -> None:
    costs = [each.cost_ns for each in same_results(evidence(**changes), "captured-constant")]
    assert costs == ([] if cost_ns is None else [pytest.approx(cost_ns)])


def test_several_programs_of_one_name_may_compute_something_else(evidence: Callable[..., Evidence]) -> None:
    one = evidence()
    assert one.programs is not None
    assert not list(same_results(replace(one, programs=one.programs * 2), "captured-constant"))


CLUSTERS = """def assign(c, p):
    return (p - c).argmin(1)
@jax.jit
def update(c, p):
    return means(assign(c, p), p)
def clusters(pts, other):
    c = jnp.asarray(pts[:3])
    for _ in range(20):
        new = update(c, pts)
        c = new
    parts = []
    for j in range(4):
        mask = np.asarray(assign(c, pts)) == j
        parts.append(mask)
    return parts
"""


@pytest.fixture
def clustering(
    evidence: Callable[..., Evidence], executable: Callable[..., Executable], tmp_path: Path
) -> Callable[..., Evidence]:
    """The same run, in which a loop calls ``assign`` four times, and a jitted function has called it before."""

    def make(source: str = CLUSTERS, *, same_values: bool = True, path: str = "pts", jitted: bool = True) -> Evidence:
        file = str(tmp_path / "clusters.py")
        Path(file).write_text(source)
        made = evidence(argument_bytes=4)
        (table,) = made.programs or ()
        assign, update = (
            replace(
                table,
                executable=executable(name=f"jit_{name}", argument_bytes=4),
                module=hlo.module(name=f"jit_{name}", outputs=(Sharded(name="", shape="f32[3]", pieces=None),)),
                function=name,
                location=f"{file}:{line}",
                arguments=("c", "p"),
            )
            for name, line in (("assign", 1), ("update", 3 if jitted else 99))
        )
        number = next(n for n, text in enumerate(source.splitlines(), 1) if "np.asarray(assign" in text)
        line = Frame(function="clusters", file=file, line=number)
        shape = "float64[5000,8]"
        passed = Conversion(line=line, called_from=(), count=4, size_bytes=320_000, type=shape,
                            same_values=same_values, function="assign", path=path)  # fmt: skip
        call = Dispatch(name="assign", count=4, host_ns=1, exposed_ns=0, busy_ns=40 * MS)
        return replace(
            made,
            code="clusters(pts, other)",
            programs=(assign, update),
            host_use=HostUse(dispatches=(call,), idle_ns=0, waited_ns=0, waits=0),
            host=(HostShare(line=line, called="", samples=9),),
            functions=(FunctionShare(function=replace(line, line=6), called="", samples=9, time_ns=MS),),
            names=(LibraryNames(function=replace(line, function="update", line=3), paths=()),),
            inputs=tuple(
                Input(path=name, kind="numpy array", type=shape, size_bytes=320_000) for name in ("pts", "other")
            ),
            conversions=(passed,),
        )

    return make


def test_an_array_of_numpy_that_is_passed_again_and_a_variable_of_an_array_are_the_same(
    clustering: Callable[..., Evidence],
) -> None:
    (finding,) = same_results(clustering(), "captured-constant")
    assert (finding.found.facts["names"], finding.found.facts["count"]) == ("c, pts", 4)
    assert finding.cost_ns == pytest.approx(30 * MS)
    assert finding.code == (
        "assign_result = assign(c, pts)  # before the loop\nmask = np.asarray(assign_result) == j  # in the loop"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"same_values": False},
        {"path": "other"},
        {"jitted": False},  # update() would call it as well
        {"source": CLUSTERS.replace("parts.append(mask)", "pts[j] = 0")},
        {"source": CLUSTERS.replace("parts.append(mask)", "c = new")},
        {"source": CLUSTERS.replace("c = new", "c = new + pts[0]")},
        {"source": CLUSTERS.replace("c = new", "c = new; new = pts[:3]")},
        {"source": CLUSTERS.replace("    parts = []", "    pts = other")},
    ],
)
def test_what_may_have_changed_is_computed_again(
    changes: dict[str, Any], clustering: Callable[..., Evidence]
) -> None:
    assert not list(same_results(clustering(**changes), "captured-constant"))
