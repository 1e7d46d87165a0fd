"""Static values that only numbers tell apart need no program each; those that decide on operations or shapes do."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import sys
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate import hlo

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.compiling import recompile
from jaxmagic.doctor.rules.compiling.recompilations import Group, forms_of, only_numbers_differ

X = np.linspace(0, 1, 60, dtype=np.float32)


@pytest.fixture(autouse=True)
def whatever_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short compilations count as well, so that nothing here depends on the clock."""
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)


def found(function: Any, calls: list[tuple[Any, ...]]) -> list[RuleFinding]:
    """Return what is found for calls of a function whose second and third argument are static."""
    names = function.__code__.co_varnames[1 : function.__code__.co_argcount]
    jitted = partial(jax.jit, static_argnames=names)(function)
    return list(jaxmagic.diagnose(lambda: [jitted(X, *each) for each in calls], only=["recompile"]).findings)


def scale(x: Any, step: Any) -> Any:
    return jnp.sin(x) * step


def scale_or_not(x: Any, step: Any, train: bool) -> Any:
    if train:
        return jnp.sin(x) * step
    return jnp.cos(x) + step


def affine(x: Any, config: Any) -> Any:
    return x * config[0] + config[1]


def prefix(x: Any, length: int) -> Any:
    return jnp.sin(x[:length]).sum()


def best(x: Any, count: int) -> Any:
    return jax.lax.top_k(x, count)[0].sum()


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    return jnp.sin(x).reshape(shape)


def repeated(x: Any, times: int) -> Any:
    for _ in range(times):
        x = jnp.sin(x)
    return x


def repeated_in_shape(x: Any, times: int) -> Any:
    for _ in range(times):
        x = jnp.sin(x)
    return x[:times]


def chosen(x: Any, train: bool) -> Any:
    return jnp.sin(x) if train else jnp.cos(x)


def test_a_number_that_is_static_is_to_be_an_array() -> None:
    (finding,) = found(scale, [(step,) for step in range(6)])
    assert finding.basis == "measured"
    assert "pass it as an array of one dtype" in str(finding.remedy)


def decayed(x: Any, times: int) -> Any:
    for _ in range(times):
        x = jnp.sin(x) * 0.5
    return x


def test_a_loop_whose_first_round_changes_a_dtype_has_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "X", np.arange(60, dtype=np.int32))
    (finding,) = found(decayed, [(times,) for times in range(9, 15)])
    assert finding.code is None
    assert str(finding.remedy).startswith("Only the loop needs times as a number. With lax.fori_loop, one program")
    assert "One iteration converts to float32 and the others do not" in str(finding.evidence[-1])


def test_a_loop_that_counts_to_a_static_number_is_to_be_a_loop_of_jax() -> None:
    (finding,) = found(repeated, [(times,) for times in range(1, 8)])
    assert str(finding.remedy).startswith("Only the loop needs times as a number. With lax.fori_loop, one program")
    assert finding.code == "x = jax.lax.fori_loop(0, times, lambda _, x: jnp.sin(x), x)"
    assert finding.basis == "measured"

    @jax.jit
    def pasted(x: Any, times: Any) -> Any:
        return jax.lax.fori_loop(0, times, lambda _, x: jnp.sin(x), x)

    x = jnp.ones(60)
    for times in (1, 3, 7):
        assert jnp.allclose(pasted(x, times), repeated(x, times))
    assert pasted._cache_size() == 1


def test_numbers_in_a_static_tuple_are_to_be_arrays() -> None:
    (finding,) = found(affine, [((step, 0.5),) for step in range(6)])
    assert str(finding.remedy).startswith("Only numbers in config differ")


@dataclasses.dataclass(frozen=True)
class Options:
    rate: float
    kind: str = "sin"


@dataclasses.dataclass(frozen=True)
class Nested:
    options: Options


class Compared:
    """An object with an equality of its own, by value."""

    def __init__(self, rate: float, kind: str = "sin") -> None:
        self.rate, self.kind = rate, kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.rate, self.kind))


def by_rate(x: Any, options: Any) -> Any:
    return getattr(jnp, options.kind)(x) * options.rate


def by_rate_only(x: Any, options: Any) -> Any:
    return jnp.cos(x) * options.rate


def by_nested_rate(x: Any, nested: Any) -> Any:
    return jnp.sin(x) * nested.options.rate


def by_prefix(x: Any, options: Any) -> Any:
    return jnp.sin(x[: options.rate])


