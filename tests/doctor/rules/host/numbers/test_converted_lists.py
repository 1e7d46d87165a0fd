"""Lists that JAX converts number by number are found, and are no operations to be jitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostShare, Input
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host import not_jitted, transfer
from jaxmagic.records.call_stack import Frame

LISTS = Input(path="lists", kind="other", type="list")

CONVERTED = "jax._src.numpy.array_constructors.array"


@pytest.fixture
def converted(tmp_path: Path, executable: Any, evidence: Callable[..., Evidence]) -> Callable[..., Evidence]:
    """Runs of 100 ms, of which 40 lists of 500 numbers take half of the samples."""

    def make(
        source: str = "for l in lists:\n    y = f(jnp.array(l))\n",
        *,
        inputs: tuple[Input, ...] = (LISTS,),
        numbers: int = 500,
        puts: int = 40,
        samples: int = 50,
        others: tuple[str, ...] = (),
        **changes: Any,
    ) -> Evidence:
        file = tmp_path / "run.py"
        file.write_text(source)
        line = Frame(function="<module>", file=str(file), line=2)
        names = ("convert_element_type", *others)
        programs = tuple(
            Program(
                executable=executable(name=f"jit_{name}", output_bytes=4 * numbers),
                module=None,
                function="prim_fun",
                eager=True,
                called_at=line,
            )
            for name in names
        )
        call = Dispatch(name=names[0], count=40, host_ns=MS, exposed_ns=2 * MS, puts=puts)
        found = evidence((call,), host=(HostShare(line=line, called=CONVERTED, samples=samples),), programs=programs)
        rest = HostShare(line=line, called="", samples=100 - samples)
        return replace(found, host=(*(found.host or ()), rest), inputs=inputs, **changes)

    return make


def test_lists_are_converted_with_numpy(converted: Callable[..., Evidence]) -> None:
    (found,) = transfer.look(converted())
    assert found.found.facts == {"count": 40, "numbers": 500}
    assert found.cost_ns == pytest.approx(49 * MS, rel=0.05)
    assert found.code == "jnp.array(np.asarray(l))  # replaces jnp.array(l)"
    assert list(not_jitted.look(converted())) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"numbers": 1},  # a number
        {"puts": 0},  # an array of JAX
        {"samples": 9},
        {"others": ("concatenate",)},  # arrays of JAX in a list
        {"inputs": (Input(path="l", kind="numpy array", type="int64[500]", size_bytes=4000),)},
        {"inputs": (LISTS, Input(path="lists[0]", kind="numpy array", type="int64[500]", size_bytes=4000))},
        {"inputs": (Input(path="lists", kind="iterator", type="generator"),)},
        {"inputs": ()},
    ],
)
def test_other_conversions_are_no_lists(converted: Callable[..., Evidence], changes: dict[str, Any]) -> None:
    assert list(transfer.look(converted(**changes))) == []


@pytest.mark.parametrize(
    ("before", "given", "is_list"),
    [
        ("l = 0", "[row for row in l]", True),  # rows of NumPy are converted one by one as well
        ("l = [1, 2]", "l", True),
        ("l = []", "l", True),
        ("l = x.tolist()", "l", True),
        ("l = list(x)", "l", True),
        ("l = x", "l", False),
        ("l = x", "l[rows]", False),  # as of an array of NumPy
        ("l = [1]; l = np.array(l)", "l", False),
        ("l = [1]; l += x", "l", False),
        ("l = 0", "given", True),
        ("l = 0", "pairs[0]", True),
        ("l = 0", "table[0]", False),
        ("l = 0", "l[0], [1]", True),
        ("l = 0", "[1]), jnp.array(l", False),  # the samples are those of both
    ],
)
def test_a_list_is_known_by_its_syntax_or_as_an_input(
    before: str, given: str, is_list: bool, converted: Callable[..., Evidence]
) -> None:
    given = f"({given})" if given == "l[0], [1]" else given
    inputs = (
        Input(path="given", kind="other", type="tuple"),
        Input(path="pairs", kind="other", type="list"),
        Input(path="table", kind="numpy array", type="float64[9,9]"),
    )
    made = converted(f"{before}\ny = f(jnp.array({given}))\n", inputs=inputs)
    assert bool(list(transfer.look(made))) == is_list


def test_samples_are_of_the_time_without_compiling(converted: Callable[..., Evidence]) -> None:
    """While JAX compiles, no samples are kept: half of 60 ms, not of 100 ms, are those of the conversions."""
    made = converted()
    run = replace(made.observed, tracing_ns=0, lowering_ns=0, compilation_ns=40 * MS)
    (found,) = transfer.look(replace(made, observed=run, timed=(run,)))
    assert found.evidence[0].facts["taken_ns"] == 30 * MS


SOURCE = "for batch in data:\n    x = jnp.array([t[0] for t in batch])\n    y = jnp.array([t[1] for t in batch])\n"


@pytest.mark.parametrize(
    ("samples", "joins", "lines"),
    [
        (30, "", "{file}:3"),
        (9, "", None),
        (30, "stack", None),
    ],  # fewer samples, and arrays of JAX in one of the lists
)
def test_lists_that_two_lines_convert_may_share_a_program(
    samples: int, joins: str, lines: str | None, converted: Callable[..., Evidence], tmp_path: Path
) -> None:
    others = (joins,) if joins else ()
    made = converted(SOURCE, samples=40, others=others)
    assert made.host is not None
    first = made.host[0]
    assert first.line is not None
    second = replace(first, line=replace(first.line, line=3), samples=samples)
    found = list(transfer.look(replace(made, host=(*made.host, second))))
    told = [each.facts["lines"] for of in found for each in of.evidence if each.kind == "doctor.converted_list_also"]
    assert told == ([] if lines is None else [lines.format(file=tmp_path / "run.py")])
    for each in found:
        assert each.line == f"{tmp_path / 'run.py'}:2"
        assert each.code is not None
        assert ("np.asarray([t[1] for t in batch])" in each.code) is (lines is not None)
