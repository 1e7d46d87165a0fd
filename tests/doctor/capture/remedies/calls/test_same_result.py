"""The result of a call stands for the next ones with the same objects, and for no others."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxmagic.doctor.capture.remedies.all import REMEDIES
from jaxmagic.doctor.capture.remedies.remedy import Change
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.note import note


@jax.jit
def doubled(x: Any) -> Any:
    return 2 * x


def test_only_calls_with_the_same_objects_get_the_last_result() -> None:
    found = note("doctor.same_arguments", function="doubled", names="x", count=3, busy_ns=1)
    finding = RuleFinding(rule="captured-constant", found=found, applies_to="doubled")
    change = REMEDIES["captured-constant"](finding, TriedCode("doubled(x)", {"doubled": doubled}))
    assert isinstance(change, Change)
    kept, x, other = change.replacements[id(doubled)], jnp.ones(2), jnp.zeros(2)
    first = kept(x)
    assert kept(other).tolist() == [0, 0]
    assert not change.used()
    second = kept(x)  # another run may make its arrays anew
    assert second is not first
    assert kept(x) is second
    assert change.used()
