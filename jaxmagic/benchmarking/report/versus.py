"""Writes the comparison of two times in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ... import units
from ...records.finding import Finding, as_ranges
from ...records.names import in_sentence, shortened
from ...report.blocks import Block, Caution, Headline, Sentence
from ...report.style import Style
from ...statistics.estimate import Estimate
from ..record.inputs import InputChange
from ..record.launches import ENOUGH
from ..record.versus import Versus
from .processes import found_of, processes, varying

#: The most characters of a line of code in a sentence.
_LONGEST_CODE = 60

#: The most inputs that are listed.
_MOST_INPUTS = 3

#: What limits the meaning of a ratio: it need not be due to the code.
_ON_OTHER_INPUTS = ", on other inputs"

#: A factor of one, and what rounds to it.
_NO_DIFFERENCE = units.factor(1.0)


def report(versus: Versus, style: Style, explain: bool) -> Iterator[Block]:
    """Report how one time compares with another, and what the verdict rests on."""
    label, baseline = in_sentence(versus.label), in_sentence(versus.baseline)
    yield Headline(text=headline(replace(versus, label=label, baseline=baseline)))
    basis = () if versus.basis is None else about_basis([versus])
    yield from (
        Sentence(text=each)
        for each in (
            *about_inputs([versus]),
            *about_code([versus], "before"),
            *about_load([versus]),
            *basis,
            *about_environments(versus),
        )
    )


def headline(versus: Versus) -> str:
    """Say how one time compares with another, and name both."""
    if versus.label == versus.baseline:
        return f"{versus.label}: {'the baseline' if versus.basis is None else _since(versus)}"
    if versus.verdict in ("faster", "slower"):
        if versus.inputs:
            return f"{versus.label} takes {_as_long(versus)} as {versus.baseline}{_ON_OTHER_INPUTS}"
        return f"{versus.label} is {_times(versus)} than {versus.baseline}"
    return f"{versus.label} compared with {versus.baseline}: {_times(versus)}"


def _since(versus: Versus) -> str:
    if versus.inputs and versus.verdict in ("faster", "slower"):
        return f"{_as_long(versus)} as before{_ON_OTHER_INPUTS}"
    return f"{_times(versus)} than before" if versus.verdict in ("faster", "slower") else _times(versus)


def _as_long(versus: Versus) -> str:
    """Return a ratio of times on different inputs, which is no verdict on the code."""
    ratio = versus.ratio
    assert ratio is not None
    return f"{units.factor(ratio.value)} ({units.factor_range(ratio.low, ratio.high)}) as long"


def about_inputs(verdicts: Sequence[Versus], where: str = "") -> list[str]:
    """Say which inputs of two records differ, as the times may differ because of them."""
    labels: dict[tuple[InputChange, ...], list[str]] = {}
    for each in verdicts:
        if each.inputs:
            labels.setdefault(each.inputs, []).append(in_sentence(each.label))
    sentences = []
    for changes, named in labels.items():
        whose = "" if len(named) == len(verdicts) else f" of {' and '.join(named)}"
        told = [f"{each.path} was {each.before} and is {each.now}" for each in changes[:_MOST_INPUTS]]
        more = len(changes) - len(told)
        others = f"; and {units.count(more, 'more input')}" if more else ""
        sentences.append(f"The inputs{whose} differ{where}: {'; '.join(told)}{others}.")
    if any(each.inputs is None for each in verdicts):
        sentences.append("One of the records does not list its inputs, which may differ.")
    return sentences


def about_code(verdicts: Sequence[Versus], where: str) -> list[str]:
    """Say that the code of two records differs, which may be why their times do."""
    labels: dict[tuple[str, str], list[str]] = {}
    for each in verdicts:
        if each.code is not None:
            labels.setdefault(each.code, []).append(in_sentence(each.label))
    sentences = []
    for (old, new), named in labels.items():
        whose = "" if len(named) == len(verdicts) else f" of {' and '.join(named)}"
        sentences.append(f"The code{whose} differs: {_quoted(old)} {where}, {_quoted(new)} now.")
    return sentences


def _quoted(line: str) -> str:
    return repr(shortened([line], _LONGEST_CODE)[0]) if line else "nothing"


def about_load(verdicts: Sequence[Versus]) -> list[str]:
    """Say that other processes slowed one of two records down, or both; the interval allows for the difference."""
    known = [each.basis for each in verdicts if each.basis is not None]
    old, new = _kept_busy([each.old_load for each in known]), _kept_busy([each.new_load for each in known])
    if old and new:
        return [
            f"Other processes kept {old} while the earlier record was taken, and {new} now: measure both when the "
            "machine is quiet."
        ]
    if old:
        return [
            f"While the earlier record was taken, other processes kept {old}: the code may seem faster now, for "
            "which the interval allows."
        ]
    if new:
        return [
            f"Other processes kept {new}: the code may seem slower now, for which the interval allows. Measure when "
            "the machine is quiet."
        ]
    return []


def _kept_busy(loads: Sequence[str]) -> str:
    """Return how many processors were kept busy beside several candidates or points; empty if beside none."""
    busy = [each for each in loads if each]
    at_times = " at times" if len(busy) < len(loads) else ""
    return f"{' and '.join(as_ranges(busy))} busy{at_times}" if busy else ""


def cautions(warnings: Iterable[Finding], style: Style) -> list[Caution]:
    """Return the warnings of a record, without the load of the machine if a verdict beside the record tells it."""
    return [Caution(text=str(each)) for each in warnings if not (style.compared and each.kind == "load")]


def about_environments(versus: Versus) -> list[str]:
    """Say in what the environments of two records differ that were compared anyway."""
    if not versus.differing:
        return []
    return [f"Compared although the environments differ: {'; '.join(versus.differing)}."]


def about_all_earlier(verdicts: Sequence[Versus], code: str | None, path: str) -> list[str]:
    """Say how a record compares with the one in a file: first in one sentence, then each time if there are several.

    Args:
        verdicts: the comparison of a benchmark, of each candidate that is in both records, or of each at each point.
        code: the code of a benchmark.
        path: the path of the file.
    """
    told = [about_earlier(each, code, path) for each in verdicts]
    if len(told) < 2:
        return told
    counts = Counter(map(_outcome, verdicts))
    found = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    return [f"Compared with {path}: {found}.", *told]


def _outcome(versus: Versus) -> str:
    """Return the verdict on a candidate and the earlier one in a few words, as several are counted."""
    if versus.ratio is None:
        return "with too few rounds"
    if versus.inputs and versus.verdict in ("faster", "slower"):
        return f"{versus.verdict} on other inputs"
    if versus.verdict == "no difference":
        return "with no difference"
    return versus.verdict if versus.verdict in ("faster", "slower") else undecided(versus.ratio)


def about_earlier(versus: Versus, code: str | None, path: str) -> str:
    """Say how a record compares with the one in a file.

    Args:
        versus: the comparison of a benchmark, or of a candidate that is in both records.
        code: the code of a benchmark.
        path: the path of the file.
    """
    name = in_sentence(versus.label) if versus.label == versus.baseline else _named(code)
    ratio = versus.ratio
    if ratio is None:
        return f"{name} has too few rounds to be compared with {path}."
    on = _ON_OTHER_INPUTS if versus.inputs else ""
    if versus.verdict in ("faster", "slower") and on:
        return f"{name} takes {_as_long(versus)} as in {path}{on}."
    if versus.verdict in ("faster", "slower"):
        return f"{name} is {_times(versus)} than in {path}."
    if versus.verdict == "no difference":
        return f"{name} shows {_times(versus)} from {path}{on}."
    return f"{name} may be {span(ratio)} than in {path}{on}: {undecided(ratio)}."


def _named(code: str | None) -> str:
    """Return code of one line, which names a benchmark; other code has no name."""
    lines = (code or "").strip().removesuffix(";").splitlines()
    return shortened(lines, _LONGEST_CODE)[0] if len(lines) == 1 else "The code"


def about_basis(verdicts: Sequence[Versus]) -> list[str]:
    """Say what the verdicts on two records rest on, and the smallest difference that would be found.

    With several candidates, it is about the one that can show only the largest difference.
    """
    known = [(each.basis, each.label == each.baseline) for each in verdicts if each.basis is not None]
    if not known:
        return []
    basis, of_candidates = max(known, key=lambda each: each[0].smallest_ratio or float("inf"))
    counts = {basis.old_processes, basis.new_processes}
    if len(counts) == 1:
        who = f"Each record is from {processes(basis.old_processes)}"
    else:
        earlier, later = processes(basis.old_processes), processes(basis.new_processes)
        who = f"The earlier record is from {earlier} and the later one from {later}"
    sd = units.percent(basis.between_sd)
    noise = {
        "records": varying("their medians", basis.between_sd, basis.within_sd),
        "measured": f"medians vary by {sd} from process to process on this machine (measured)",
        "assumed": f"medians are assumed, not measured, to vary by {sd} from process to process",
    }[basis.source]
    if basis.source != "records" and basis.within_sd > basis.between_sd / 2:
        noise += f", and noise within a process adds {units.percent(basis.within_sd)}"
    found = found_of(basis.smallest_ratio)
    rests_on = f"{who}. {noise[0].upper()}{noise[1:]}. {found[0].upper()}{found[1:]}."
    if min(counts) >= ENOUGH:
        noisy = any(each.verdict == "too noisy to tell" for each in verdicts)
        more = f"More processes show smaller differences: take both with --processes {2 * max(counts)}, for example."
        return [rests_on, more] if noisy else [rests_on]
    how = "Take both with --processes 5 (processes=5)"
    if of_candidates:  # which are measured in one process each, so that their records do not do
        how = (
            "For more certainty, time the old and the new code with %jaxtimeit --processes 5, the first with --save "
            "FILE and the second with --against FILE"
        )
    return [rests_on, f"{how}."]


def verdict(versus: Versus) -> str:
    """Return how a candidate compares with the baseline: ``2.01x faster (1.98x to 2.05x)``."""
    if versus.label == versus.baseline:
        return "baseline"
    return _times(versus)


def _times(versus: Versus) -> str:
    ratio = versus.ratio
    if ratio is None:
        return "too few rounds to tell"
    if versus.verdict == "faster":
        return f"{units.factor(1 / ratio.value)} faster ({units.factor_range(1 / ratio.high, 1 / ratio.low)})"
    if versus.verdict == "slower":
        return f"{units.factor(ratio.value)} slower ({units.factor_range(ratio.low, ratio.high)})"
    if versus.verdict == "no difference":
        return f"no difference of more than {units.percent(max(ratio.high - 1, 1 / ratio.low - 1, 0.001))}"
    return f"{undecided(ratio)} ({span(ratio)})"


def undecided(ratio: Estimate) -> str:
    """Say why there is no verdict: the noise, or a difference that the way of measuring may explain."""
    return "too noisy to tell" if ratio.low <= 1 <= ratio.high else "inconclusive"


def span(ratio: Estimate) -> str:
    """Describe the interval of a ratio of times, whose ends may be no difference as they are rounded."""
    if ratio.high <= 1:
        return f"{_from(1 / ratio.high, 1 / ratio.low)} faster"
    if ratio.low >= 1:
        return f"{_from(ratio.low, ratio.high)} slower"
    faster, slower = units.factor(1 / ratio.low), units.factor(ratio.high)
    if faster == _NO_DIFFERENCE != slower:
        return f"up to {slower} slower"
    if slower == _NO_DIFFERENCE != faster:
        return f"up to {faster} faster"
    return f"between {faster} faster and {slower} slower"


def _from(low: float, high: float) -> str:
    """Describe the interval of a factor above one."""
    if units.factor(low) == _NO_DIFFERENCE:
        return f"up to {units.factor(high)}"
    return units.factor_range(low, high)
