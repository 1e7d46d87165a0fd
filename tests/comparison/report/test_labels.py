"""Sentences tell labels from the text around them, and name the fastest with what is proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.comparison.record.candidate import Candidate, Check
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.sweep import Sweep
from jaxmagic.comparison.report.labels import for_sentences
from jaxmagic.report.to_text import to_text

FAILED = Check(kind="allclose", passed=False, leaf="x", largest_error=9.0, rtol=3e-4, atol=3e-4)
UNCOMPARED = Check(kind="allclose", passed=False, problem="cannot be read")


def line(comparison: Any) -> str:
    return " ".join(to_text(comparison).split())


def noisy(candidate: Candidate, like: Candidate) -> Candidate:
    """Every other round is 30 % slower than that of another candidate, or as much faster."""
    times = [round(each * 1.3 ** (-1) ** number) for number, each in enumerate(like.latency.samples_ns)]
    return replace(candidate, latency=replace(like.latency, samples_ns=tuple(times)))


def test_code_and_words_are_in_quotes_in_every_sentence(named: Any) -> None:
    found = named("x @ x", "it is", "plain")
    base, other, plain = found.candidates
    found = replace(found, candidates=(base, replace(other, check=FAILED), replace(plain, check=FAILED)))
    text = line(found)
    assert "No winner: no output matches that of 'x @ x'." in text
    assert "'it is' does not compute what 'x @ x' does at x: off by up to 9" in text
    assert "plain does not compute what 'x @ x' does at x" in text
    assert "two measurements of 'x @ x' in the same rounds" in text
    assert " x @ x 5.02 ms baseline " in text  # the table has the labels themselves


def test_every_label_is_in_quotes_that_is_no_name() -> None:
    from jaxmagic.records.names import in_sentence

    labels = ["jit", "_f2", "größe", "is", "for", "f(x)", "v1.0", "it's", 'say "x"', "a b"]
    assert [in_sentence(each) for each in labels] == [
        "jit", "_f2", "größe", "'is'", "'for'", "'f(x)'", "'v1.0'", '"it\'s"', "'say \"x\"'", "'a b'"
    ]  # fmt: skip


def test_labels_of_a_sweep_are_in_quotes_as_well(sweep: Sweep) -> None:
    labels = {"numpy": "x @ x", "jit": "jit of f"}
    points = []
    for point in sweep.points:
        compared = point.comparison
        if compared is not None:
            candidates = tuple(replace(each, label=labels[each.label]) for each in compared.candidates)
            compared = replace(compared, candidates=candidates, baseline="x @ x", twice="x @ x")
        failures = tuple(replace(each, label=labels[each.label or ""]) for each in point.failures)
        points.append(replace(point, comparison=compared, failures=failures))
    text = line(replace(sweep, labels=tuple(labels.values()), baseline="x @ x", points=tuple(points)))
    assert text.startswith("'jit of f' overtakes 'x @ x' near n = ")
    assert "'x @ x' and 'jit of f' over n = " in text
    assert "Failed at n=2048: 'x @ x': MemoryError" in text
    assert " n x @ x jit of f 8 " in text


def test_long_labels_that_are_no_names_are_cut_inside_their_quotes(named: Any) -> None:
    found = for_sentences(named("a" * 60, "f(x) " * 20))
    assert list(found) == ["a" * 39 + "…", f"'{('f(x) ' * 20)[:39]}…'"]


def test_the_other_side_of_a_check_has_quotes_also_without_a_candidate(comparison: Comparison) -> None:
    numpy, jit = comparison.candidates
    check = replace(FAILED, like="f(x) grad")
    found = replace(comparison, candidates=(numpy, replace(jit, check=check)))
    assert "jit does not compute what 'f(x) grad' does" in line(found)


def test_a_baseline_that_wins_says_by_how_much_over_the_next_one(named: Any) -> None:
    assert line(named("a", "b")).startswith("a is 1.30x faster (1.30x to 1.30x) than b")
    assert line(named("a", "c", "b")).startswith("a is the fastest, 1.30x faster (1.30x to 1.30x) than c")


def test_a_baseline_of_which_nothing_is_proved_is_not_called_faster(named: Any) -> None:
    found = named("a", "b", "c")
    a, b, c = found.candidates
    assert line(replace(found, candidates=(a, noisy(b, a), c))).startswith("Inconclusive: b may be between")
    assert line(replace(found, candidates=(a, replace(b, latency=a.latency), c))).startswith(
        "Nothing is faster than a"
    )


@pytest.mark.parametrize(
    ("check", "told"), [(FAILED, "the output of c differs"), (UNCOMPARED, "the output of c could not be compared")]
)
def test_every_headline_names_the_candidate_whose_output_is_another(named: Any, check: Check, told: str) -> None:
    found = named("a", "b", "c")
    a, b, c = found.candidates
    third = replace(c, check=check)
    for second, start in (
        (b, "a is 1.30x faster (1.30x to 1.30x) than b; "),
        (noisy(b, a), "Inconclusive: b may be between 1.3"),
        (replace(b, latency=a.latency), "No difference between a and b; "),
    ):
        text = line(replace(found, candidates=(a, second, third)))
        assert text.startswith(start)
        assert f" than a; {told} " in text or f" b; {told} " in text


def test_several_outputs_that_differ_are_named_or_counted(named: Any) -> None:
    for count, told in ((2, "the outputs of c0 and c1 differ"), (4, "the outputs of 4 candidates differ")):
        found = named("a", "b", *(f"c{number}" for number in range(count)))
        a, b, *others = found.candidates
        failed = (replace(each, check=FAILED) for each in others)
        assert f" than b; {told} " in line(replace(found, candidates=(a, b, *failed)))
