"""Counts each second of compiling in the first run in one finding only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ....compilation.record.compilation import Compilation
from ....records.note import note
from ...record.evidence import Evidence
from ...record.finding import RuleFinding

#: The rules that claim time of compiling, the most specific one first: its remedy spares programs, or shortens them,
#: and what is left is the next one's.
_ORDER = ("recompile", "unrolled-loop", "compile-time")


#: The remedy that switches on JAX's persistent cache, and the setting that does so.
_CACHE, _SWITCH = "doctor.compile_time_cache", "jax_compilation_cache_dir"


def numbers_of(compilations: Iterable[Compilation], evidence: Evidence) -> tuple[int, ...]:
    """Return the places of compilations among those of the first run."""
    wanted = {id(each) for each in compilations}
    return tuple(number for number, each in enumerate(evidence.first.compilations) if id(each) in wanted)


def divide_compile_time(findings: Sequence[RuleFinding], evidence: Evidence) -> list[RuleFinding]:
    """Return the findings in their order, of which none claims time that a more specific one spares already.

    Long compiling is no finding where others claim all of it. The time that a finding leaves of each compilation is
    shared evenly: an estimate for several compilations has no part for each of them.
    """
    times = [each.total_ns for each in evidence.first.compilations]
    left = [float(each) for each in times]
    claimed_by: list[list[RuleFinding]] = [[] for _ in times]
    found = list(findings)
    claiming = [number for number, each in enumerate(found) if each.rule in _ORDER and each.compiles]
    for number in sorted(claiming, key=lambda number: _ORDER.index(found[number].rule)):
        finding = found[number]
        total_ns = sum(times[each] for each in finding.compiles)
        if finding.cost_ns is None or not total_ns:
            continue
        # A finding about every run is about later ones: in the first run it spares these compilations altogether.
        share = min(finding.cost_ns / total_ns, 1.0) if finding.per == "first run" else 1.0
        if finding.per == "first run":
            others = [each for place in finding.compiles for each in claimed_by[place]]
            found[number] = _less(finding, sum(left[each] for each in finding.compiles) / total_ns, others)
        for place in finding.compiles:
            left[place] *= 1 - share
            claimed_by[place].append(finding)
    return _switching_on_once([each for each in found if each.rule != _ORDER[-1] or each.cost_ns is not None])


def _switching_on_once(findings: Sequence[RuleFinding]) -> list[RuleFinding]:
    """Return the findings, only one of which switches on JAX's persistent cache: the one about long compilations."""
    kinds = {"" if each.remedy is None else each.remedy.kind for each in findings if each.code is not None}
    return [_for_cache_that_is_on(each) if _CACHE in kinds else each for each in findings]


def _for_cache_that_is_on(finding: RuleFinding) -> RuleFinding:
    remedy = finding.remedy
    if remedy is None or remedy.kind != f"{_CACHE}_short" or not remedy.facts["off"]:
        return finding
    return replace(
        finding,
        evidence=tuple(each for each in finding.evidence if each.kind != "doctor.cache_off"),
        remedy=replace(remedy, facts=remedy.facts | {"off": 0, "also": 1}),
        code="\n".join(each for each in (finding.code or "").splitlines() if _SWITCH not in each),
    )


def _less(finding: RuleFinding, share: float, others: Sequence[RuleFinding]) -> RuleFinding:
    """Return a finding with the share of its cost that no other finding claims, and say which ones claim the rest."""
    if not others or finding.cost_ns is None:
        return finding
    cost_ns = finding.cost_ns * share
    elsewhere = note(
        "doctor.counted_elsewhere",
        rules=", ".join(sorted({each.rule for each in others}, key=_ORDER.index)),
        time_ns=round(finding.cost_ns - cost_ns),
    )
    estimated = any(each.basis == "estimated" for each in others)
    return replace(
        finding,
        cost_ns=cost_ns if cost_ns >= 1 else None,
        basis=None if cost_ns < 1 else "estimated" if estimated else finding.basis,
        evidence=(*finding.evidence, elsewhere),
    )
