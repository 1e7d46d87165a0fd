"""Changes advice after its trial: takes it back, or says what was tried, or what has to come first."""

from __future__ import annotations

from dataclasses import replace

from ...records.note import Note, note
from ..record.finding import RuleFinding, Verified

#: A run in a trial takes at least this share of the time of a diagnosed one, if it does the same.
_LEAST_OF_RUN = 0.5

#: Ways to jit that leave out of jit what made the trial fail.
_KEPT = frozenset({"asked", "until"})

#: Rules whose advice is another than what is tried.
_OF_VARIANTS = frozenset({"memory"})

#: Rules that estimate what a remedy spares, where two programs tell exactly.
_PLANNED = frozenset({"donation"})

#: Facts that such an estimate rests on.
_ESTIMATES = frozenset({"doctor.donation_shared"})

#: Advice to jit a part of the function that was jitted as a whole, to try it.
_OF_A_PART = frozenset({"doctor.recompile_in_library"})

#: Advice to jit a function.
_TO_JIT = "doctor.not_jitted_remedy"

#: Facts about how to jit, and what to do then, which are void if that fails.
_OF_WAY = "way", "function", "outer", "library", "functions", "rounds", "then", "axes", "line", "written"

#: Facts about what a jitted function does otherwise than the function itself.
_OF_JITTED = frozenset({"changes", "keeps", "numbers", "once", "random", "rebinds", "sorts", "traced"})

#: What to change first, by the error that JAX raises: a fact of the remedy.
_CHANGES = {
    "ConcretizationTypeError": "reads",
    "NonConcreteBooleanIndexError": "masked",
    "TracerArrayConversionError": "converts",
    "TracerBoolConversionError": "decides",
    "TracerIntegerConversionError": "counts",
}


def revised(finding: RuleFinding, verified: Verified, run_ns: int | None = None) -> RuleFinding:
    """Return a finding whose remedy was tried: without it if it failed, and with no higher cost than it saved.

    A note tells the cost that was given before the trial, if it was another one. If jit failed, the remedy says what
    has to be changed first. A remedy that fixes an error need not be faster.

    Args:
        finding: the finding.
        verified: how its remedy was tried.
        run_ns: the time of a whole run; ``None`` for an error.
    """
    promised = finding
    finding = _as_gained(_as_extrapolated(_as_compiled(finding, verified), verified), verified, run_ns)
    before, costs = (promised.cost_ns, promised.cost_bytes), (finding.cost_ns, finding.cost_bytes)
    if before != costs and before != (None, None):
        verified = replace(verified, notes=(*verified.notes, _given_before(promised)))
    if is_in_vain(finding, verified) and _is_of_a_part(finding) and verified.outputs_agree is not False:
        told = [each for each in verified.notes if each.kind == "doctor.tried_runs"]
        unknown = note("doctor.part_not_tried")
        return replace(finding, verified=Verified(notes=(unknown, *told)))
    if is_in_vain(finding, verified):
        kept = replace(verified, remedy=finding.remedy, code=finding.code)
        return replace(finding, verified=kept, remedy=None, code=None)
    found = {each.kind: each for each in verified.notes}
    if "doctor.fallback_failed" in found:
        offered = tuple(each for each in finding.evidence if each.kind != "doctor.error_fallback")
        finding = replace(finding, evidence=offered)
    failed = found.get("doctor.cannot_be_jitted") or found.get("doctor.jit_freezes")
    tried = replace(finding, verified=verified)
    remedy = finding.remedy
    jitted = found.get("doctor.jitted")
    if jitted is not None and remedy is not None and finding.code is None and remedy.kind == _TO_JIT:
        return _as_tried(tried, jitted, verified)
    if failed is None or remedy is None or remedy.kind in _OF_A_PART or remedy.facts.get("way") in _KEPT:
        return tried
    return replace(tried, remedy=_blocked(remedy, failed), code=None)


def _given_before(promised: RuleFinding) -> Note:
    """Return the cost of a finding before its trial."""
    time_ns, size_bytes = promised.cost_ns, promised.cost_bytes
    if size_bytes is not None:
        return note("doctor.given_before", size_bytes=size_bytes)
    return note("doctor.given_before", time_ns=round(time_ns or 0))


def _as_compiled(finding: RuleFinding, verified: Verified) -> RuleFinding:
    """Return a finding with the bytes that compiling the remedy has shown, in place of those that were estimated."""
    before, after = verified.before_bytes, verified.after_bytes
    if finding.rule not in _PLANNED or before is None or after is None:
        return finding
    evidence = tuple(each for each in finding.evidence if each.kind not in _ESTIMATES)
    return replace(finding, cost_bytes=max(before - after, 0), basis="measured", evidence=evidence)


