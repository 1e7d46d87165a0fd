"""What a sweep says of several points at once holds for each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.comparison.record.candidate import Check
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.sweep import Sweep
from jaxmagic.comparison.report.at_points import about_conditions, about_outputs
from jaxmagic.records.finding import Finding

LOADS = (1.5, 0.8, 1.2)


def changed(sweep: Sweep, change: Any) -> Sweep:
    """The first points of a sweep, whose candidates `change` makes from the number of the point and themselves."""

    def comparison(number: int, found: Comparison) -> Comparison:
        return replace(found, candidates=tuple(change(number, each) for each in found.candidates))

    points = [
        replace(each, comparison=comparison(number, each.comparison))
        for number, each in enumerate(sweep.points[: len(LOADS)])
        if each.comparison is not None
    ]
    return replace(sweep, points=tuple(points), environment=replace(sweep.environment, cpu_count=2))


def with_warnings(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch, found: Mapping[int, tuple[tuple[str, str], ...]]
) -> Sweep:
    """The first points of a sweep, with warnings of some kinds by the number of the point."""
    few = replace(sweep, points=sweep.points[: len(found)])
    by_comparison = {id(each.comparison): number for number, each in enumerate(few.points)}

    def warnings(comparison: Comparison) -> Iterator[Finding]:
        for kind, text in found[by_comparison[id(comparison)]]:
            yield Finding(kind=kind, text=text, remedy="Stop.")

    monkeypatch.setattr(Comparison, "warnings", property(lambda each: tuple(warnings(each))))
    return few


def test_a_load_that_differs_is_a_range(sweep: Sweep) -> None:
    def loaded(number: int, candidate: Any) -> Any:
        return replace(candidate, conditions=replace(candidate.conditions, other_load=LOADS[number]))

    found = changed(sweep, loaded)
    cpus = {each.comparison.environment.cpu_count for each in found.points if each.comparison}
    (said,) = about_conditions(found, compared=False)
    assert said.startswith(f"At all 3 points: Other processes kept 0.80 to 1.5 of {cpus.pop()} CPUs busy.")
    assert about_conditions(found, compared=True) == []


def test_findings_of_several_candidates_at_one_point_are_not_several_points(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = (
        ("folded", "The jitted call of numpy takes no array."),
        ("folded", "The jitted call of jit takes no array."),
    )
    found = with_warnings(sweep, monkeypatch, {0: both, 1: both[:1]})
    assert about_conditions(found, compared=False) == [
        "At all 2 points: The jitted call of numpy takes no array. Stop.",
        "At n=8: The jitted call of jit takes no array. Stop.",
    ]


def test_kinds_are_told_apart_and_numbers_are_ranges(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_warnings(
        sweep,
        monkeypatch,
        {
            0: (("long loop", "jit beside numpy: up to 5 % of difference."), ("recompiled", "1 program compiled.")),
            1: (("long loop", "jit beside numpy: up to 9 % of difference."), ("recompiled", "3 programs compiled.")),
            2: (("recompiled", "2 programs compiled."),),
        },
    )
    assert about_conditions(found, compared=False) == [
        "At n=8, and at 1 more point: jit beside numpy: up to 5 to 9 % of difference. Stop.",
        "At n=8: 1 program compiled. Stop.",
        "At n=16, and at 1 more point: 2 to 3 programs compiled. Stop.",
    ]


def test_many_findings_of_a_kind_are_counted(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_warnings(sweep, monkeypatch, {at: (("recompiled", f"f32[{at}] compiled."),) for at in range(6)})
    said = about_conditions(found, compared=False)
    assert len(said) == 3
    assert said[-1] == "At n=32: f32[2] compiled. Stop. Something else of this kind was found at 3 more points."


@pytest.mark.parametrize(("given", "how"), [(False, "by no larger share "), (True, "by no more ")])
def test_the_largest_difference_is_told_with_its_point(sweep: Sweep, given: bool, how: str) -> None:
    errors = (0.01, 0.04, 0.02)

    def unlike(number: int, candidate: Any) -> Any:
        if candidate.label == "numpy":
            return candidate
        error = errors[number]
        check = Check(kind="allclose", passed=False, like="numpy", leaf="x", largest_error=error, rtol=1e-4,
                      atol=1e-4, given=given, largest_share=None if given else error)  # fmt: skip
        return replace(candidate, check=check)

    (said,) = about_outputs(changed(sweep, unlike))
    assert said.startswith(
        f"At n=16, and {how}at 2 more points: jit does not compute what numpy does at x: off by up"
    )
    assert ("0.04" in said, "0.02" in said) == (True, False)
    assert re.findall(r"--check (\S+%)", said) == ([] if given else ["5%"])


def test_the_option_for_one_point_allows_all(sweep: Sweep) -> None:
    def unlike(number: int, candidate: Any) -> Any:
        wrong = Check(kind="allclose", passed=number == 0, like="numpy", leaf="x", largest_error=0.01 * number,
                      rtol=1e-4, atol=1e-4, largest_share=(0.07, 0.01, 0.02)[number])  # fmt: skip
        return candidate if candidate.label == "numpy" else replace(candidate, check=wrong)

    (said,) = about_outputs(changed(sweep, unlike))
    assert "--check 8%" in said


def test_other_problems_are_told_for_their_points(sweep: Sweep) -> None:
    problems = (
        "different dtype: f8, not f4",
        "different dtype: f8, not f4",
        "NaN or infinite where the other is not",
    )

    def unlike(number: int, candidate: Any) -> Any:
        wrong = Check(kind="allclose", passed=False, like="numpy", leaf="x", problem=problems[number])
        return candidate if candidate.label == "numpy" else replace(candidate, check=wrong)

    assert about_outputs(changed(sweep, unlike)) == [
        f"At n=8, and at 1 more point: jit does not compute what numpy does at x: {problems[0]}.",
        f"At n=32: jit does not compute what numpy does at x: {problems[2]}.",
    ]
