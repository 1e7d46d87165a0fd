"""A function that converts the same arrays each time that a loop calls it is found, with that call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.record.conversion import Conversion
from jaxmagic.doctor.rules.host import transfer
from jaxmagic.doctor.rules.host.copies.unchanged import converted_unchanged
from jaxmagic.doctor.rules.host.host_time import host_time
from jaxmagic.records.call_stack import Frame

SOURCE = """def as_jax(self):
    return {"a": jnp.array(self.a), "b": jnp.array(self.b)}
def run(buffer, n):
    for i in range(n):
        data = buffer.as_jax()
        s = f(data, i)
    return s
"""

COMPREHENSION = SOURCE.replace(
    "    for i in range(n):\n        data = buffer.as_jax()\n        s = f(data, i)\n",
    "    s = 0\n    s = [f(buffer.as_jax(), i) for i in range(n)]\n",
)


def evidence(converting: Any, source: str = SOURCE, *, stack: tuple[int, ...] = (2, 5), **changes: Any) -> Any:
    """Two arrays that are converted below the lines of a stack, and one more elsewhere that takes a fifth of it."""
    made = converting(
        "jnp.array(self.a)", source=source.replace("{", "{{").replace("}", "}}"), code="run(buffer, 20)"
    )
    file = made.programs[0].called_at.file
    frames = [Frame(function="as_jax" if each < 3 else "run", file=file, line=each) for each in stack]
    one = Conversion(
        line=frames[0],
        called_from=tuple(frames[1:]),
        count=20,
        size_bytes=2**20,
        type="float32[512,512]",
        same_values=True,
    )
    one = replace(one, **changes)
    elsewhere = replace(one, line=replace(frames[0], line=7), called_from=(), size_bytes=2**19, type="float32[9]")
    return replace(made, conversions=(one, one, elsewhere))


def test_both_arrays_count_with_their_share_of_the_time(converting: Any) -> None:
    (found,) = transfer.look(evidence(converting))
    assert found.found.kind == "doctor.converted_unchanged"
    assert found.found.facts == {"function": "as_jax", "arrays": 2, "count": 20, "size_bytes": 40 * 2**20}
    assert found.source == "data = buffer.as_jax()"
    assert found.cost_ns == pytest.approx(50 * MS * 0.8 * 19 / 20)
    assert found.code == "data = buffer.as_jax()  # before the loop, and not in it"
    assert "Call as_jax once, before the loop, and again only where the arrays change." in str(found.remedy)
    assert found.evidence[0].facts["lines"].endswith("run.py:2")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("data = buffer.as_jax()", "data = buffer.as_jax(i)"),
        ("s = f(data, i)", "data['c'] = f(data, i)"),
        ("s = f(data, i)", "s = f(data.pop('a'), i)"),
        ("data = buffer.as_jax()", "s = f(buffer.as_jax())"),
        ("{'a': jnp.array(self.a), 'b': jnp.array(self.b)}", "{'a': jnp.array(self.a), 'b': 3 * jnp.array(self.b)}"),
        ("{'a': jnp.array(self.a), 'b': jnp.array(self.b)}", "{'a': jnp.array(self.a), 'b': jnp.array(self.draw())}"),
    ],
)
def test_no_code_where_it_does_more(converting: Any, old: str, new: str) -> None:
    source = SOURCE.replace('"', "'")
    assert old in source
    (found,) = transfer.look(evidence(converting, source.replace(old, new)))
    assert found.code is None
    assert "Convert the arrays once, before the loop" in str(found.remedy)


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        (SOURCE, {"same_values": False}),
        (SOURCE, {"count": 2}),
        (SOURCE, {"size_bytes": 2**10}),
        (SOURCE, {"stack": (2, 7)}),  # called where there is no loop
        (SOURCE, {"stack": (2,)}),
        (SOURCE, {"stack": (5,)}),  # in the loop itself
        (COMPREHENSION.replace("buffer.as_jax()", "g(i)").replace("range(n)", "buffer.as_jax()"), {}),  # once
    ],
)
def test_what_may_change_or_is_little_is_no_finding(converting: Any, source: str, changes: dict[str, Any]) -> None:
    found = transfer.look(evidence(converting, source, **changes))
    assert [each for each in found if each.found.kind == "doctor.converted_unchanged"] == []


def test_a_loop_that_goes_over_the_arrays_is_not_the_one(converting: Any) -> None:
    source = SOURCE.replace("\n    return {", "\n    out = [jnp.array(x) for x in self.arrays]; return {")
    (found,) = transfer.look(evidence(converting, source))
    assert found.source == "data = buffer.as_jax()"


@pytest.mark.parametrize(
    "source",
    [COMPREHENSION, COMPREHENSION.replace("[f(buffer.as_jax(), i) for i in range(n)]", "[*map(as_jax, data)]")],
)
def test_calls_in_a_comprehension_and_by_map_are_repeated(converting: Any, source: str) -> None:
    (found,) = transfer.look(evidence(converting, source))
    assert found.source == source.splitlines()[4].strip()
    assert found.code is None


def test_a_line_that_another_finding_has_is_left_out(converting: Any) -> None:
    made = evidence(converting)
    told = {made.conversions[0].line.location}
    time = host_time(made)
    assert time is not None
    assert [each.source for each in converted_unchanged("transfer", made, time)] == ["data = buffer.as_jax()"]
    assert list(converted_unchanged("transfer", made, time, told)) == []


def test_arrays_that_are_donated_are_converted_each_time(converting: Any) -> None:
    made = evidence(converting)
    donating = replace(made.programs[0], function="f", eager=False, donated=(0,))
    assert list(transfer.look(replace(made, programs=(*made.programs, donating)))) == []
