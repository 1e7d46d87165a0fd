"""A diagnosis in words."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from jaxmagic import units
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.analysis.failed_trial import revised
from jaxmagic.doctor.capture.host_lines import INTERVAL_NS
from jaxmagic.doctor.record.finding import Verified
from jaxmagic.doctor.report import diagnosis as module
from jaxmagic.doctor.report import runs
from jaxmagic.doctor.report.diagnosis import NO_REMEDY, about_verified, cost, headline
from jaxmagic.doctor.rules.all import RULES
from jaxmagic.doctor.rules.host import loading
from jaxmagic.doctor.rules.rule import LEAST_SHARE
from jaxmagic.records.note import note
from jaxmagic.report.blocks import Excerpt, Sentence
from jaxmagic.report.style import AT_A_GLANCE, Style
from jaxmagic.report.to_html import to_html
from jaxmagic.report.to_text import to_text

WIDE = Style(width=4000, picture=False)

#: The names of all rules.
ALL = tuple(each.name for each in RULES)


def test_the_headline_gives_the_line_of_the_error_that_is_explained(diagnosis: Any, rule_finding: Any) -> None:
    behind = note("doctor.error_behind", error="TypeError", behind="KeyError")
    record = diagnosis(findings=(rule_finding(evidence=(behind,)),), first=None, warm=(), error="KeyError")
    assert headline(record, 3) == "TypeError at cell 3:2, behind the KeyError."
    alone = replace(record, findings=(rule_finding(evidence=()),))
    assert headline(alone, 3) == "KeyError at cell 3:2."


def test_the_headline_names_the_costliest_finding_and_says_how_many_there_are(
    diagnosis: Any, rule_finding: Any
) -> None:
    record, name = diagnosis(), "recompile at cell 3:2"
    assert headline(record, 3) == f"{name}: 75 % of a run of 40.0 ms. 2 findings."
    assert headline(replace(record, warm=()), 3).startswith(f"{name}: 16 % of the run of 182 ms. ")
    for changes, words in (
        ({"basis": "at least"}, f"{name}: ≥ 75 % of a run of 40.0 ms. 1 finding."),
        ({"cost_ns": 50e6}, f"{name}: 100 % of a run of 40.0 ms. 1 finding."),
        ({"cost_ns": 3e9, "per": "first run"}, f"{name}: 3.00 s once. 1 finding; a run takes 40.0 ms."),
        ({"cost_ns": None, "cost_bytes": 2**30}, f"{name}: 1.00 GiB. 1 finding; a run takes 40.0 ms."),
        ({"cost_ns": None, "line": None}, "recompile: cost unknown. 1 finding; a run takes 40.0 ms."),
    ):
        assert headline(diagnosis(findings=(rule_finding(**changes),)), 3) == words


def test_the_headline_without_findings_says_that_none_was_found(diagnosis: Any) -> None:
    assert headline(diagnosis(findings=()), 3) == "No rule found a problem; a run takes 40.0 ms."
    assert headline(diagnosis(findings=(), looked=(), first=None, warm=()), 3) == "No rule was applied."


def test_the_time_of_a_run_is_that_of_the_shortest(diagnosis: Any, timing: Any, compilation: Any) -> None:
    """A single disturbed run hides no finding."""
    quick = tuple(timing(dispatch_ns=each * 10**6, wait_ns=0) for each in (22, 9, 11))
    compiled = tuple(replace(each, compilations=(compilation(),)) for each in quick)
    for warm, wall_ms in ((quick, 9), ((*compiled[1:], quick[0]), 22), (compiled, 11), (quick[:1], 22)):
        assert replace(diagnosis(), warm=warm).wall_ns == wall_ms * 10**6


def test_that_other_processes_were_busy_is_said_once(diagnosis: Any, timing: Any, environment: Any) -> None:
    busy = timing(dispatch_ns=10**9, wait_ns=0, other_load=1.5)
    found = replace(diagnosis(), warm=(busy, busy), environment=replace(environment, cpu_count=2))
    assert found.other_load == 1.5
    sentence = "Other processes kept 1.5 of 2 CPUs busy. Stop them, or measure when the machine is quiet."
    assert to_text(found, WIDE).count(sentence) == 1
    assert "Other processes" in to_text(found, AT_A_GLANCE)
    assert len(to_text(found, AT_A_GLANCE).splitlines()) <= 14
    assert diagnosis().other_load is None
    assert "Other processes" not in to_text(diagnosis(), WIDE)


@pytest.mark.parametrize("findings", [True, False])
def test_a_diagnosis_without_jit_says_so_before_what_was_found(diagnosis: Any, findings: bool) -> None:
    record = diagnosis() if findings else diagnosis(findings=())
    disabled = note("doctor.jit_disabled", inside=0)
    text = to_text(replace(record, notes=(disabled,)), WIDE)
    first, *rest = text.splitlines()
    assert ("but jit was disabled;" in first) is not findings
    assert " ".join(map(str.strip, rest)).startswith(str(disabled))
    assert text.count("jit was disabled (") == 1


@pytest.mark.parametrize("why", [note("timing.not_called", function="f"), note("timing.quoted_call")])
def test_a_diagnosis_of_what_was_not_called_says_so_and_nothing_else(diagnosis: Any, why: Any) -> None:
    uncalled = replace(diagnosis(findings=()), notes=(note("doctor.not_looked", rules="sort", need="x"), why))
    assert to_text(uncalled, WIDE) == str(why)
    both = to_text(diagnosis(notes=(why,)), WIDE)
    assert both.startswith("recompile at cell 3:2: ")
    assert str(why) in both


def test_a_rule_that_failed_is_in_the_headline_of_a_diagnosis_without_findings(diagnosis: Any) -> None:
    failed = note("doctor.rule_failed", rule="recompile", error="IndexError")
    found = replace(diagnosis(findings=()), notes=(failed,))
    assert headline(found, 3) == "No rule found a problem, but 1 rule failed; a run takes 40.0 ms."


def test_code_that_ran_once_is_in_the_headline_of_a_diagnosis_without_findings(diagnosis: Any) -> None:
    found = replace(diagnosis(findings=()), notes=(note("doctor.once_rebound", names="x"),))
    assert headline(found, 3).startswith("No rule found a problem, but the code ran only once; ")


def test_rules_that_need_further_runs_are_in_the_headline_of_code_that_ran_once(diagnosis: Any) -> None:
    once = note("doctor.once_changed", names="svi")
    others = [
        note("doctor.not_looked", rules="not-jitted, sort", need="profile"),
        note("doctor.not_looked", rules="host-wait", need="waits"),
    ]
    found = replace(diagnosis(findings=()), looked=("recompile", "donation"), notes=(once, *others))
    assert headline(found, 3).startswith("2 of 5 rules found no problem, and the others need further runs; ")
    assert headline(replace(found, notes=tuple(others)), 3).startswith("No rule found a problem; ")


def test_where_the_host_is_follows_on_how_long_the_device_is_idle(diagnosis: Any) -> None:
    at = note("doctor.host_lines", lines="96 % at cell 1:5 in gzip.compress")
    found = diagnosis(findings=(), notes=(at,))
    assert headline(found, 3) == "No rule found a problem, but the host keeps the device idle; a run takes 40.0 ms."
    (line,) = [number for number, each in enumerate(to_text(found, WIDE).splitlines()) if each.startswith(str(at))]
    assert to_text(found, WIDE).count(str(at)) == 1
    assert line < 4


def test_what_the_code_makes_and_compiles_in_each_run_is_in_the_headline_without_findings(diagnosis: Any) -> None:
    made = note("doctor.made_by_the_code", functions="f", count=1, compile_ns=30_000_000)
    assert headline(diagnosis(findings=(), notes=(made,)), 3) == (
        "No rule found a problem, but each run compiles what the code makes, for 30.0 ms; a run takes 40.0 ms."
    )


def test_rules_that_could_not_judge_are_in_the_headline_of_a_diagnosis_without_findings(diagnosis: Any) -> None:
    told = note("doctor.host_unjudged", rules="host-wait and transfer", count=2, times=3.42)
    assert headline(diagnosis(findings=(), notes=(told,)), 3) == (
        "No rule found a problem, but host-wait and transfer could not judge: under the profiler, a run took 3.4 "
        "times as long; a run takes 40.0 ms."
    )
    assert headline(diagnosis(notes=(told,)), 3) == "recompile at cell 3:2: 75 % of a run of 40.0 ms. 2 findings."
    assert str(told).startswith(
        "host-wait and transfer could not judge: the run under the profiler took 3.4 times as "
    )


@pytest.mark.parametrize(
    ("slower_ns", "why", "explained"),
    [
        (0, "its samples are too few", "show it, and fewer than 10 may be chance."),
        (12 * 10**6, "the run with samples of the host was slower", "took 12.0 ms longer than another, which may be"),
    ],
)
def test_loading_that_could_not_be_judged_is_in_the_headline(
    diagnosis: Any, slower_ns: int, why: str, explained: str
) -> None:
    told = note("doctor.input_unjudged", samples=8, slower_ns=slower_ns)
    assert headline(diagnosis(findings=(), notes=(told,)), 3) == (
        f"No rule found a problem, but input-bound could not judge: {why}; a run takes 40.0 ms."
    )
    assert "whether loading of data keeps the device waiting: 8 samples" in str(told)
    assert explained in str(told)


def test_an_interrupt_is_in_the_headline(diagnosis: Any) -> None:
    later, first = (note("doctor.interrupted", complete=complete) for complete in (True, False))
    assert headline(diagnosis(findings=(), notes=(later,)), 3).startswith(
        "No rule found a problem, but the last run was interrupted; "
    )
    interrupted = "recompile at cell 3:2: 30.0 ms per run, 75 % of it. 2 findings, in what ran before the interrupt."
    assert headline(diagnosis(notes=(first,)), 3) == interrupted


def test_a_diagnosis_without_findings_says_what_no_rule_reports(
    diagnosis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "LEAST_IDLE", 0.07)
    told = "No rule reports lost time below 2 % of a run, or 7 % of its time without compiling where the "
    told += "host keeps the device idle."
    looked = tuple(each.name for each in RULES)

    def text(**changes: Any) -> str:
        return " ".join(to_text(diagnosis(**changes), WIDE).split())

    assert f"{len(looked)} rules were applied. {told}" in text(findings=(), looked=looked)
    assert told not in text(findings=(), looked=looked[1:])
    assert told not in text(looked=looked)


@pytest.mark.parametrize(
    ("wall_ns", "told"), [(10**6, True), (19 * 10**6, True), (199 * 10**6, True), (200 * 10**6, False)]
)
def test_short_runs_have_too_few_samples_for_loading_of_data(
    diagnosis: Any, timing: Any, wall_ns: int, told: bool
) -> None:
    run = timing(dispatch_ns=wall_ns, wait_ns=0)
    looked = tuple(each.name for each in RULES)
    text = " ".join(to_text(diagnosis(findings=(), looked=looked, warm=(run,)), WIDE).split())
    assert ("Loading of data is found if it takes at least about 10.0 ms per run" in text) == told


def test_the_time_of_loading_is_that_of_the_samples_it_needs() -> None:
    assert loading.LEAST_LOADING_NS == loading.LEAST_SAMPLES * INTERVAL_NS


def test_no_rule_says_that_it_reports_less_time_than_that() -> None:
    shares = [float(each) for rule in RULES for each in re.findall(r"([\d.]+) % of the run\b", rule.decides)]
    assert min(shares) == 100 * LEAST_SHARE


def test_the_only_run_is_no_typical_one(diagnosis: Any) -> None:
    assert headline(diagnosis(warm=(), findings=()), 3).startswith("No rule found a problem; the run took ")


@pytest.mark.parametrize(
    ("limit", "placed_ns", "efficiency", "end"),
    [
        ("device", 90, 0.6, "; device-bound, at 60 % of the roof."),
        ("device", 79, 0.6, "; device-bound."),  # too little of the time speaks for all of it
        ("device", 90, 1.2, "; device-bound."),  # above the roof, because of a cache
        ("host", 90, 0.6, "a run takes 40.0 ms."),
    ],
)
def test_beside_nothing_stands_the_limit_and_the_roof_if_that_is_known(
    diagnosis: Any, monkeypatch: pytest.MonkeyPatch, limit: str, placed_ns: int, efficiency: float, end: str
) -> None:
    operation = SimpleNamespace(operation=SimpleNamespace(time_ns=placed_ns), roofline_efficiency=efficiency)
    monkeypatch.setattr(module, "bound_of", lambda profile: SimpleNamespace(limit=limit))
    monkeypatch.setattr(module, "placed", lambda profile: [operation])
    record = diagnosis(findings=(), profile=SimpleNamespace(device_ns=100))
    assert headline(record, 3).endswith(end)


def test_the_headline_of_an_error_names_it_and_its_line(diagnosis: Any, rule_finding: Any) -> None:
    nothing_ran = {"error": "TypeError", "first": None, "observed": None, "warm": ()}
    assert headline(diagnosis(findings=(rule_finding(),), **nothing_ran), 3) == "TypeError at cell 3:2."
    assert headline(diagnosis(findings=(), **nothing_ran), 3) == "TypeError: not explained."


def test_a_cost_of_the_only_run_may_recur(diagnosis: Any, rule_finding: Any) -> None:
    found = rule_finding(cost_ns=3e9, per="first run")
    assert cost(found, diagnosis(warm=(), observed=None)) == "3.00 s in the only run"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cost_ns": 30e6}, "30.0 ms per run, 75 % of it"),
        ({"cost_ns": 30e6, "basis": "estimated"}, "≈ 30.0 ms per run, 75 % of it"),
        ({"cost_ns": 30e6, "basis": "at least"}, "≥ 30.0 ms per run, 75 % of it"),
        ({"cost_ns": 3e9, "per": "first run"}, "3.00 s once"),
        ({"cost_ns": None, "cost_bytes": 2**30}, "1.00 GiB"),
        ({"cost_ns": 30e6, "cost_bytes": 2**30}, "30.0 ms per run, 75 % of it"),
        ({"cost_ns": 3e9, "cost_bytes": 2**30, "per": "first run"}, "1.00 GiB"),
        ({"cost_ns": None}, "cost unknown"),
        ({"cost_ns": None, "rule": "error"}, ""),
        ({"cost_ns": 50e6}, "50.0 ms per run, 100 % of it"),  # more than a run, because of noise
    ],
)
def test_a_cost_says_how_it_is_known(diagnosis: Any, rule_finding: Any, changes: Any, words: str) -> None:
    assert cost(rule_finding(**changes), diagnosis()) == words


@pytest.mark.parametrize(
    ("stage", "rule", "words"),
    [("compilation", "not-jitted", " with its compiling"), ("tracing", "not-jitted", " with its tracing"),
     ("tracing", "sort", "")],
)  # fmt: skip
def test_a_share_of_runs_that_trace_or_compile_says_which(
    diagnosis: Any, rule_finding: Any, timing: Any, compilation: Any, stage: str, rule: str, words: str
) -> None:
    """``jax.eval_shape``, which flax calls in each forward pass, only traces."""
    runs = (timing(compilation(last_stage=stage)),)
    told = cost(rule_finding(cost_ns=1e6, rule=rule), diagnosis(warm=runs))
    assert told.endswith(f"of it{words}")


@pytest.mark.parametrize(
    ("verified", "sentences", "survives"),
    [
        (None, [], None),
        (
            Verified(before_ns=4.0, after_ns=1.0, speedup=4.0, low=3.5, high=4.5, outputs_agree=True),
            ["Tried: 4.00 times as fast (95 % interval 3.50 to 4.50), 1 ns instead of 4 ns.", "The outputs agree."],
            True,
        ),
        (
            Verified(before_ns=4.0, after_ns=4.0, speedup=1.0, low=0.9, high=1.1, outputs_agree=True),
            [
                "Tried: between 1.11x slower and 1.10x faster (95 % interval), 4 ns instead of 4 ns.",
                "The outputs agree.",
                "Not proved here, because the interval includes no gain.",
            ],
            False,
        ),
        (
            Verified(before_ns=4.0, after_ns=1.0, speedup=4.0, low=3.5, high=4.5, outputs_agree=False),
            [
                "Tried: 4.00 times as fast (95 % interval 3.50 to 4.50), 1 ns instead of 4 ns.",
                "The outputs differ.",
                "Not recommended here, because it changes the result.",
            ],
            False,
        ),
        (
            Verified(before_ns=4.0, after_ns=5.0, speedup=0.8, low=0.7, high=0.9, remedy=note("doctor.cache_on")),
            [
                "Tried: 1.25x slower (95 % interval 1.11x to 1.43x), 5 ns instead of 4 ns.",
                f"Not recommended here, because it does not help: {note('doctor.cache_on')}",
            ],
            False,
        ),
        (
            Verified(notes=(note("doctor.not_tried_failed", error="ValueError"),)),
            [
                "Not recommended here, because the code fails with it.",
                "Tried the recommended change, which failed: ValueError.",
            ],
            False,
        ),
        (
            Verified(before_bytes=2**20, after_bytes=2**19),
            ["Tried: needs 512 KiB instead of 1.00 MiB."],
            True,
        ),
        (
            Verified(
                before_ns=4.0, after_ns=5.0, speedup=0.8, low=0.7, high=0.9, before_bytes=2**20, after_bytes=2**19
            ),
            [
                "Tried: 1.25x slower (95 % interval 1.11x to 1.43x), 5 ns instead of 4 ns.",
                "Tried: needs 512 KiB instead of 1.00 MiB.",
            ],
            True,
        ),
        (
            Verified(before_ns=10.0, after_ns=9.0, speedup=0.9, low=0.8, high=0.95),
            [
                "Tried: 1.11x slower (95 % interval 1.05x to 1.25x), 9 ns instead of 10 ns in the median; "
                "the factor is that of runs next to each other, not of these medians.",
                "Not recommended here, because it does not help.",
            ],
            False,
        ),
        (Verified(before_ns=4.0, after_ns=1.0), ["Tried: 1 ns instead of 4 ns."], None),
        (
            Verified(before_bytes=2**20, after_bytes=2**19, notes=(note("doctor.not_tried_interrupt"),)),
            ["Tried: needs 512 KiB instead of 1.00 MiB.", "Its time was not tried: interrupted."],
            True,
        ),
        (Verified(notes=(note("doctor.cache_off"),)), ["JAX's persistent compilation cache is off."], None),
    ],
)
def test_a_remedy_that_was_tried_is_told_with_its_interval(
    verified: Verified | None, sentences: list[str], survives: bool | None
) -> None:
    assert about_verified(verified) == sentences
    assert verified is None or verified.survives is survives


def test_a_gain_in_compile_time_is_not_told_as_one_in_run_time() -> None:
    gain = Verified(before_ns=4.0, after_ns=1.0, speedup=4.0, low=3.0, high=5.0)
    compiled = replace(gain, notes=(note("doctor.tried_compile_time"),))
    assert about_verified(gain)[0].startswith("Tried: 4.00 times as fast")
    assert about_verified(compiled)[0].startswith("Tried: compiles 4.00 times as fast")


def test_a_remedy_of_an_error_that_is_not_faster_mends_it_all_the_same() -> None:
    slower = Verified(before_ns=1e3, after_ns=2e3, speedup=0.5, low=0.4, high=0.6, outputs_agree=True)
    mends = "The remedy fixes the error, but is not faster here than the call without jit."
    assert about_verified(slower, rule="error")[-1] == mends
    assert (
        about_verified(replace(slower, outputs_agree=False), rule="error")[-1]
        == "Not recommended here, because it changes the result."
    )
    failed = Verified(notes=(note("doctor.not_tried_failed", error="ValueError"),))
    assert about_verified(failed, rule="error")[0] == "With this remedy alone, the code still fails."


def test_the_excerpt_says_the_same_of_a_remedy_of_an_error(diagnosis: Any, rule_finding: Any) -> None:
    slower = Verified(before_ns=1e3, after_ns=2e3, speedup=0.5, low=0.4, high=0.6, outputs_agree=True)
    record = diagnosis(findings=(rule_finding(rule="error", verified=slower),))
    excerpts = [each for each in module.report(record, WIDE, explain=False) if isinstance(each, Excerpt)]
    said = str([each.part for each in excerpts])
    assert "The remedy fixes the error" in said
    assert "because it does not help" not in said


@pytest.mark.parametrize("rule", ALL)
def test_a_finding_of_any_rule_without_a_remedy_says_that_none_is_known(
    rule: str, diagnosis: Any, rule_finding: Any
) -> None:
    remedy = note("doctor.recompile_remedy", remedy="define and jit the function once")
    tried = Verified(before_ns=40e6, after_ns=40e6, speedup=1.0, low=0.9, high=1.1, outputs_agree=True)
    for changes, is_unknown in (
        ({"remedy": None, "verified": None}, True),
        ({"remedy": remedy, "verified": None}, False),
        ({"remedy": None, "verified": replace(tried, remedy=remedy)}, False),
    ):
        found = diagnosis(findings=(rule_finding(rule=rule, code=None, **changes),))
        assert (NO_REMEDY in to_text(found, WIDE)) is is_unknown
        assert (NO_REMEDY in to_html(found, WIDE)) is is_unknown


def test_a_remedy_that_was_tried_in_vain_is_not_advised(diagnosis: Any, rule_finding: Any) -> None:
    slower = Verified(before_ns=4.0, after_ns=5.0, speedup=0.8, low=0.7, high=0.9)
    advised = rule_finding(code="f = jax.jit(g)", verified=None)
    vain = revised(advised, slower)
    assert (vain.remedy, vain.code, str(vain)) == (None, None, str(vain.found))
    assert (vain.verified.remedy, vain.verified.code) == (advised.remedy, advised.code)
    record = diagnosis(findings=(vain,))
    assert list(record.to_frame().remedy.isna()) == [True]
    for report in (to_text(record, WIDE), to_html(record, WIDE)):
        assert "1 finding, without a proved remedy" in report
        assert f"because it does not help: {advised.remedy}" in report
        assert "jax.jit(g)" not in report
        assert f"→ {advised.remedy}" not in report
    both = diagnosis(findings=(advised, vain))
    assert "2 findings, 1 of them without a proved remedy" in to_text(both, WIDE)


def test_beside_nothing_stands_how_long_the_first_run_compiled(
    diagnosis: Any, rule_finding: Any, timing: Any, compilation: Any
) -> None:
    first = timing(*[compilation(compilation_ns=10**8)] * 3)
    each = units.time(sum(each.total_ns for each in first.compilations))
    told = f"The first run took {units.time(first.wall_ns)}, {each} of it to compile 3 programs."
    assert f"{told} Later runs compiled nothing." in to_text(diagnosis(findings=(), first=first), WIDE)
    again = diagnosis(findings=(), first=first, warm=(timing(compilation()),))
    assert f"{told} Later runs compiled 1 program." in to_text(again, WIDE)
    alone = diagnosis(findings=(), first=first, warm=())
    assert f"{told.replace('first run', 'run')}\n" in to_text(alone, WIDE)
    ended = (note("doctor.ended_early"),)
    assert "to compile" not in to_text(diagnosis(findings=(), looked=(), first=first, notes=ended), WIDE)
    assert told in to_text(diagnosis(first=first), WIDE)
    claimed = diagnosis(first=first, findings=(rule_finding(compiles=(0, 1, 2)),))
    assert told not in to_text(claimed, WIDE)
    shape = Cause(kind="shape", reason="argument x has a different shape")
    twice = timing(compilation(), compilation(function="step", cause=shape))
    causes = "step compiled again: print(jaxmagic.last().runs[0]) says why."
    assert causes in " ".join(to_text(diagnosis(findings=(), first=twice), WIDE).split())
    assert "compiled again" not in to_text(diagnosis(findings=(), first=first), WIDE)


def test_a_finding_without_a_cost_begins_beside_its_name(diagnosis: Any, rule_finding: Any) -> None:
    found = rule_finding(rule="error", cost_ns=None, basis=None, verified=None)
    written = to_text(diagnosis(findings=(found,), first=None, warm=(), error="TypeError"), Style(width=80))
    assert written.splitlines()[1:4] == [
        "  error  f compiles 3 times in every run because it is a new function object",
        "         each time.",
        "         cell 3:2: y = jax.jit(lambda x: x + 1)(x)",
    ]


def test_hostile_text_stays_text(diagnosis: Any, rule_finding: Any, hostile: str) -> None:
    finding = rule_finding(line=f"{hostile}:3", source=hostile, code=f"x = 1\n{hostile}")
    record = diagnosis(findings=(finding,), code=hostile)
    assert "<script>window.evil" not in to_html(record)
    assert "\u0000" not in to_text(record)
    assert "\u0000" not in str(record)


def test_more_findings_than_fit_are_counted(diagnosis: Any, rule_finding: Any) -> None:
    record = diagnosis(findings=(rule_finding(code=None, verified=None),) * 12)
    assert "2 more findings: see to_frame()." in str(record)
    assert len(record.to_frame()) == 12


@pytest.mark.parametrize(
    ("count", "seen", "more"), [(4, 4, ""), (5, 5, ""), (6, 4, "… and 2 more findings"), (30, 4, "… and 26 more")]
)
def test_a_glance_counts_the_findings_that_it_leaves_out(
    diagnosis: Any, rule_finding: Any, count: int, seen: int, more: str
) -> None:
    found = diagnosis(findings=(rule_finding(rule="dispatch", evidence=(), line=None, code=None),) * count)
    text = to_text(found, Style(whole=False, lines=24))
    assert (text.count("\n  dispatch "), "more finding" in text) == (seen, bool(more))
    assert more in text


def test_the_history_keeps_it_without_the_profile(diagnosis: Any) -> None:
    from fabricate.profiling import fabricated

    record = diagnosis(profile=fabricated())
    assert record._entries
    assert record._shortened() == replace(record, profile=None)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.82, 0.89, "a run takes about as long, 3.00 µs instead of 2.00 µs."),
        (0.2, 0.3, "a run is 4.00x slower (95 % interval 3.33x to 5.00x), 3.00 µs instead of 2.00 µs."),
        (1.3, 2.0, "a run is 1.60 times as fast"),
        (0.5, 1.5, "a run is between 2.00x slower and 1.50x faster (95 % interval)"),
    ],
)
def test_runs_of_two_programs_are_told_apart_by_more_than_what_their_memory_does(
    low: float, high: float, said: str
) -> None:
    middle = {0.82: 0.85, 0.2: 0.25, 1.3: 1.6, 0.5: 0.9}[low]
    facts = {"speedup": middle, "low": low, "high": high, "before_ns": 2e3, "after_ns": 3e3}
    told = str(note("doctor.programs_ran", **facts, before_runs=9, after_runs=8))
    assert told.startswith("The programs ran as well, 9 and 8 times: with the remedy, ")
    assert said in told


@pytest.mark.parametrize(("rest", "said"), [(1, True), (0, False)])
def test_the_rest_of_a_wait_is_told_only_where_there_is_one(rest: int, said: bool) -> None:
    told = str(note("doctor.host_wait_idle", idle_ns=5_000_000, rest=rest))
    assert told.startswith("After these waits the device is idle for 5.00 ms per run")
    assert ("The rest of the wait" in told) is said


def test_a_part_of_the_waits_that_is_no_work_of_the_device() -> None:
    told = str(note("doctor.host_wait_latency", latency_ns=5_000_000, busy_ns=1_000_000))
    assert told == (
        "These waits take 6.00 ms per run, and the device works for 1.00 ms: at least 5.00 ms of the waits is the "
        "time of starting work and reading results."
    )


def test_a_trial_that_stopped_says_so() -> None:
    told = str(note("doctor.tried_runs", before_runs=1, after_runs=1, stopped=1))
    assert told == "To try it, the code ran once as it is and once with the remedy, not to the end."


def test_compile_time_that_another_finding_has_comes_on_top() -> None:
    elsewhere = note("doctor.counted_elsewhere", rules="recompile", time_ns=9_960_000_000)
    assert str(elsewhere) == ("Another 9.96 s of compile time is counted in the finding recompile, not here.")


@pytest.mark.parametrize(
    ("found", "looked", "blind", "explained"),
    [
        ("sort", ALL, "", "sort"),
        ("", ALL, "", ", ".join(ALL)),
        ("sort", ALL[2:], ", ".join(ALL[:2]), "sort"),  # all of them were asked for
        ("", ALL[2:], ", ".join(ALL[:2]), ", ".join(ALL)),
        ("sort", ("sort", "memory"), "", "sort, memory"),
        ("", ("memory",), "sort, layout", "sort, memory, layout"),
    ],
)
def test_the_rules_that_found_something_or_were_asked_for_are_explained(
    diagnosis: Any, rule_finding: Any, found: str, looked: tuple[str, ...], blind: str, explained: str
) -> None:
    record = diagnosis(
        findings=(rule_finding(rule=found),) if found else (),
        looked=looked,
        notes=(note("doctor.not_looked", rules=blind, need="profile"),) if blind else (),
    )
    said = [each.text for each in module.report(record, WIDE, explain=True) if isinstance(each, Sentence)]
    shown = {each.name for each in RULES if f"{each.name}: {each.decides} Source: {each.source}" in said}
    assert shown == {*explained.split(", ")}
    assert "Source: " not in str([*module.report(record, WIDE, explain=False)])
