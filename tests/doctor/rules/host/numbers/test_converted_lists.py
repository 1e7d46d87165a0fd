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

CONVERTED = "jax._src.numpy.array_constructors.array"


@pytest.fixture
def converted(tmp_path: Path, executable: Any, evidence: Callable[..., Evidence]) -> Callable[..., Evidence]:
    """Runs of 100 ms, of which 40 lists of 500 numbers take half of the samples."""

    def make(
        source: str = "for l in lists:\n    y = f(jnp.array(l))\n",
        *,
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
        return replace(found, host=(*(found.host or ()), rest), **changes)

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
        {"numbers": 10**6},  # 1 ns per number: an array of NumPy
        {"puts": 0},  # an array of JAX
        {"samples": 9},
        {"others": ("concatenate",)},  # arrays of JAX in a list
        {"inputs": (Input(path="l", kind="numpy array", type="int64[500]", size_bytes=4000),)},
    ],
)
def test_other_conversions_are_no_lists(converted: Callable[..., Evidence], changes: dict[str, Any]) -> None:
    assert list(transfer.look(converted(**changes))) == []


@pytest.mark.parametrize(("given", "count"), [("[row for row in l]", 1), ("l", 0)])
def test_rows_of_numpy_in_a_list_are_converted_one_by_one_as_well(
    given: str, count: int, converted: Callable[..., Evidence]
) -> None:
    """Each list takes 1.25 ms and has 50,000 numbers: an array of NumPy may take as long, but a list is none."""
    made = converted(f"for l in lists:\n    y = f(jnp.array({given}))\n", numbers=5 * 10**4)
    found = list(transfer.look(made))
    assert [each.cost_ns for each in found] == [pytest.approx(42 * MS, rel=0.05)] * count


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