@pytest.mark.parametrize(
    ("function", "make", "field"),
    [
        (by_rate, Options, "options.rate"),
        (by_rate_only, Compared, "options.rate"),
        (by_nested_rate, lambda rate: Nested(Options(rate)), "nested.options.rate"),
    ],
)
def test_a_number_inside_a_static_object_is_to_be_an_argument(function: Any, make: Any, field: str) -> None:
    if make is Compared and jax.__version_info__ < (0, 9):
        pytest.skip("this JAX gives no reason where a class has an equality of its own")
    (finding,) = found(function, [(make(0.1 * 0.9**i),) for i in range(6)])
    assert len(finding.compiles) == 5
    assert f"{field}: " in str(finding.evidence[0])  # with both numbers
    assert str(finding.remedy).startswith(f"Pass {field} as an argument")
    assert "if no shape, axis or Python if depends on it" in str(finding.remedy)


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (by_prefix, [Options(n) for n in range(2, 9)]),
        (by_prefix, [Compared(n) for n in range(2, 9)]),
        (by_rate, [Options(0.5, kind) for kind in ("sin", "cos", "tanh", "exp", "square")]),
    ],
)
def test_objects_that_decide_on_operations_or_shapes_are_by_design(function: Any, values: Any) -> None:
    assert found(function, [(each,) for each in values]) == []


def test_programs_that_repeat_the_operations_of_another_are_found_beside_other_ones() -> None:
    (finding,) = found(scale_or_not, [(step, step % 2 == 0) for step in range(8)])
    assert finding.evidence[-1].facts == {"argument": "step", "forms": 2}
    assert finding.basis == "estimated"
    assert len(finding.compiles) == 7
    assert "Within a kind, only values of step differ." in str(finding.evidence[-1])


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (prefix, range(2, 9)),
        (best, range(1, 8)),
        (reshaped, [(60,), (30, 2), (2, 30), (3, 20), (20, 3), (4, 15)]),
        (repeated_in_shape, range(1, 8)),
        (chosen, [True, False, True]),
    ],
)
def test_values_that_decide_on_operations_or_shapes_are_by_design(function: Any, values: Any) -> None:
    assert found(function, [(each,) for each in values]) == []


class Mode(enum.Enum):
    FIRST = 1
    SECOND = 2
    THIRD = 3
    FOURTH = 4


def labelled(x: Any, tag: Any) -> Any:
    return jnp.sin(x)


#: Values that decide on a constant, on operations, and on a parameter of one operation.
TABLE = {"low": 1.5, "middle": 2.5, "high": 3.5, "highest": 4.5}
FUNCTIONS = {"low": jnp.sin, "middle": jnp.cos, "high": jnp.tanh, "highest": jnp.exp}
AXES = {"low": (0, 1, 2), "middle": (1, 0, 2), "high": (2, 1, 0), "highest": (2, 0, 1)}


def scaled_by_name(x: Any, tag: Any) -> Any:
    return jnp.sin(x) * TABLE[tag]


def chosen_by_name(x: Any, tag: Any) -> Any:
    return FUNCTIONS[tag](x)


def transposed_by_name(x: Any, tag: Any) -> Any:
    return x[:27].reshape(3, 3, 3).transpose(AXES[tag])


def keyed_by_name(x: Any, tag: Any) -> Any:
    return {tag: jnp.sin(x)}


def printed_by_name(x: Any, tag: Any) -> Any:
    jax.debug.print(tag + " {}", x.sum())
    return x


def chosen_by_prefix(x: Any, tag: str) -> Any:
    return jnp.sin(x) if tag.startswith("s") else jnp.cos(x)


def scaled_by_prefix(x: Any, tag: str) -> Any:
    return jnp.sin(x) * len(tag) if tag.startswith("s") else jnp.cos(x) * len(tag)


def two_names(x: Any, tag: Any, other: Any) -> Any:
    return jnp.sin(x)


@pytest.mark.parametrize(
    "values",
    [
        [f"step{i}" for i in range(4)],
        [("a", f"{i}") for i in range(4)],
        [frozenset({1, i}) for i in range(5, 9)],
        [*Mode],
        [True, False, None, 3],
        [b"a", b"b", b"c", b"d"],
        [1, 2, 3, 4],
        [f"{i}" * 100 for i in range(4)],
    ],
    ids=["str", "tuple", "frozenset", "enum", "mixed", "bytes", "int", "long"],
)
def test_static_values_on_which_nothing_depends_are_to_be_left_out(values: list[Any]) -> None:
    def labelled(x: Any, tag: Any) -> Any:
        return jax.lax.scan(lambda carry, each: (jax.nn.relu(carry + each), each), jnp.sin(x), x[:, None])[0]

    (finding,) = found(labelled, [(each,) for each in values])
    assert finding.basis == "measured"
    assert len(finding.compiles) == 3
    assert str(finding.remedy) == (
        "labelled computes the same for all these values of tag: the programs have the same operations, shapes and "
        "constants. Pass one value in every call, or leave tag out of the arguments."
    )


