"""The history's live view."""

from __future__ import annotations

import base64
import re
from types import SimpleNamespace
from typing import Any

import ipywidgets
import pytest
from fabricate.profiling import fabricated as profile

import jaxmagic
from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.memory_use.live_view import MemoryView
from jaxmagic.overview.charts import last_runs
from jaxmagic.overview.live_view import HistoryView
from jaxmagic.report import panel
from jaxmagic.report.blocks import Headline
from jaxmagic.report.compose import compose
from jaxmagic.report.html_parts import prose
from jaxmagic.report.mimebundle import outputs
from jaxmagic.report.style import AT_A_GLANCE
from jaxmagic.report.to_text import to_text
from jaxmagic.session.history import History


def view_of(*records: Any) -> HistoryView:
    return HistoryView(History.of_records(records))


def shown(screen: Any) -> str:
    return "".join(str(each["data"]["text/html"]) for each in screen.outputs)


def picture(screen: Any) -> str:
    found = re.search(r"base64,([^\"]+)", shown(screen))
    assert found, shown(screen)
    return base64.b64decode(found[1]).decode()


def names(view: HistoryView) -> list[str]:
    return [label for label, _ in view.run.options]


def test_all_timings_are_listed_newest_first(
    timing: Any, compilation: Any, benchmark: Benchmark, comparison: Comparison
) -> None:
    view = view_of(timing(code="first"), benchmark, comparison, timing(compilation(), code="last\n  one"))
    assert [each.split("  ")[1] for each in names(view)][:1] == ["last one"]
    assert len(names(view)) == 5
    assert any(each.endswith("jit (first call)") for each in names(view))
    assert "[3] last one" in picture(view.bars)


def test_the_view_and_the_static_report_show_runs_in_one_order(timing: Any) -> None:
    history = History()
    for code in ("one", "two", "three"):
        history.append(timing(code=code))
    still = [bar.name for bar in last_runs(history).bars]
    assert still == ["[2] three", "[1] two", "[0] one"]
    drawn = picture(HistoryView(history).bars)
    assert sorted(still, key=drawn.index) == still
    _, text = to_text(history).split("Newest first:")
    assert [each[1:2] for each in text.split() if each.startswith("[")] == ["2", "1", "0"]


def test_the_static_picture_says_how_many_runs_it_shows(timing: Any) -> None:
    history = History()
    for number in range(13):
        history.append(timing(code=str(number)))
        assert last_runs(history).x.label == ("time" if number < 12 else "time of the last 12 of 13 runs")


def test_runs_are_chosen_by_code_function_and_order(timing: Any, compilation: Any) -> None:
    runs = [
        timing(code="f(x)"),
        timing(compilation(function="step"), code="step(x)"),
        timing(compilation(function="init"), code="init()"),
    ]
    view = view_of(*runs)
    assert view.function.options == ("all functions", "init", "step")
    view.text.value = "STEP"
    assert [each.split("  ")[1] for each in names(view)] == ["step(x)"]
    view.text.value = ""
    view.function.value = "init"
    assert [each.split("  ")[1] for each in names(view)] == ["init()"]
    assert "of init" in picture(view.bars)
    view.function.value = "all functions"
    view.order.value = "oldest first"
    assert [each.split("  ")[1] for each in names(view)] == ["f(x)", "step(x)", "init()"]
    view.text.value = "nothing"
    assert "there are no runs to show" in shown(view.bars)
    assert names(view) == []


def test_one_stage_in_one_unit(timing: Any, compilation: Any) -> None:
    view = view_of(timing(compilation(), code="f(x)"))
    assert "XLA" in picture(view.bars)
    view.stage.value = "wait"
    assert 'data-button="XLA"' not in picture(view.bars)
    view.unit.value = "s"
    assert "(s)" in picture(view.bars)
    view.unit.value = "share"
    assert "share of the wall time" in picture(view.bars)


def test_a_run_that_is_chosen_shows_what_it_compiled_and_why(timing: Any, compilation: Any) -> None:
    view = view_of(timing(code="f(x)"), timing(compilation(function="step"), code="step(x)"))
    view.run.index = 0
    assert "step" in shown(view.report)
    view.run.index = 1
    assert "Nothing compiled." in shown(view.report)


def test_an_empty_session_says_what_to_run() -> None:
    assert "time something with %jaxtime" in shown(view_of().bars)


def test_explore_is_of_the_session_or_of_a_record(timing: Any, sweep: Any, benchmark: Any) -> None:
    assert isinstance(jaxmagic.explore(), HistoryView)
    assert len(names(jaxmagic.explore(timing(code="f(x)")))) == 1
    assert type(jaxmagic.explore(sweep)).__name__ == "SweepView"
    assert type(jaxmagic.explore(benchmark)).__name__ == "BenchmarkView"