def _as_gained(finding: RuleFinding, verified: Verified, run_ns: int | None) -> RuleFinding:
    """Return a finding whose cost is what its remedy gained, if even the upper end of that is below the cost.

    The gain is a share of a run. It is unknown if the runs of the trial are much shorter, as they compile nothing.
    """
    whole_ns = run_ns if finding.per == "run" else _compiled_ns(finding, verified)
    if finding.cost_ns is None or not whole_ns or not verified.survives:
        return finding
    if verified.before_ns is None or verified.before_ns < _LEAST_OF_RUN * whole_ns:
        return finding
    if verified.speedup is None or verified.high is None or (1 - 1 / verified.high) * whole_ns >= finding.cost_ns:
        return finding
    return replace(finding, cost_ns=(1 - 1 / verified.speedup) * whole_ns, basis="measured")


def _compiled_ns(finding: RuleFinding, verified: Verified) -> int | None:
    """Return how long the first run compiled what a trial has compiled; ``None`` if the trial ran instead."""
    compiled = [each for each in finding.evidence if each.kind == "doctor.unrolled_compile"]
    tried = any(each.kind == "doctor.tried_compile_time" for each in verified.notes)
    return int(compiled[0].facts["time_ns"]) if compiled and tried else None


def _as_extrapolated(finding: RuleFinding, verified: Verified) -> RuleFinding:
    """Return a finding with the compile time that a part of the rounds has shown, if that is less."""
    third = next((each for each in verified.notes if each.kind == "doctor.unrolled_third"), None)
    if third is None or finding.cost_ns is None:
        return finding
    return replace(finding, cost_ns=min(finding.cost_ns, float(third.facts["cost_ns"])))


def _is_of_a_part(finding: RuleFinding) -> bool:
    """Return whether advice is to jit other operations as well, of which a trial can jit one function only."""
    remedy = finding.remedy
    return remedy is not None and remedy.kind == _TO_JIT and finding.code is None and remedy.facts["way"] == "group"


def _as_tried(finding: RuleFinding, jitted: Note, verified: Verified) -> RuleFinding:
    """Advise what was tried, and helped, in place of something more general, which may have spared more time."""
    code, line = str(jitted.facts.get("code", "")), str(jitted.facts.get("line", ""))
    if not code:
        return finding
    by = {"library": jitted.facts["library"]} if "library" in jitted.facts else {}
    known = {} if finding.remedy is None else finding.remedy.facts
    differs = {name: fact for name, fact in known.items() if name in _OF_JITTED}
    advice = note("doctor.not_jitted_remedy", way="function", function=jitted.facts["name"], **by, **differs)
    finding = replace(finding, remedy=advice, code=code)
    if line:
        finding = replace(finding, line=line, source=str(jitted.facts.get("source", "")) or None)
    if finding.cost_ns is None or verified.before_ns is None or verified.after_ns is None:
        return finding
    spared_ns = verified.before_ns - verified.after_ns
    return replace(finding, cost_ns=spared_ns, basis="measured") if spared_ns < finding.cost_ns else finding


def is_in_vain(finding: RuleFinding, verified: Verified | None) -> bool:
    """Return whether the remedy of a finding was tried, and is no improvement.

    A function may have several errors, of which each hides the next: one that is mended is, though the code fails.
    """
    if verified is None or finding.rule in _OF_VARIANTS:
        return False
    if finding.rule == "error":
        return not verified.failed and verified.outputs_agree is False
    return verified.survives is False


def _blocked(remedy: Note, failed: Note) -> Note:
    known = dict(remedy.facts) if remedy.kind == _TO_JIT else {}
    known = {name: fact for name, fact in known.items() if name not in _OF_WAY}
    change = _CHANGES.get(str(failed.facts.get("error", "")).partition(":")[0])
    if change is not None and not (change == "masked" and known.get("mask")):
        known[change] = 1
    if "jit" in failed.facts and known.get("jit", "jax.jit") == "jax.jit":
        known["jit"] = failed.facts["jit"]  # that of a library takes modules, which others of the operations may get
    return note(
        "doctor.not_jitted_remedy",
        way="blocked",
        function=failed.facts["name"],
        source=failed.facts.get("source", ""),
        freezes=int(failed.kind == "doctor.jit_freezes"),
        **known,
    )