def test_names_that_decide_on_a_constant_are_to_be_replaced_by_it() -> None:
    (finding,) = found(scaled_by_name, [(each,) for each in TABLE])
    assert str(finding.remedy) == (
        "The programs have the same operations and shapes, and differ in nothing but constants. Pass as arrays what "
        "these depend on, in place of tag."
    )


@pytest.mark.parametrize("function", [chosen_by_name, transposed_by_name, keyed_by_name, printed_by_name])
def test_names_that_decide_on_operations_their_parameters_or_keys_of_the_result_are_by_design(function: Any) -> None:
    assert found(function, [(each,) for each in TABLE]) == []


@pytest.mark.parametrize(
    ("function", "remedy"),
    [
        (
            chosen_by_prefix,
            "chosen_by_prefix computes the same for several values of tag: their programs have the same operations, "
            "shapes and constants. Pass one value in place of these.",
        ),
        (
            scaled_by_prefix,
            "Programs with the same operations and shapes differ in nothing but constants. Pass as arrays what these "
            "depend on, in place of tag.",
        ),
    ],
)
def test_names_of_two_kinds_of_programs(function: Any, remedy: str) -> None:
    (finding,) = found(function, [(kind * length,) for kind in "sc" for length in (1, 2, 3)])
    assert str(finding.remedy) == remedy
    assert finding.evidence[-1].facts == {"argument": "tag", "forms": 2}
    assert finding.basis == "estimated"
    assert len(finding.compiles) == 5


def test_of_two_static_arguments_that_vary_neither_is_named_alone() -> None:
    (finding,) = found(two_names, [(f"a{i}", f"b{i}") for i in range(4)])
    assert str(finding.remedy) == (
        "two_names computes the same for all these values of its static arguments: the programs have the same "
        "operations, shapes and constants. Pass one value in every call, or leave out those that vary."
    )


@pytest.mark.parametrize(
    ("calls", "remedy"),
    [
        (
            1,
            "If labelled computes the same whatever tag is, pass one value in every call. If only numbers in the "
            "program depend on it, pass these as arrays.",
        ),
        (2, "labelled computes the same for all these values of tag: "),
    ],
)
def test_names_that_are_new_in_each_run(calls: int, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "is_worth_it", lambda *_: True)
    jitted, numbers = jax.jit(labelled, static_argnames="tag"), itertools.count()
    diagnosis = jaxmagic.diagnose(
        lambda: [jitted(X, tag=f"{calls} of {next(numbers)}") for _ in range(calls)], only=["recompile"], repeat=True
    )
    (finding,) = diagnosis.findings
    assert finding.per == "run"
    assert str(finding.remedy).startswith(remedy)


@pytest.mark.parametrize(
    ("now", "before", "alike"),
    [
        ("(1, 0.5)", "(2, 0.5)", True),
        ("{'a': 1}", "{'a': 2}", True),
        ("(1, 2)", "(1, 2, 3)", False),
        ("(1, 'a')", "(1, 'b')", False),
        ("(1, True)", "(1, False)", False),
        ("(1, 2)", "(1, 2.0)", False),
        ("'relu'", "'gelu'", False),
        ("Config(n=1)", "Config(n=2)", False),
    ],
)
def test_values_that_differ_in_numbers_alone(now: str, before: str, alike: bool) -> None:
    assert only_numbers_differ(Cause(kind="static value", reason="", now=now, before=before)) is alike


@pytest.mark.parametrize(
    ("shapes", "forms"),
    [(["f32[8]", "f32[8]", None], 1), (["f32[8]", "f32[9]", None], 3), (["f32[8]", "f32[9]"], 2), ([None, None], 1)],
)
def test_a_program_that_was_not_read_is_no_kind_of_its_own(
    shapes: list[str | None], forms: int, timing: Any, executable: Any
) -> None:
    programs = tuple(
        Program(
            executable=executable(name="jit_step"),
            module=None if shape is None else hlo.module(hlo.instruction("add", shape=shape), name="jit_step"),
            function="step",
            equations=(),
            eager=True,  # as is a group without compilations
        )
        for shape in shapes
    )
    evidence = Evidence(code="step(x)", first=timing(), observed=timing(), programs=programs)
    assert forms_of(Group("step", None, "static", []), evidence) == forms
