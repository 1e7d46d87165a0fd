"""Changes advice to jit a function that jit turned out not to compile as it is."""

from __future__ import annotations

from dataclasses import replace

from ...records.note import Note, note
from ..record.finding import RuleFinding, Verified

#: Ways to jit that leave out of jit what made the trial fail.
_KEPT = frozenset({"asked", "until"})

#: Facts about how to jit, which are void if that fails.
_OF_WAY = "way", "function", "outer", "library", "functions"

#: What to change first, by the error that JAX raises: a fact of the remedy.
_CHANGES = {
    "ConcretizationTypeError": "reads",
    "NonConcreteBooleanIndexError": "masked",
    "TracerArrayConversionError": "converts",
    "TracerBoolConversionError": "decides",
    "TracerIntegerConversionError": "counts",
}


def revised(finding: RuleFinding, verified: Verified) -> RuleFinding:
    """Return a finding whose remedy was tried, with what has to be changed first if jit failed."""
    found = {each.kind: each for each in verified.notes}
    failed = found.get("doctor.cannot_be_jitted") or found.get("doctor.jit_freezes")
    tried = replace(finding, verified=verified)
    remedy = finding.remedy
    if failed is None or remedy is None or remedy.facts.get("way") in _KEPT:
        return tried
    return replace(tried, remedy=_blocked(remedy, failed), code=None)


def _blocked(remedy: Note, failed: Note) -> Note:
    known = dict(remedy.facts) if remedy.kind == "doctor.not_jitted_remedy" else {}
    known = {name: fact for name, fact in known.items() if name not in _OF_WAY}
    change = _CHANGES.get(str(failed.facts.get("error", "")).partition(":")[0])
    if change is not None and not (change == "masked" and known.get("mask")):
        known[change] = 1
    return note(
        "doctor.not_jitted_remedy",
        way="blocked",
        function=failed.facts["name"],
        source=failed.facts.get("source", ""),
        freezes=int(failed.kind == "doctor.jit_freezes"),
        **known,
    )
