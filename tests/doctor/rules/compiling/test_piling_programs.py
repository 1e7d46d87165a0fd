"""`memory`: programs that every run compiles and that nothing frees."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
from gathered_evidence import evidence_of

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import memory, rule
from jaxmagic.doctor.rules.compiling import recompile

X = np.ones(3, np.float32)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no compile time be worth a finding, as if runs took very long."""
    monkeypatch.setattr(rule, "LEAST_SHARE", 10**9)


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every compile time be worth a finding."""
    monkeypatch.setattr(rule, "LEAST_SHARE", 0)


class Registry:
    """Makes jitted functions, or shapes, that are new in each run."""

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self.calls = 0

    def make(self, x: Any) -> None:
        for factor in range(3):

            def scaled_for_registry(x: Any) -> Any:
                return x * factor

            self.functions.append(jax.jit(scaled_for_registry))
            self.functions[-1](x)

    def make_and_drop(self, x: Any) -> None:
        self.make(x)
        self.functions.clear()

    def replace(self, x: Any) -> None:
        self.functions.clear()
        self.make(x)

    def grow(self, x: Any) -> None:
        self.calls += 1
        summed_for_registry(np.ones(self.calls, np.float32))

    def call_operations(self, x: Any) -> None:
        self.calls += 1
        ((jax.device_put(np.ones(7_000 + self.calls)) + 1) * 2).block_until_ready()


@jax.jit
def summed_for_registry(x: Any) -> Any:
    return x.sum()


@functools.cache
def gathered(method: str) -> Evidence:
    jax.clear_caches()
    return evidence_of(getattr(Registry(), method), X)


def evidence_in(finding: RuleFinding) -> str:
    return " ".join(map(str, finding.evidence))


def found(evidence: Evidence) -> list[RuleFinding]:
    return list(memory.RULE.look(evidence))


@pytest.mark.usefixtures("cheap")
def test_new_functions_that_are_kept_pile_up() -> None:
    evidence = gathered("make")
    (kept,) = evidence.kept_programs
    assert (kept.name, kept.programs) == (
        "jit_scaled_for_registry",
        3 * (len(evidence.timed) + 1),
    )  # and the recorded run
    (finding,) = found(evidence)
    assert str(finding.found) == (
        "scaled_for_registry compiles 3 times in every run because it is a new function object each time. Its "
        "programs are not freed."
    )
    assert (finding.rule, finding.cost_ns, finding.compiles) == ("memory", None, ())
    assert finding.source == "self.functions.append(jax.jit(scaled_for_registry))"
    assert f"{kept.programs} more of scaled_for_registry are alive than after the second run. jax" in str(
        finding.evidence[-1]
    )
    assert list(recompile.RULE.look(evidence)) == []


@pytest.mark.usefixtures("cheap")
def test_new_shapes_pile_up() -> None:
    evidence = gathered("grow")
    assert any(each.name == "jit_summed_for_registry" for each in evidence.kept_programs)
    (finding,) = [each for each in found(evidence) if each.found.facts["function"] == "summed_for_registry"]
    assert "compiles once in every run for different shapes. Its programs are not freed." in str(finding.found)


@pytest.mark.usefixtures("cheap")
def test_operations_with_one_cause_are_one_finding() -> None:
    (finding,) = found(gathered("call_operations"))
    assert "operations (" in str(finding.found)
    assert str(finding.found).endswith("in every run for different shapes. Their programs are not freed.")


@pytest.mark.usefixtures("costly")
def test_one_cause_is_told_once() -> None:
    evidence = gathered("make")
    assert found(evidence) == []
    (told,) = recompile.RULE.look(evidence)
    assert "pile up in memory" in evidence_in(told)


@pytest.mark.usefixtures("costly")
@pytest.mark.parametrize("method", ["make_and_drop", "replace"])
def test_programs_that_are_freed_are_left_alone(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = gathered(method)
    (told,) = recompile.RULE.look(evidence)
    assert "pile up" not in evidence_in(told)
    monkeypatch.setattr(rule, "LEAST_SHARE", 10**9)
    assert found(evidence) == []


@pytest.mark.parametrize(
    ("change", "piles_up"),
    [
        (lambda kept: replace(kept, programs=kept.programs - 1), False),
        (lambda kept: replace(kept, name="jit_other"), False),
        (lambda kept: kept, True),
    ],
)
@pytest.mark.usefixtures("cheap")
def test_all_that_was_compiled_has_to_be_alive(change: Any, piles_up: bool) -> None:
    evidence = gathered("make")
    (kept,) = evidence.kept_programs
    assert bool(found(replace(evidence, kept_programs=(change(kept),)))) is piles_up


@pytest.mark.usefixtures("cheap")
def test_code_is_counted_where_the_backend_reports_it() -> None:
    evidence = gathered("make")
    (kept,) = evidence.kept_programs
    (finding,) = found(replace(evidence, kept_programs=(replace(kept, code_bytes=9000),)))
    assert (finding.cost_bytes, finding.basis) == (3 * 9000 // kept.programs, "measured")
    assert "with 8.79 KiB of code." in evidence_in(finding)


def test_functions_that_compile_once_are_left_alone() -> None:
    evidence = evidence_of(summed_for_registry, X)
    assert (evidence.kept_programs, found(evidence)) == ((), [])
