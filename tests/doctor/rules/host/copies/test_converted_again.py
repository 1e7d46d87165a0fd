"""A loop that converts the same NumPy array in every round is found, with its line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate.profiling import MS

import jaxmagic
from jaxmagic.doctor.record.conversion import Conversion
from jaxmagic.doctor.rules.host import not_jitted, transfer

LOOP = "def run(x, n):\n    for i in range(n):\n        s = f({})\n    return s\n"


@pytest.mark.parametrize("converted", ["jnp.asarray(x)", "jnp.array(x)", "jax.numpy.asarray(x, jnp.float32)"])
def test_the_same_array_in_every_round(converting: Any, converted: str) -> None:
    (found,) = transfer.look(converting(converted, source=LOOP))
    assert found.found.kind == "doctor.converted_again"
    assert found.found.facts == {"name": "x", "count": 20, "size_bytes": 20 * 2**20}
    assert found.source == f"s = f({converted})"
    assert found.cost_ns == pytest.approx(50 * MS * 19 / 20)
    assert found.code == f"x = {converted}  # before the loop\ns = f(x)  # in the loop"


@pytest.mark.parametrize(("elsewhere", "count"), [(5, 15), (18, None)])
def test_only_the_share_of_the_line_counts(converting: Any, elsewhere: int, count: int | None) -> None:
    made = converting("jnp.asarray(x)", source=LOOP)
    here = made.programs[0].called_at
    one = Conversion(line=here, called_from=(), count=20 - elsewhere, size_bytes=2**20, type="f", same_values=True)
    other = replace(one, line=replace(here, line=1), count=elsewhere)
    passed = replace(one, count=100, function="f")
    found = list(transfer.look(replace(made, conversions=(one, other, passed))))
    assert [each.found.facts["count"] for each in found] == ([] if count is None else [count])
    assert [each.cost_ns for each in found] == ([] if count is None else [pytest.approx(50 * MS * 14 / 20)])


def test_an_array_that_the_loop_also_reads_with_numpy_keeps_its_name(converting: Any) -> None:
    (found,) = transfer.look(converting("jnp.array(x)", source=LOOP.replace("f({})", "f({}) + x[i]")))
    assert found.code == "x_jax = jnp.array(x)  # before the loop\ns = f(x_jax) + x[i]  # in the loop"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("def run(x, n):\n    return [f({}) for i in range(n)]\n", "return [f(x) for i in range(n)]"),
        ("def run(x, n):\n    s = sum((f({}) for i in range(n)))\n", "s = sum((f(x) for i in range(n)))"),
        (
            "def run(x, n):\n    for k in range(n):\n        s = {{i: f({}) for i in range(n)}}\n",
            "s = {i: f(x) for i in range(n)}",
        ),
        (
            "def run(x, n):\n    return [f({}) + x[i] for i in range(n)]\n",
            "return [f(x_jax) + x[i] for i in range(n)]",
        ),
    ],
)
def test_the_same_array_for_every_item_of_a_comprehension(converting: Any, source: str, code: str) -> None:
    (found,) = transfer.look(converting("jnp.asarray(x)", source=source))
    assert found.found.facts == {"name": "x", "count": 20, "size_bytes": 20 * 2**20}
    name = "x_jax" if "x_jax" in code else "x"
    assert found.code == f"{name} = jnp.asarray(x)  # before the loop\n{code}"


@pytest.mark.parametrize(
    ("same_values", "code"),
    [
        ([True], "x_jax = jnp.asarray(x)  # before the loop\n{}"),
        ([False], None),
        ([True, True], None),  # another array in its place
        ([], None),
    ],
)
@pytest.mark.parametrize(
    ("source", "inside"),
    [
        (LOOP, "s = f(x_jax)  # in the loop"),
        ("def run(n):\n    return [f({}) for i in range(n)]\n", "return [f(x_jax) for i in range(n)]"),
        ("def run(n):\n    return sum(f({}) for i in range(n))\n", "return sum((f(x_jax) for i in range(n)))"),
    ],
)
def test_an_array_of_other_code_gets_a_name_of_its_own_if_it_stays_the_same(
    converting: Any, same_values: list[bool], code: str | None, source: str, inside: str
) -> None:
    made = converting("jnp.asarray(x)", source=source.replace("run(x, n)", "run(n)"))
    one = Conversion(
        line=made.programs[0].called_at, called_from=(), count=20, size_bytes=2**20, type="f", same_values=True
    )
    conversions = tuple(replace(one, same_values=each) for each in same_values)
    (found,) = transfer.look(replace(made, conversions=conversions))
    assert found.code == (None if code is None else code.format(inside))


@pytest.mark.clock
@pytest.mark.usefixtures("at_any_cost")
@pytest.mark.parametrize("as_list", [True, False])
def test_conversions_of_a_program_that_runs_are_found(as_list: bool) -> None:
    @jax.jit
    def total(x: Any) -> Any:
        return x.sum()

    def listed(x: Any) -> Any:
        return [total(jnp.asarray(x)) for _ in range(10)]

    def looped(x: Any) -> Any:
        out = None
        for _ in range(10):
            out = total(jnp.asarray(x))
        return out

    (found,) = jaxmagic.diagnose(listed if as_list else looped, np.ones((1024, 1024)), only=["transfer"]).findings
    put = {"array": "x", "count": 10, "moved_bytes": 2**22, "arrays": 1}
    converted = {"name": "x", "count": 10, "size_bytes": 10 * 2**22}
    assert found.found.facts == (put if jax.__version_info__ < (0, 10) else converted)
    assert found.code == "x = jnp.asarray(x)  # before the loop\n" + (
        "return [total(x) for _ in range(10)]" if as_list else "out = total(x)  # in the loop"
    )


def test_an_array_that_is_donated_is_converted_in_each_round(converting: Any) -> None:
    made = converting("jnp.array(x)", source=LOOP)
    (program,) = made.programs
    donating = replace(program, function="f", eager=False, donated=(0,))
    assert list(transfer.look(replace(made, programs=(program, donating)))) == []


@pytest.mark.parametrize(
    ("converted", "changes"),
    [
        ("jnp.asarray(i)", {}),  # another one in each round
        ("jnp.asarray(x[i])", {}),
        ("np.asarray(x)", {}),
        ("jnp.asarray(x), jnp.asarray(y)", {}),
        ("jnp.asarray(x)", {"programs": 2}),
        ("jnp.asarray(x)", {"source": "def run(xs):\n    return [f({}) for x in xs]\n"}),
        ("jnp.asarray(x)", {"source": "def run(x):\n    return [f(each) for each in {}]\n"}),
        ("jnp.asarray(x)", {"source": "def run(x):\n    return [f({}) for i in y if rng.shuffle(x)]\n"}),
        ("jnp.asarray(x)", {"count": 2}),
        ("jnp.asarray(x)", {"source": "def run(x):\n    return f({})\n"}),
        ("jnp.asarray(x)", {"source": LOOP.replace("s = ", "x[i] = i; s = ")}),
        ("jnp.asarray(x)", {"source": LOOP.replace("s = ", "rng.shuffle(x); s = ")}),
    ],
)
def test_what_may_be_another_array_is_no_finding(converting: Any, converted: str, changes: dict[str, Any]) -> None:
    assert list(transfer.look(converting(converted, **{"source": LOOP, **changes}))) == []


def test_conversions_are_no_operations_to_be_jitted(converting: Any) -> None:
    assert list(not_jitted.look(converting("jnp.asarray(x)", source=LOOP, count=200))) == []