def test_runs_that_are_not_drawn_are_counted(timing: Any) -> None:
    view = view_of(*(timing(code=f"f({number})") for number in range(18)))
    assert view.left_out.value == "15 of 18 runs, newest first. Filter or sort to see others."
    view.text.value = "f(3)"
    assert view.left_out.value == ""


def test_a_menu_without_a_choice_is_not_displayed(
    timing: Any, compilation: Any, executable: Any, sweep: Any, memory_profile: Any
) -> None:
    def menus(view: Any) -> list[str]:
        _, controls, *_ = view.children
        lists = [each for each in controls.children if isinstance(each, ipywidgets.Dropdown)]
        displayed = [each for each in lists if each.layout.display != "none"]
        assert [each.description for each in displayed if len(each.options) < 2] == []
        return [each.description for each in displayed]

    assert menus(view_of(timing(code="f(x)"))) == ["Stage", "Unit", "Sort"]
    assert menus(view_of(timing(compilation(), code="f(x)"))) == ["Function", "Stage", "Unit", "Sort"]
    assert menus(MemoryView(executable())) == ["Colour", "Unit"]
    assert menus(MemoryView(executable(), executable())) == ["Program", "Beside", "Colour", "Unit"]
    assert menus(jaxmagic.explore(sweep)) == ["Point"]
    assert menus(MemoryView(memory_profile().arrays)) == []


def test_the_view_begins_with_the_longest_run_and_ends_with_the_list_of_all_records(
    timing: Any, memory_profile: Any
) -> None:
    slow = timing(code="slow(x)", dispatch_ns=2 * 10**9, wait_ns=0, unreached_ns=None)
    view = view_of(timing(code="f(x)"), slow, memory_profile())
    first, *_, last = view.children
    assert prose("3 records; the longest run took 2.00 s: [1] slow(x)") in shown(first)
    assert re.search(r"Newest first:</span><span [^>]*>  \[2\]", shown(last))
    pictures = [re.findall("<img", shown(each)) for each in view.children if isinstance(each, ipywidgets.Output)]
    assert [len(each) for each in pictures] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "make",
    [
        lambda get: get("benchmark"),
        lambda get: get("comparison"),
        lambda get: get("sweep"),
        lambda get: get("memory_profile")(),
        lambda get: get("executable")(),
        lambda get: get("live_arrays")((4096, ("weights",))),
        lambda get: profile(),
    ],
)
def test_every_view_begins_with_the_first_sentence_of_the_report_and_repeats_all_of_it(
    make: Any, request: pytest.FixtureRequest
) -> None:
    record = make(request.getfixturevalue)
    view = jaxmagic.explore(record)
    first, *_ = view.children
    headline, *_ = compose(record, AT_A_GLANCE)
    assert isinstance(headline, Headline)
    assert prose(headline.text) in shown(first)
    assert "<img" not in shown(first)
    rest = [each for each in view.children[1:] if isinstance(each, ipywidgets.Output)]
    places = [view.place.children[0]] if hasattr(view, "place") else rest
    assert prose(headline.text) not in shown(places[-1])
    assert "<img" in shown(places[-1])


def test_a_record_without_a_view_of_its_own_is_not_hidden(timing: Any) -> None:
    """The view of the session has no report of it until it is chosen."""
    assert jaxmagic.explore().repeats
    assert not jaxmagic.explore(timing(code="f(x)")).repeats
    assert jaxmagic.explore().for_report("above").endswith("-above-hides")
    assert jaxmagic.explore(timing(code="f(x)")).for_report("below").endswith("-below-keeps")


def test_the_report_is_shown_below_the_view_in_an_output_of_its_own(
    timing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    displayed: list[Any] = []
    monkeypatch.setattr(panel, "display", lambda each, **options: displayed.append((each, options)))
    record = timing(code="f(x)")
    view = jaxmagic.explore(record)
    assert displayed == []  # only a view that is shown brings its report along
    view._ipython_display_()
    *before, (report, _) = displayed
    assert [report] == outputs(record, view=view.for_report("above"))
    if not hasattr(ipywidgets.DOMWidget, "_ipython_display_"):  # before ipywidgets 8 it displays the view
        ((bundle, options),) = before
        assert "application/vnd.jupyter.widget-view+json" in bundle
        assert options == {"raw": True}


def test_a_view_in_a_terminal_says_what_shows_the_records_there(monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of()
    monkeypatch.setattr("jaxmagic.report.panel.get_ipython", lambda: SimpleNamespace(kernel=object()))
    assert repr(view) == "A live view, which needs the kernel that made it."
    for shell in (None, SimpleNamespace()):
        monkeypatch.setattr("jaxmagic.report.panel.get_ipython", lambda shell=shell: shell)
        assert "kernel" not in repr(view)
        assert "print(jaxmagic.history())" in repr(view)
