"""The items of NumPy arrays are tried on the device, and the loop without its copies."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.remedies.all import REMEDIES
from jaxmagic.doctor.capture.remedies.remedy import Change, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.note import note

SEEN: list[Any] = []


def run(xs: Any) -> Any:
    for x in xs:
        x = jnp.array(x)
        SEEN.append(x)
    return SEEN


XS = np.arange(6, dtype=np.float32).reshape(3, 2)
LINE = run.__code__.co_firstlineno + 2


def proposed(code: str | None) -> Change:
    finding = RuleFinding(
        rule="transfer",
        found=note("text"),
        line=f"{__file__}:{LINE}",
        remedy=note("doctor.transfer_before", names="xs", size_bytes=24),
        code=code,
    )
    change = REMEDIES["transfer"](finding, TriedCode.of_call(run, (XS,), {}))
    assert isinstance(change, Change)
    return change


@pytest.mark.parametrize("loop", ["x = x  # in the loop", f"# Then remove line {LINE} of run."])
def test_the_loop_gets_arrays_of_jax_and_copies_nothing(loop: str) -> None:
    change = proposed(f"xs = [jnp.array(each) for each in xs]  # once, before this code\n{loop}")
    items, changed = change.replacements[id(XS)], change.replacements[id(run)]
    SEEN.clear()
    changed(items)
    assert all(isinstance(one, jax.Array) and one is given for one, given in zip(SEEN, items, strict=True))
    np.testing.assert_array_equal(np.stack(items), XS)
    assert [each.kind for each in change.notes] == ["doctor.put", "doctor.pasted"]


def test_what_a_function_is_given_only_lies_elsewhere() -> None:
    change = proposed("xs = jax.device_put(list(xs))  # before the loops")
    assert change.replacements.keys() == {id(XS)}
    assert all(isinstance(each, jax.Array) for each in change.replacements[id(XS)])


@pytest.mark.parametrize("code", [None, "self.xs = jax.device_put(self.xs)", "ys = jax.device_put(ys)", "f(x)\ng(x)"])
def test_other_code_is_not_tried(code: str | None) -> None:
    with pytest.raises(NotTried):
        proposed(code)
