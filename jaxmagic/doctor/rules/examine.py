"""Applies the rules to the evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ...errors import briefly
from ...records.note import Note, note
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from .all import HOST_RULES, RULES
from .compiling.compile_claims import divide_compile_time
from .compiling.every_run import made_by_the_code
from .host.host_lines import host_lines
from .host.idle_claims import divide_idle_time
from .host.jitting.shared_loop import with_shared_loops
from .host.loading import unjudged_loading
from .memory import uncounted
from .rule import available
from .unjudged import about_part, as_lower_bounds, reads_unseen, unjudged

#: A cost of the first run counts as much as this share of the same cost in every run.
_FIRST_RUN = 0.01

#: Remedies that change no code of what was examined, and no run of this session: a cache for later sessions.
_FOR_LATER_SESSIONS = "doctor.compile_time_cache", "doctor.compile_time_cache_short"


class Examined(NamedTuple):
    """The result of an examination.

    Attributes:
        findings: what was found, most costly first; compiling that only a cache spares comes last.
        looked: the names of the rules that had the evidence they need.
        notes: which rules did not, and which failed.
    """

    findings: tuple[RuleFinding, ...]
    looked: tuple[str, ...]
    notes: tuple[Note, ...]


def examine(evidence: Evidence, only: Sequence[str] = ()) -> Examined:
    """Apply the rules to the evidence.

    Args:
        evidence: what the runs of the code have shown.
        only: the names of the rules to apply; all of them if empty.
    """
    there = available(evidence)
    findings: list[RuleFinding] = []
    looked: list[str] = []
    notes: list[Note] = []
    blind: dict[str, list[str]] = {}
    for rule in RULES:
        if only and rule.name not in only:
            continue
        missing = [need for need in rule.needs if need not in there]
        if missing:
            blind.setdefault(missing[0], []).append(rule.name)
            continue
        try:
            findings += rule.look(evidence)
            looked.append(rule.name)
        except Exception as error:  # one rule that fails must not lose what the others found
            notes.append(_failed(rule.name, error))
    notes += [note("doctor.not_looked", rules=", ".join(rules), need=need) for need, rules in blind.items()]
    findings = _changed("host-wait", partial(divide_idle_time, findings, evidence), findings, notes)
    notes += _beside(findings, looked, evidence, everything=not only)
    findings = _changed("compile-time", partial(divide_compile_time, findings, evidence), findings, notes)
    findings = _changed("not-jitted", partial(with_shared_loops, findings, evidence), findings, notes)
    findings = as_lower_bounds(findings, evidence)
    notes += filter(None, [about_part(looked, evidence)])
    ordered = _behind_jit(sorted(findings, key=partial(_priority, evidence)), evidence)
    return Examined(tuple(ordered), tuple(looked), tuple(notes))


def _beside(
    findings: Sequence[RuleFinding], looked: Sequence[str], evidence: Evidence, *, everything: bool
) -> Iterator[Note]:
    """Yield what is told beside the findings: what is not counted, or cannot be judged, and where the host was."""
    host = [rule for rule in HOST_RULES if rule.name in looked]
    found = [each for each in findings if each.rule in {rule.name for rule in host}]
    asked = [("memory", partial(uncounted, evidence)), ("recompile", partial(made_by_the_code, evidence))]
    if host and not found:
        asked.append((host[0].name, partial(unjudged, host, evidence)))
        asked += [
            ("host-wait", partial(reads_unseen, evidence)),
            ("input-bound", partial(unjudged_loading, evidence)),
        ]
    if everything:
        asked.append(("input-bound", partial(host_lines, evidence, sum(each.cost_ns or 0.0 for each in found))))
    yield from filter(None, (_told(rule, tell) for rule, tell in asked if rule in looked))


def _failed(rule: str, error: Exception) -> Note:
    return note("doctor.rule_failed", rule=rule, error=briefly(error))


def _told(rule: str, tell: Callable[[], Note | None]) -> Note | None:
    """Return what is told beside a rule's findings, or that it failed."""
    try:
        return tell()
    except Exception as error:  # as above
        return _failed(rule, error)


def _changed(
    rule: str, change: Callable[[], list[RuleFinding]], findings: list[RuleFinding], notes: list[Note]
) -> list[RuleFinding]:
    """Return findings that take each other into account; as they are, with a note, if that fails."""
    try:
        return change()
    except Exception as error:  # as above
        notes.append(_failed(rule, error))
        return findings


def _priority(evidence: Evidence, finding: RuleFinding) -> tuple[bool, int, float]:
    """Order findings: first what the code can change, then time by what it costs, memory by its size, the rest.

    What fusing operations gains is unknown: their finding comes where the work of the device for them belongs.
    """
    last = _changes_no_code(finding)
    if finding.found.kind == "doctor.eager_on_device":
        return last, 0, -float(finding.found.facts["share"]) * evidence.run_ns
    if finding.cost_ns is not None:
        return last, 0, -finding.cost_ns * (_FIRST_RUN if finding.per == "first run" else 1)
    return (last, 1, -finding.cost_bytes) if finding.cost_bytes is not None else (last, 2, 0)


def _behind_jit(findings: Sequence[RuleFinding], evidence: Evidence) -> list[RuleFinding]:
    """Move the compiling of operations outside of jit behind the finding about all of these operations.

    What jits them makes their programs unnecessary, whichever of the two costs more.
    """
    jits = next((each for each in findings if each.found.kind == "doctor.not_jitted"), None)
    place = 0 if jits is None else findings.index(jits)
    early = [each for each in findings[:place] if _compiles_operations(each, evidence)]
    rest = [each for each in findings if not any(each is one for one in early)]
    place -= len(early) - 1
    return [*rest[:place], *early, *rest[place:]]


def _compiles_operations(finding: RuleFinding, evidence: Evidence) -> bool:
    """Return whether a finding is about compiling operations outside of jit, and nothing else."""
    compiled = [evidence.first.compilations[number] for number in finding.compiles]
    return finding.rule == "compile-time" and bool(compiled) and all(each.eager for each in compiled)


def _changes_no_code(finding: RuleFinding) -> bool:
    """Return whether a finding is about compiling, and recommends a cache or nothing."""
    if finding.remedy is None:
        return finding.rule == "compile-time"
    return finding.remedy.kind in _FOR_LATER_SESSIONS
