"""Words a diagnosis."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ... import units
from ...benchmarking.record.versus import LEAST_DIFFERENCE
from ...profiling.analysis.devices.bound import bound_of
from ...profiling.analysis.roofline import placed
from ...profiling.report.sentences import about_bound
from ...records.other_load import loaded
from ...report.blocks import Block, Caution, Entries, Entry, Excerpt, Headline, Picture, Sentence
from ...report.compose import Brief
from ...report.glance import and_more, notes_folded
from ...report.style import Style
from ..analysis.failed_trial import is_in_vain
from ..charts import costs_chart
from ..record.diagnosis import Diagnosis
from ..record.finding import RuleFinding, Verified
from ..rules.all import HOST_RULES, RULES
from .remedies.speedups import how_fast
from .runs import ABOUT_HOST, about_compiling, about_runs, found_nothing, is_incomplete
from .verified import beside_memory

#: The operations whose rates are known must take at least this share of the device time to speak for all.
_MOST_OF_IT = 0.8

#: This many of many findings are seen at once. If only one more would be left out, it takes the place of the count.
_FEW_FINDINGS = 4

#: At most this many lines of code are seen at once: what is longer would fill a screen.
_FEW_LINES = 8

#: The kinds of notes that say why nothing ran.
_UNCALLED = ("timing.not_called", "timing.quoted_call")

#: The kinds of notes that the headline words.
_IN_HEADLINE = ("doctor.error_earlier",)

#: The kinds of notes that say what all else depends on.
_FIRST = ("doctor.jit_disabled",)

#: The sign before a cost that was not measured.
_ABOUT = {"estimated": "≈ ", "at least": "≥ "}

#: What stands in place of a cost where results are not what they should be.
_WITHOUT_COST = {"doctor.stale": "results of old values"}

#: The advice where a rule has none.
NO_REMEDY = "jaxmagic knows no remedy for this."

#: The kinds of notes that say how much outputs differ, and whether that is rounding.
_HOW_OUTPUTS_DIFFER = frozenset(
    {"doctor.outputs_error", "doctor.outputs_rounded", "doctor.outputs_precision", "doctor.outputs_noise"}
)

#: The kinds of evidence that say why something is compiled again, which is the answer.
_CAUSES = tuple(f"doctor.recompile_{each}" for each in ("difference", "reason", "within", "captured"))


def report(diagnosis: Diagnosis, style: Style, explain: bool) -> Iterator[Block]:
    """Compose what was found, in the order of the findings, then how it was found."""
    yield Headline(text=headline(diagnosis, style.digits))
    if _why_nothing(diagnosis) is not None:
        return
    yield from (Sentence(text=str(each)) for each in diagnosis.notes if each.kind in _FIRST)
    yield from (Caution(text=str(each)) for each in loaded(diagnosis.other_load, diagnosis.environment))
    if any(each.cost_ns is not None and each.per == "run" for each in diagnosis.findings):
        yield Picture(chart=lambda: costs_chart(diagnosis))
    yield from _findings(diagnosis, style)
    compiled = about_compiling(diagnosis, style.digits)
    if not diagnosis.findings:
        yield from (Sentence(text=each) for each in compiled)
    if diagnosis.profile is not None and diagnosis.warm:
        yield from (Sentence(text=each) for each in about_bound(diagnosis.profile, diagnosis.wall_ns))
    yield from (Sentence(text=str(each)) for each in diagnosis.notes if each.kind in ABOUT_HOST)
    unclaimed = compiled if diagnosis.findings and not any(each.compiles for each in diagnosis.findings) else []
    notes = (str(each) for each in diagnosis.notes if each.kind not in (*_IN_HEADLINE, *_FIRST, *ABOUT_HOST))
    yield from notes_folded((*about_runs(diagnosis), *unclaimed, *notes))
    if explain:
        yield from (Sentence(text=each, faint=True) for each in about_rules(_explained(diagnosis)))


def _findings(diagnosis: Diagnosis, style: Style) -> Iterator[Block]:
    """List what was found. The first with its cause and remedy, and the costs of some others, are seen at once."""
    shown, found = diagnosis.findings[: style.rows], len(diagnosis.findings)
    if not shown:
        return
    rows = tuple(_entry(each, diagnosis, style.digits) for each in shown)
    more = f"{units.count(found - len(shown), 'more finding')}: see to_frame()."
    whole: tuple[Block, ...] = (
        Entries(rows=rows),
        *([Sentence(text=more, faint=True)] if found > len(shown) else []),
    )
    causes = [str(each) for each in shown[0].evidence if each.kind in _CAUSES]
    first = (*_place(shown[0]), *causes[:1], *about_verified(shown[0].verified, style.digits, shown[0].rule))
    few = len(shown) if found <= _FEW_FINDINGS + 1 else len(shown[:_FEW_FINDINGS])
    others = [
        row._replace(remark=each.line or row.remark, details=(), advice="", code=())
        for row, each in zip(rows[1:few], shown[1:few], strict=True)
    ]
    code = rows[0].code if len(rows[0].code) <= _FEW_LINES else ()
    part = Entries(rows=(rows[0]._replace(details=first, code=code), *others), major=1)
    what = "Evidence and remedies" if code == rows[0].code else f"{len(rows[0].code)} lines of code, all evidence"
    title = f"{what} of {units.count(found, 'finding')}"
    yield Excerpt(title=title, part=(part, *and_more(found - few, "finding")), whole=whole)


def headline(diagnosis: Diagnosis, digits: int) -> str:
    """Name the first finding with its line, and say how many there are."""
    findings = diagnosis.findings
    if diagnosis.error is not None and not diagnosis.runs:
        place = next((f" at {each.line}" for each in findings if each.line), "")
        earlier = any(each.kind == "doctor.error_earlier" for each in diagnosis.notes)
        whose = ", of an earlier cell: the last one raised no error" if earlier else ""
        if not findings:
            return f"{diagnosis.error}: not explained{whose}."
        behind = [str(each.facts["error"]) for each in findings[0].evidence if each.kind == "doctor.error_behind"]
        led_to = f", behind the {diagnosis.error}" if behind else ""  # which has a line of its own
        return f"{(*behind, diagnosis.error)[0]}{place}{led_to}{whose}."
    if (why := _why_nothing(diagnosis)) is not None:
        return why
    partly = is_incomplete(diagnosis)
    known = diagnosis.wall_ns is not None and not partly
    lasts = "a run takes" if len(diagnosis.runs) > 1 else "the run took"
    run = f"; {lasts} {units.time(diagnosis.wall_ns or 0, digits)}" if known else ""
    if findings:
        where = ", in what ran before the interrupt" if partly else ""
        first, of_run = _first(diagnosis, digits, known)
        count = units.count(len(findings), "finding")
        return f"{first}. {count}{_in_vain(findings)}{where}{'' if of_run else run}."
    if partly and diagnosis.looked:
        return "The code was interrupted before a run ended: no rule can tell what a whole one costs."
    if not diagnosis.looked:
        return f"No rule was applied{run}."
    return f"{found_nothing(diagnosis)}{run}{_bound(diagnosis)}."


def _why_nothing(diagnosis: Diagnosis) -> str | None:
    """Word why nothing ran that a rule could judge; ``None`` if something did."""
    uncalled = [str(each) for each in diagnosis.notes if each.kind in _UNCALLED]
    return uncalled[0] if uncalled and not diagnosis.findings else None


def _first(diagnosis: Diagnosis, digits: int, known: bool) -> tuple[str, bool]:
    """Return rule, line and cost of the first finding in words, and whether these include the time per run."""
    first, wall_ns = diagnosis.findings[0], diagnosis.wall_ns
    name = first.rule if first.line is None else f"{first.rule} at {first.line}"
    if not known or not wall_ns or first.cost_ns is None or first.per != "run":
        return ": ".join(filter(None, (name, cost(first, diagnosis, digits)))), False
    share = units.share(min(first.cost_ns, wall_ns), wall_ns)
    whose = "a run of" if len(diagnosis.runs) > 1 else "the run of"
    return f"{name}: {_ABOUT.get(first.basis or '', '')}{share} of {whose} {units.time(wall_ns, digits)}", True


def _in_vain(findings: tuple[RuleFinding, ...]) -> str:
    """Word how many remedies were tried and did not survive."""
    vain = sum(is_in_vain(each, each.verified) for each in findings)
    whose = "" if vain == len(findings) else f"{vain} of them "
    return f", {whose}without a proved remedy" if vain else ""


def _bound(diagnosis: Diagnosis) -> str:
    """Word that the device is the limit, and how close its operations come to the roof, if both are known."""
    profile = diagnosis.profile
    bound = None if profile is None else bound_of(profile)
    if profile is None or bound is None or bound.limit != "device":
        return ""
    on_roof = list(placed(profile))
    time_ns = sum(each.operation.time_ns for each in on_roof)
    efficiency = sum(each.roofline_efficiency * each.operation.time_ns for each in on_roof) / max(time_ns, 1)
    if time_ns < _MOST_OF_IT * profile.device_ns or not 0 < efficiency <= 1:
        return "; device-bound"
    return f"; device-bound, at {units.share(efficiency, 1)} of the roof"


def _advice(finding: RuleFinding) -> str:
    """Return the remedy, or that none is known; of one that was tried in vain, the evidence says so."""
    if finding.remedy is not None:
        return str(finding.remedy)
    tried = finding.verified is not None and finding.verified.remedy is not None
    return "" if tried or finding.rule == "error" else NO_REMEDY


def _entry(finding: RuleFinding, diagnosis: Diagnosis, digits: int) -> Entry:
    return Entry(
        name=finding.rule,
        cells=(cost(finding, diagnosis, digits),),
        remark=str(finding.found),
        details=(
            *_place(finding),
            *map(str, finding.evidence),
            *about_verified(finding.verified, digits, finding.rule),
        ),
        advice=_advice(finding),
        code=() if finding.code is None else tuple(finding.code.splitlines()),
    )


def cost(finding: RuleFinding, diagnosis: Diagnosis, digits: int = 3) -> str:
    """Word what a finding costs, and how that is known; an explained error costs nothing."""
    about = _ABOUT.get(finding.basis or "", "")
    if finding.cost_bytes is not None and (finding.cost_ns is None or finding.per != "run"):
        return f"{about}{units.size(finding.cost_bytes)}"
    if finding.cost_ns is None:
        return _WITHOUT_COST.get(finding.found.kind, "" if finding.rule == "error" else "cost unknown")
    time = units.time(finding.cost_ns, digits)
    if finding.per == "first run":
        return f"{about}{time} {'once' if len(diagnosis.runs) > 1 else 'in the only run'}"  # others may compile again
    wall_ns = diagnosis.wall_ns
    share = f", {units.share(min(finding.cost_ns, wall_ns), wall_ns)} of it" if wall_ns else ""
    return f"{about}{time} per run{share}{_compiling(finding, diagnosis) if share else ''}"


def _compiling(finding: RuleFinding, diagnosis: Diagnosis) -> str:
    """Say that a run compiles or traces, where the rule has not counted the time of that, but the share has."""
    runs = diagnosis.warm or tuple(filter(None, [diagnosis.first]))
    if finding.rule not in {each.name for each in HOST_RULES} or not all(each.compilations for each in runs):
        return ""
    compiles = any(each.compiled for run in runs for each in run.compilations)
    return f" with its {'compiling' if compiles else 'tracing'}"


def about_verified(verified: Verified | None, digits: int = 3, rule: str = "") -> list[str]:
    """Word what the remedy gained when it was tried."""
    if verified is None:
        return []
    sentences = []
    times = ""
    if verified.before_ns is not None and verified.after_ns is not None:
        times = f"{units.time(verified.after_ns, digits)} instead of {units.time(verified.before_ns, digits)}"
    if verified.speedup is not None and verified.low is not None and verified.high is not None:
        if times and not verified.low <= (verified.before_ns or 0) / (verified.after_ns or 1) <= verified.high:
            times += " in the median; the factor is that of runs next to each other, not of these medians"
        faster = how_fast(verified.speedup, verified.low, verified.high)
        compiles = "compiles " if any(each.kind == "doctor.tried_compile_time" for each in verified.notes) else ""
        tried = f"Tried: {compiles}{faster}{times and f', {times}'}."
        sentences.append(_ceiling(faster, times) if verified.ceiling else tried)
    elif times and not verified.ceiling:
        sentences.append(f"Tried: {times}.")
    if verified.before_bytes is not None and verified.after_bytes is not None:
        needed, needs = units.size(verified.before_bytes), units.size(verified.after_bytes)
        sentences.append(f"Tried: needs {needs} instead of {needed}.")
    told = any(each.kind in _HOW_OUTPUTS_DIFFER for each in verified.notes)
    if verified.outputs_agree is not None and not told:
        sentences.append("The outputs agree." if verified.outputs_agree else "The outputs differ.")
    if verified.survives is False:
        tried = "." if verified.remedy is None else f": {verified.remedy}"
        sentences.append(f"{_outcome(verified, rule)}{tried}")
    notes = map(str, verified.notes)
    return [*sentences, *(notes if verified.after_bytes is None else map(beside_memory, notes))]


def _outcome(verified: Verified, rule: str) -> str:
    """Word why a remedy does not survive, without the full stop."""
    if verified.failed and rule == "error":
        return "With this remedy alone, the code still fails"
    if verified.failed:
        return "Not recommended here, because the code fails with it"
    if any(each.kind == "doctor.outputs_may_differ" for each in verified.notes):
        return "Not recommended here, because it may change the result"
    if verified.outputs_agree is False:
        return "Not recommended here, because it changes the result"
    if rule == "error":
        return "The remedy fixes the error, but is not faster here than the call without jit"
    if verified.before_bytes is None and verified.high is not None and verified.high > 1 + LEAST_DIFFERENCE:
        return "Not proved here, because the interval includes no gain"
    return "Not recommended here, because it does not help"


def _ceiling(faster: str, times: str) -> str:
    return (
        "With the first batch of each shape again and again, as if loading took no time, a run is "
        f"{faster}{times and f', {times}'}. This is a ceiling, and no gain."
    )


def _place(finding: RuleFinding) -> tuple[str, ...]:
    source = "" if finding.source is None else f": {finding.source}"
    return () if finding.line is None else (f"{finding.line}{source}",)


def _explained(diagnosis: Diagnosis) -> set[str]:
    """Return the rules that found something, those of ``--only``, or without a finding all of them."""
    found = {each.rule for each in diagnosis.findings}
    blind = [str(each.facts["rules"]).split(", ") for each in diagnosis.notes if each.kind == "doctor.not_looked"]
    asked = {*diagnosis.looked, *(name for names in blind for name in names)}
    return found if found and asked >= {each.name for each in RULES} else found | asked


def about_rules(names: Collection[str]) -> Iterator[str]:
    """Say how each of some rules decides, and what that is based on."""
    for rule in RULES:
        if rule.name in names:
            yield f"{rule.name}: {rule.decides} Source: {rule.source}"


def brief(diagnosis: Diagnosis) -> Brief:
    """Describe the diagnosis in one row: its code, and how much was found."""
    return Brief(diagnosis.code, diagnosis.wall_ns, units.count(len(diagnosis.findings), "finding"))
