"""Slow programs of the kind that people post: found, and faster with the remedy where it can be applied.

This depends on what else the machine does, so it is a suite: ``make suites``, or ``JAXMAGIC_DIAGNOSED=1``.
"""

from __future__ import annotations

import os
from typing import Any

import jax
import pytest

import jaxmagic

from .slow import PROGRAMS

pytestmark = [
    pytest.mark.clock,
    pytest.mark.long,
    pytest.mark.skipif("JAXMAGIC_DIAGNOSED" not in os.environ, reason="a suite: needs a quiet machine"),
]

#: Programs for which the remedy is not mechanical, or changes what the code computes.
NOT_TRIED = (
    "growing_sequence",
    "unrolled_rnn",
    "sort_per_step",
    "static_argument_that_varies",
    "double_precision_that_crept_in",
)


@pytest.fixture(autouse=True)
def double_precision(request: pytest.FixtureRequest) -> Any:
    """Allow double precision where that is what is wrong."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", "double" in request.node.name)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_slow_is_found_and_its_remedy_holds(name: str) -> None:
    rules, make = PROGRAMS[name]
    run, arguments = make()
    options = {"repeat": True} if name == "static_argument_that_varies" else {}
    found = jaxmagic.diagnose(run, *arguments, verify=True, budget_s=5, **options)
    findings = [each for each in found.findings if each.rule in rules]
    assert findings, str(found)
    assert {each.rule for each in found.findings} <= {*rules, "compile-time"}, str(found)
    verified = findings[0].verified
    assert verified is not None
    assert verified.outputs_agree is not False
    without_lines = rules == ("rematerialise",) and findings[0].code is None  # as on JAX 0.7
    if name in NOT_TRIED or "dispatch-bound" in rules or without_lines:
        assert verified.speedup is None
    else:
        assert verified.survives, str(found)
