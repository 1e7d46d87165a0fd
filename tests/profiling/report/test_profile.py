"""A profile in text, HTML, frames and as a picture: fabricated, so that every number is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import CALLER, HELPER, MS, OTHER, fabricated, operation, place, use
from pages import to_html
from recordings import trace

import jaxmagic
from jaxmagic.charts.areas import Flame
from jaxmagic.charts.chart_of import chart_of
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.profiling.record.profile import Code, Profile
from jaxmagic.profiling.report import _slowest
from jaxmagic.profiling.report.sentences import about_bound
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.environment import Environment
from jaxmagic.records.note import Note, note
from jaxmagic.report.blocks import Listing, SourceLine
from jaxmagic.report.style import AT_A_GLANCE, DEFAULT, Style
from jaxmagic.report.to_text import to_text

Make = Callable[..., Any]


@pytest.fixture
def profile() -> Profile:
    return fabricated()


TEXT = """\
The costliest line is cell 3:2, with 67 % of the device time.
It is unknown whether the device or the host limits a run: none was timed
  without the profiler.
Device time: 15.0 ms per run, 75 % of the 20.0 ms under the profiler
     time   share  with calls   count  cell 3
                                          1  def helper(x):
  10.0 ms    67 %                   1     2      return jnp.sort(x)
                                          3
                                          4  def f(x):
                      10.0 ms             5      y = helper(x)
 ≈4.00 ms    27 %                   1     6      return y
Without a line: 1.00 ms (7 %): copy.1.
2 operations, top: sort.0 67 %.
  operation  share     time  line      count     mean  category
  sort.0      67 %  10.0 ms  cell 3:2      1  10.0 ms  sort
  fusion      33 %  5.00 ms  cell 3:2      1  5.00 ms  elementwise fusion
The profiler's overhead can exceed the work itself. %jaxprof without --cold, and
  jaxmagic.profile(), time one.
≈: partly the line's share of a fusion of several lines, by their work."""


def test_the_report_is_a_listing_with_the_time_of_a_run(profile: Profile) -> None:
    assert to_text(profile) == TEXT


def test_code_is_cut_with_an_ellipsis_only_where_there_is_no_room(profile: Profile) -> None:
    code = "    return jnp.sort(x) + " + " + ".join(f"argument_{at}" for at in range(11))
    lines = tuple(each.replace("    return jnp.sort(x)", code) for each in profile.codes[0].lines)
    long = replace(profile, codes=(replace(profile.codes[0], lines=lines),))
    assert code in to_text(long, Style(width=240))
    (line,) = [each for each in to_text(long, Style(width=80)).splitlines() if "jnp.sort" in each]
    assert len(line) == 80
    assert line.endswith("…")


def test_a_narrow_terminal_has_room_for_code_and_keeps_the_time_of_its_lines(profile: Profile) -> None:
    narrow, wide = (to_text(profile, Style(width=width)).splitlines() for width in (60, 80))
    assert "  10.0 ms    67 %     2      return jnp.sort(x)" in narrow
    assert "     time   share  cell 3" in narrow
    assert "     time   share  with calls   count  cell 3" in wide


DENSE, EVIL = (
    Frame(
        function=name, file="/opt/lib/python3.12/site-packages/flax/linear.py", line=9, library=f"flax.linen.{name}"
    )
    for name in ("Dense", "<b>evil</b>")
)


def test_a_line_says_which_library_function_it_called(profile: Profile) -> None:
    """After its text, or below it if there is no room."""
    places = (place(20 * MS, CALLER, HELPER, DENSE), place(6 * MS, OTHER, DENSE), place(2 * MS, OTHER))
    found = replace(profile, place_times=places)
    wide = to_text(found, Style(width=120))
    assert "     2      return jnp.sort(x)  [in flax.linen.Dense]\n" in wide
    assert "     6      return y  [in flax.linen.Dense 75 %]\n" in wide
    lines = to_text(found, Style(width=70)).splitlines()
    below = lines[1 + next(number for number, text in enumerate(lines) if "jnp.sort" in text)]
    assert below.strip() == "[in flax.linen.Dense]"
    assert all(len(each) <= 70 for each in lines)
    assert list(found.lines()["inside"])[:2] == ["flax.linen.Dense"] * 2


def test_a_line_of_a_library_says_that_none_of_the_users_is_known(profile: Profile) -> None:
    found = replace(profile, place_times=(place(30 * MS, DENSE),))
    sentence = "Library lines (JAX recorded no line of yours for them): linear.py:9 15.0 ms in flax.linen.Dense."
    assert sentence in " ".join(to_text(found).split())
    assert sentence in unescape(to_html(found))


def test_the_table_of_operations_names_library_functions(profile: Profile) -> None:
    first, second = profile.operation_times
    found = replace(profile, operation_times=(replace(first, inside="flax.linen.Dense"), second))
    assert "cell 3:2  Dense  " in to_text(found)
    assert "flax.<wbr>linen.<wbr>Dense</td>" in to_html(found)
    assert found.operations()["inside"][0] == "flax.linen.Dense"
    assert "inside" not in to_text(profile)
    either = replace(first, inside="flax.linen.Conv or flax.linen.ConvLocal")
    assert "  Conv or C" in to_text(replace(profile, operation_times=(either, second)))
    long = replace(first, inside="flax.linen.MultiHeadDotProductAttention")
    assert ">flax.<wbr>linen.<wbr>MultiHeadDotProductAttention</td>" in to_html(
        replace(profile, operation_times=(long,))
    )


def test_a_short_listing_has_the_slow_lines_and_their_callers_but_no_line_below_one_percent() -> None:
    def line(number: int, share: float, calls: float = 0.0) -> SourceLine:
        cells = ("1 ms" if share else "", "", "9 ms" if calls else "", "")
        return SourceLine(
            number=number, text="f(x)", cells=cells, share=share, inside="", operations="", with_calls=share + calls
        )

    def kept(*lines: SourceLine, most: int = 10) -> list[int | None]:
        empty = (line(number, 0.0) for number in range(90, 99))
        listings = _slowest([Listing(place="cell 1", heads=(), lines=(*lines, *empty))], most)
        return [each.number for listing in listings for each in listing.lines]

    assert kept(line(1, 0.5), line(2, 0.009), line(3, 0.48), line(4, 0.0, 0.3)) == [1, 3, 4]
    assert kept(line(1, 0.94), line(2, 0.008), line(3, 0.02), line(4, 0.0, 0.004)) == [1, 3]
    assert kept(line(1, 0.0, 0.1), line(2, 0.0, 0.3), *(line(at, 0.2) for at in (3, 4, 5))) == [2, 3, 4, 5]
    assert kept(*(line(number, 0.1 + 0.01 * number) for number in range(6))) == [2, 3, 4, 5]
    assert kept(line(1, 0.009), line(2, 0.008)) == [1, 2]
    assert kept(line(1, 0.3), line(2, 0.5), line(3, 0.1), most=1) == [2]
    short = Listing(place="cell 1", heads=(), lines=(line(1, 0.3), line(2, 0.5), line(3, 0.0)))
    assert list(_slowest([short], 2)) == [short]
    assert [each.number for listing in _slowest([short], 1) for each in listing.lines] == [2]


def functions(*times: Sequence[int]) -> Profile:
    """A profile of functions in cells of their own, with the times of their lines."""
    places, codes = [], []
    for at, of_lines in enumerate(times):
        file, cell = f"/tmp/cell_{at}.py", f"cell {at}"
        frames = [Frame(function=f"f{at}", file=file, line=line, cell=cell) for line, _ in enumerate(of_lines, 1)]
        places += [place(time_ns, frame) for time_ns, frame in zip(of_lines, frames, strict=True)]
        codes.append(Code(file=file, cell=cell, first=1, lines=tuple(f"{cell} line {line.line}" for line in frames)))
    return replace(fabricated(), place_times=tuple(places), codes=tuple(codes))


@pytest.mark.parametrize(
    ("times", "shown"),
    [
        ([[20, 19, 0.5], [16, 15, 0.5], [28, 0.5, 0.5]], ["2 line 1", "0 line 1", "0 line 2"]),
        ([[9, 8, 7], [8, 8, 6], [7, 7, 7], [6, 6, 7], [6, 6, 6], [17]], ["5 line 1", "0 line 1"]),
        ([[9, 8, 7], [1, 2, 1], [1, 1, 1]], ["0 line 1", "0 line 2", "0 line 3", "1 line 2"]),
        ([[9], [8], [7], [6], [0.5, 0.5]], ["0 line 1", "1 line 1", "2 line 1"]),
    ],
)
def test_the_short_report_has_the_costliest_lines_of_all_functions(times: Any, shown: list[str]) -> None:
    profile = functions(*[[int(each * MS) for each in some] for some in times])
    text = to_text(profile, AT_A_GLANCE)
    lines = re.findall(r"cell (\d line \d)", text)
    assert {*shown} <= {*lines}
    cost = {f"{at} line {number}": each for at, some in enumerate(times) for number, each in enumerate(some, 1)}
    least = min(cost[each] for each in lines)
    assert all(each <= least for name, each in cost.items() if name not in lines)
    page = to_html(profile, AT_A_GLANCE).partition("<details>")[0]
    assert {*re.findall(r"cell (\d line \d)", page)} == {*lines}


def test_costlier_lines_without_source_and_time_without_a_line_are_told_beside_the_short_listing() -> None:
    lists = functions([9 * MS, 8 * MS, 7 * MS, 6 * MS, 5 * MS, 4 * MS, 3 * MS])
    hidden = Frame(function="g", file="/home/me/gone.py", line=3)
    library = Frame(function="h", file="/usr/lib/python3/site-packages/lib/h.py", line=4)

    def told(mine: int, theirs: int, nowhere: int) -> list[bool]:
        more = (place(mine * MS, hidden), place(theirs * MS, library), place(nowhere * MS, name="copy.1"))
        text = to_text(replace(lists, place_times=(*lists.place_times, *more)), AT_A_GLANCE)
        assert len(text.splitlines()) <= DEFAULT.lines
        return [each in text for each in ("gone.py:3 ", "Library lines", "Without a line: ")]

    assert told(7, 7, 7) == [True, True, True]
    assert told(7, 5, 5) == [True, False, False]
    assert told(5, 5, 7) == [False, False, True]
    assert told(5, 5, 5) == [False, False, False]


def test_the_title_of_the_operations_says_how_many_of_them_are_inside(profile: Profile) -> None:
    layers = tuple(operation(f"tanh.{number}", MS, source="cell 3:6") for number in range(50))
    others = tuple(operation(f"op{number}.1", MS // 2) for number in range(20))
    found = replace(profile, operation_times=(*layers, *others))
    assert f"{50 + DEFAULT.rows - 1} of 70 operations, top: 50× tanh " in to_text(found)
    assert "70 operations, top: 50× tanh " in to_text(found, replace(DEFAULT, rows=30))
    assert " of 70 operations" not in to_text(found, replace(DEFAULT, rows=30))


def test_an_unrolled_program_has_a_row_for_each_line_and_the_frame_has_all(profile: Profile) -> None:
    layers = tuple(operation(f"tanh.{number}", MS, source="cell 3:6") for number in range(50))
    found = replace(profile, operation_times=(*layers, *profile.operation_times))
    text = to_text(found)
    assert "52 operations, top: 50× tanh " in text
    (row,) = [each.split() for each in text.splitlines() if "tanh" in each and "cell 3:6" in each]
    assert row[:2] == ["50×", "tanh"]
    assert row[6:11] == ["cell", "3:6", "50", "500", "µs"]
    meaning = "50×: 50 operations of one kind, size and line, summed; operations() has a row for each."
    assert meaning in " ".join(text.split())
    assert len(found.operations()) == 52
    assert "50×:" not in to_text(profile)


def test_rows_that_are_left_out_are_called_rows_if_some_are_sums(profile: Profile) -> None:
    layers = [operation(f"tanh.{number}", 2 * MS, source=f"cell 3:{number // 2}") for number in range(40)]
    assert "… and 10 more rows: see operations()" in to_text(replace(profile, operation_times=tuple(layers)))
    assert "… and 10 more operations: see" in to_text(replace(profile, operation_times=tuple(layers[::2])))


def test_operations_of_a_line_are_named_once_for_each_kind(profile: Profile) -> None:
    many = replace(
        place(4 * MS, name="copy.1"), operations=("copy.1", "transpose.3", *(f"copy.{at}" for at in range(2, 9)))
    )
    text = " ".join(to_text(replace(profile, place_times=(*profile.place_times[:2], many))).split())
    assert "Without a line: 2.00 ms (13 %): 8× copy, transpose.3." in text


def test_the_name_of_a_library_function_is_no_markup(profile: Profile) -> None:
    first, second = profile.operation_times
    places = (place(20 * MS, CALLER, HELPER, EVIL), place(10 * MS, EVIL))
    operations = (replace(first, inside="flax.<b>evil</b>"), second)
    found = to_html(replace(profile, place_times=places, operation_times=operations))
    assert "in flax.linen.&lt;b&gt;evil" in found
    assert "<b>evil" not in found


@pytest.mark.parametrize(
    ("busy", "changes", "says"),
    [
        (4 * MS, {}, True),
        (38 * MS, {}, False),  # the device limits it
        (4 * MS, {"code": None}, False),  # a recording made elsewhere
        (4 * MS, {"error": "ValueError"}, False),
    ],
)
def test_code_that_the_host_limits_is_for_the_doctor(
    profile: Profile, timing: Make, busy: int, changes: dict[str, Any], says: bool
) -> None:
    timed = replace(profile, unprofiled=timing(dispatch_ns=20 * MS, wait_ns=0), timed_runs=1)
    text = to_text(replace(timed, device_uses=(use("CPU:0", busy),), **changes))
    assert ("%jaxdoctor with the same code looks for the cause, and for a remedy." in text) == says


@pytest.mark.parametrize(
    ("busy", "sentence"),
    [
        (38 * MS, "Device-bound: the device is busy for 95 % of the run."),
        (4 * MS, "Host-bound: the device is busy for 10 % of the run and idle for 18.0 ms."),
        (
            30 * MS,
            "Neither host-bound nor device-bound: the device is busy for 75 % of the run and idle for 5.00 ms.",
        ),
    ],
)
def test_what_a_run_waits_for_is_said_with_its_numbers(
    profile: Profile, timing: Make, busy: int, sentence: str
) -> None:
    timed = replace(profile, unprofiled=timing(dispatch_ns=20 * MS, wait_ns=0), timed_runs=1)
    found = replace(timed, device_uses=(use("CPU:0", busy),))
    assert says(found, sentence)
    assert begins(found, sentence)


def test_the_idle_time_is_that_of_the_run_whose_time_is_given(profile: Profile, timing: Make) -> None:
    timed = replace(profile, unprofiled=timing(dispatch_ns=18 * MS, wait_ns=0), timed_runs=1)
    busy = replace(timed, device_uses=(use("CPU:0", 30 * MS),))
    sentence = "Neither host-bound nor device-bound: the device is busy for 75 % of the run and idle for"
    assert says(busy, f"{sentence} 4.50 ms.")
    assert about_bound(busy, 8 * MS) == [f"{sentence} 2.00 ms."]


def test_a_recorded_run_that_was_shorter_and_busier_is_told_apart(profile: Profile, timing: Make) -> None:
    busy = replace(profile, device_uses=(use("CPU:0", 39 * MS),))
    longer = replace(busy, unprofiled=timing(dispatch_ns=26 * MS, wait_ns=0), timed_runs=3)
    sentence = "Neither host-bound nor device-bound: the device is busy for 75 % of the run and idle for 6.50 ms."
    runs = (
        "That is of the 26.0 ms without the profiler; the recorded run took 20.0 ms, with the device busy for 98 %."
    )
    assert about_bound(longer) == [f"{sentence} {runs}"]
    few = about_bound(replace(longer, timed_runs=2))
    times = "the timed runs took 26.0 ms in the median and the recorded one 20.0 ms"
    assert few == [f"{_UNKNOWN}{times}, so one of them was disturbed."]
    idle = replace(longer, device_uses=(use("CPU:0", 10 * MS),))
    assert "without the profiler" not in about_bound(idle)[0]


@pytest.mark.parametrize(
    ("busy", "callback", "sentence"),
    [
        (
            39 * MS,
            38 * MS,
            "Host-bound: host callbacks take 95 % of the run; other operations of the device take 2 %, and it is "
            "idle for 500 µs.",
        ),
        (
            30 * MS,
            8 * MS,
            "Neither host-bound nor device-bound: host callbacks take 20 % of the run; other operations of the "
            "device take 55 %, and it is idle for 5.00 ms.",
        ),
        (
            39 * MS,
            MS,
            "Device-bound: the device is busy for 95 % of the run and waiting for host callbacks for 2 %.",
        ),
    ],
)
def test_host_callbacks_are_told_apart_from_what_the_device_does(
    profile: Profile, timing: Make, busy: int, callback: int, sentence: str
) -> None:
    timed = replace(profile, unprofiled=timing(dispatch_ns=20 * MS, wait_ns=0), timed_runs=1)
    found = replace(timed, device_uses=(use("CPU:0", busy, callback_ns=callback),))
    assert says(found, sentence)
    assert found.devices()["callback_ns"].tolist() == [callback]


def test_the_share_of_callbacks_in_a_slowed_down_recording_is_said_to_be_of_the_recorded_run(
    profile: Profile, timing: Make
) -> None:
    timed = replace(profile, unprofiled=timing(dispatch_ns=8 * MS, wait_ns=0), timed_runs=1)
    assert says(
        replace(timed, device_uses=(use("CPU:0", 39 * MS, callback_ns=38 * MS),)),
        "Host-bound: host callbacks take 94 % of the run; other operations of the device take 6 %, and it is idle "
        "for 0 ns. Callbacks take that share of the recorded run, which took 20.0 ms; without the profiler, it took "
        "8.00 ms.",
    )


_UNKNOWN = "It is unknown whether the device or the host limits a run: "


@pytest.mark.parametrize(
    ("busy_ms", "wall_ms", "why", "more"),
    [
        (38, None, "none was timed without the profiler.", "The profiler's overhead can exceed the work itself. "
         "%jaxprof without --cold, and jaxmagic.profile(), time one."),
        (38, 60, "the timed run took 60.0 ms and the recorded one 20.0 ms, so one of them was disturbed.",
         "When it was recorded, CPU:0 was busy for 95 "
         "% of the run. The run without the profiler may have been slowed by other processes, or coming first. "
         "Profile it again."),
        (38, 8, "it takes 2.5 times as long under the profiler.", "Under the profiler, short operations look longer "
         "than they are."),
        (24, 14, "the device is busy for 43 % to 86 % of it.", "The device's share is of the 14.0 ms without the "
         "profiler; under it, a run took 20.0 ms."),
    ],
)  # fmt: skip
def test_a_report_begins_with_the_costliest_line_if_the_bound_is_not_known(
    profile: Profile, timing: Make, busy_ms: int, wall_ms: int | None, why: str, more: str
) -> None:
    unprofiled = None if wall_ms is None else timing(dispatch_ns=wall_ms * MS, wait_ns=0)
    found = replace(profile, unprofiled=unprofiled, timed_runs=1, device_uses=(use("CPU:0", busy_ms * MS),))
    share = round(100 * 10 * MS * 2 / found.device_ns)  # by hand: a sort of 10 ms in each of two runs
    assert begins(found, f"The costliest line is cell 3:2, with {share} % of the device time.")
    assert says(found, f"{_UNKNOWN}{why}")
    assert says(found, more)
    assert more[:30] not in to_text(found, AT_A_GLANCE)
    assert begins(replace(found, place_times=()), f"{_UNKNOWN}{why}")


def test_a_cpu_that_other_processes_had_leaves_the_bound_unknown(
    profile: Profile, timing: Make, environment: Environment
) -> None:
    found = replace(
        profile,
        unprofiled=timing(dispatch_ns=20 * MS, wait_ns=0),
        device_uses=(use("CPU:0", 2 * 4 * MS),),
        environment=replace(environment, cpu_count=2),
        other_load=1.5,
    )
    assert says(found, f"{_UNKNOWN}the device is busy for 20 % of it, and other processes had the CPU.")
    assert says(replace(found, other_load=0.1), "Host-bound: the device is busy for 20 % of the run")


def test_other_processes_that_a_warning_names_are_not_named_twice(
    profile: Profile, timing: Make, environment: Environment
) -> None:
    unsteady = replace(profile, unprofiled=timing(dispatch_ns=60 * MS, wait_ns=0), timed_runs=1)
    found = replace(
        unsteady,
        device_uses=(use("CPU:0", 38 * MS),),
        environment=replace(environment, cpu_count=2),
        other_load=1.6,
    )
    assert says(found, "The run without the profiler may have been slowed by coming first. Profile it again.")
    assert to_text(found).count("rocesses") == 1


def begins(profile: Profile, sentence: str) -> bool:
    """Whether the sentence is the first of the report, in both media."""
    text = " ".join(to_text(profile).split())
    (bold, *_) = re.findall("<b>(.*?)</b>", to_html(profile))
    return text.startswith(sentence) and unescape(re.sub("</?span[^>]*>", "", bold)) == sentence


def says(profile: Profile, sentence: str) -> bool:
    """Whether the sentence is in both media; fails if it is in only one."""
    text = " ".join(to_text(profile).split())
    page = re.sub("</?span[^>]*>", "", to_html(profile))
    html = " ".join(unescape(re.sub("<[^>]+>", " ", page)).split())
    assert (sentence in text) == (sentence in html)
    return sentence in text


@pytest.mark.parametrize(
    ("wall_ms", "timed", "found"),
    [
        (19, 1, ["Device time: 15.0 ms per run, 75 % of the 20.0 ms under the profiler; "
                 "wall time 19.0 ms without the profiler",
                 "2 runs recorded, 20.0 ms each under the profiler (5.3 % more than without)."]),
        (25, 7, ["2 runs recorded, 20.0 ms each under the profiler (no more than without, the median of 7)."]),
        (8, 1, ["it takes 2.5 times as long under the profiler."]),
    ],
)  # fmt: skip
def test_what_the_profiler_itself_costs_is_said_and_what_it_distorts(
    profile: Profile, timing: Make, wall_ms: int, timed: int, found: list[str]
) -> None:
    told = replace(profile, unprofiled=timing(dispatch_ns=wall_ms * MS, wait_ns=0), timed_runs=timed)
    assert all(says(told, each) for each in found)
    assert says(told, "is busy for") is (wall_ms != 8)


def test_where_the_host_alone_has_worked_there_is_a_wall_time(timing: Make) -> None:
    found = Profile(runs=1, unprofiled=timing(dispatch_ns=MS, wait_ns=0), recorded_ns=MS, device_uses=(),
                    operation_times=(), place_times=())  # fmt: skip
    assert says(found, "No device time was recorded; wall time 1.00 ms without the profiler.")


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        (2, "The code ended with ValueError; this report covers the 2 runs before."),
        (1, "The code ended with ValueError; this report covers the run before."),
        (None, "The code ended with ValueError before a run was complete; this is the recorded part."),
    ],
)
def test_that_the_code_did_not_end_is_said(profile: Profile, runs: int | None, sentence: str) -> None:
    assert says(replace(profile, error="ValueError", runs=runs), sentence)


def test_what_compiles_in_each_run_is_said_with_the_remedy(profile: Profile, timing: Make, compilation: Make) -> None:
    again = compilation(cause=Cause(kind="new function", reason="it is new", remedy="make it once"))
    found = replace(profile, compilations=(again, again), warm_up=timing(again))
    assert says(found, "Compiled during the recording: f.")
    assert says(found, "The code compiles again in each run: it is new. Make it once.")
    assert not says(replace(found, warm_up=None), "in each run")


def test_programs_whose_calling_lines_are_unknown_are_named(profile: Profile) -> None:
    sentence = "Compiled by earlier calls: f. JAX records the lines of those calls, so it is unknown which lines call"
    assert says(replace(profile, notes=(note("profiling.compiled_earlier", functions="f"),)), sentence)
    assert not says(profile, "earlier calls")


def test_what_else_kept_the_machine_busy_is_said(profile: Profile, environment: Environment) -> None:
    found = replace(profile, environment=environment, other_load=1.3)
    assert says(found, "Other processes kept 1.3 of 2 CPUs busy")
    assert not says(replace(found, other_load=0.1), "Other processes")


def test_the_copy_of_the_result_is_said_where_it_was_asked_for(profile: Profile, timing: Make) -> None:
    told = replace(profile, unprofiled=timing(fetch_ns=MS, fetch_bytes=4096), timed_runs=1)
    assert says(told, "Fetch: 1.00 ms to copy 4.00 KiB to the host, not included in the wall time.")


def test_several_devices_are_a_table_with_what_was_exposed(profile: Profile) -> None:
    uses = (
        use("GPU:0", 30 * MS, collective_ns=8 * MS, exposed_collective_ns=2 * MS),
        use("GPU:1", 20 * MS, collective_ns=8 * MS, exposed_collective_ns=4 * MS),
    )
    text = to_text(replace(profile, device_uses=uses))
    assert "  device     busy  share  compute  collectives  exposed     idle" in text
    assert "  GPU:0   15.0 ms   75 %  15.0 ms      4.00 ms  1.00 ms  5.00 ms" in text
    assert "12.5 ms per run (mean of 2 devices; counts are of all)" in text


def test_a_device_cannot_work_longer_than_the_recording_is(profile: Profile) -> None:
    with pytest.raises(ValueError, match="longer than the recording"):
        replace(profile, recorded_ns=29 * MS)


def test_without_device_time_there_is_a_report_but_no_picture() -> None:
    notes = (Note.of_text("Nothing was there."),)
    empty = Profile(recorded_ns=0, device_uses=(), operation_times=(), place_times=(), notes=notes)
    assert to_text(empty) == "No device time was recorded.\nNothing was there."
    assert "Nothing was there." in to_html(empty)
    with pytest.raises(ValueError, match="nothing to draw"):
        chart_of(empty)


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            {"complete_runs": 2, "runs": 9, "limit_ns": 5 * 10**9, "limit_events": 0},
            "Recorded: the first 2 runs of 9, because recordings end after 5.00 s to stay readable. The rest ran "
            "without the profiler. To record more: most_s=20, or --most 20s.",
        ),
        (
            {"complete_runs": 0, "runs": 1, "limit_ns": 20 * MS, "limit_events": 10**6},
            "Recorded: the first part of the run, because recordings end after 20.0 ms, about 1,000,000 events of "
            "this code, to stay readable. The rest ran without the profiler. To record more: most_events=4_000_000, "
            "or --most-events 4000000.",
        ),
    ],
)
def test_a_saved_note_has_facts_and_is_worded_when_it_is_shown(
    profile: Profile, tmp_path: Path, facts: dict[str, int], sentence: str
) -> None:
    path = jaxmagic.save(replace(profile, notes=(note("profiling.cut", **facts),)), tmp_path / "profile.json")
    assert "stay readable" not in path.read_text()
    loaded = jaxmagic.load(path)
    assert loaded.notes[0].facts == facts
    assert sentence in " ".join(str(loaded).split())


def test_lines_add_up_to_the_device_time_and_the_last_has_no_file(profile: Profile) -> None:
    frame = profile.lines()
    assert list(frame.columns[:6]) == ["file", "line", "function", "time_ns", "share", "count"]
    assert frame["time_ns"].sum() == profile.device_ns
    assert frame["line"].tolist()[:3] == [2, 6, 5]
    assert frame["file"].isna().tolist() == [False, False, False, True]
    assert frame.set_index("line")["total_ns"][5] == 20 * MS


def test_operations_scopes_and_devices_are_frames(profile: Profile) -> None:
    operations = profile.operations()
    assert operations[["bytes_per_s", "flops_per_s"]].isna().all(axis=None)  # one run of a sort may be two events
    counted = tuple(replace(each, flops=500) for each in profile.operation_times)
    operations = replace(profile, operation_times=counted).operations()
    assert operations["bytes_per_s"][0] == pytest.approx(4000 / 0.01)
    assert operations["flops_per_s"][0] == pytest.approx(500 / 0.01)
    scopes = profile.scopes().set_index("scope")
    assert scopes["time_ns"]["jit(f)"] == 28 * MS
    assert scopes["self_ns"].sum() == profile.device_ns
    assert profile.devices()["idle_ns"].tolist() == [10 * MS]


def test_the_picture_is_a_flame_graph_of_scopes_in_the_time_of_a_run(profile: Profile) -> None:
    found = chart_of(profile)
    assert isinstance(found, Flame)
    widths = {cell.name: cell.x[1] - cell.x[0] for cell in found.cells}
    assert widths == {"all": 15 * MS, "jit(f)": 14 * MS, "layer": 10 * MS, "sort": 10 * MS, "add": 4 * MS,
                      "(not known)": MS}  # fmt: skip


def test_html_has_the_heat_of_each_line_and_escapes_all_that_is_the_users(profile: Profile, hostile: str) -> None:
    evil = replace(profile.codes[0], cell=hostile, lines=(hostile,) * 6)
    html = to_html(replace(profile, codes=(evil,), code=hostile, notes=(Note.of_text(hostile),)))
    assert "<script>window.evil" not in html
    assert "<img src=x" not in html
    assert "rgba(214,90,60,0.40)" in to_html(profile)
    assert "rgba(128,128,128,0.40)" in to_html(profile, Style(colour=False))


def test_rows_that_are_left_out_are_where_it_says(profile: Profile) -> None:
    uses = tuple(use(f"GPU:{number}", 20 * MS, copy_ns=MS) for number in range(4))
    found = replace(profile, device_uses=uses)
    text, html = to_text(found, Style(rows=1)), to_html(found, Style(rows=1))
    assert "… and 1 more operation: see operations()" in text
    assert "… and 3 more devices: see devices()" in text
    assert "… and 1 more operation: see operations()" in html
    assert "… and 3 more devices: see devices()" in html
    assert len(found.operations()) == 2
    assert len(found.devices()) == 4


def test_in_text_a_column_that_is_empty_leaves_its_room_to_the_source(profile: Profile) -> None:
    flat = tuple(replace(each, stack=each.stack[-1:]) for each in profile.place_times)
    text = to_text(replace(profile, place_times=flat))
    assert "with calls" in to_text(profile)
    assert "with calls" not in text
    assert "     time   share   count  cell 3" in text


def test_a_long_function_is_listed_around_the_lines_that_took_time(profile: Profile) -> None:
    lines = tuple(f"line {number}" for number in range(1, 101))
    text = to_text(replace(profile, codes=(replace(profile.codes[0], lines=lines),)))
    assert "line 6" in text
    assert "line 50" not in text
    assert "…" in text


def test_explain_adds_five_lines_of_which_one_is_always_there_where_a_line_has_the_sign() -> None:
    plain, explained = to_text(fabricated()).splitlines(), to_text(fabricated(), explain=True).splitlines()
    assert explained[:-5] == plain[:-1]
    assert explained[-1] == plain[-1] == "≈: partly the line's share of a fusion of several lines, by their work."
    whole = tuple(replace(each, split=False) for each in fabricated().place_times)
    assert "≈" not in to_text(replace(fabricated(), place_times=whole))


def test_heads_of_tables_are_explained_below_them() -> None:
    text = " ".join(to_text(fabricated()).split())
    assert "Of roof:" not in text
    assert "Exposed:" not in text
    use = replace(
        fabricated().device_uses[0], peak_flops=10**12, peak_bytes=10**11, copy_ns=5 * MS, exposed_copy_ns=MS
    )
    text = " ".join(to_text(replace(fabricated(), device_uses=(use,)), Style(width=200)).split())
    assert "of roof" in text
    assert "Of roof: the rate, as a share of the peak FLOP/s or bandwidth" in text
    assert "Exposed: the time that is not hidden behind computation" in text


def test_a_recording_of_tpus_keeps_its_columns_in_a_terminal() -> None:
    profile = jaxmagic.read_profile(trace("tpu_v6e_4dev_inference"))
    first = [each for each in profile.operation_times if each.time_ns > MS or each.name == "async copy"]
    lines = to_text(replace(profile, operation_times=tuple(first))).splitlines()
    assert any(line.startswith("The mean time of an asynchronous operation is") for line in lines)
    assert not any("span" in line.lower() for line in lines)  # there is no such column
    assert not any(line.endswith("…") or len(line) > 80 for line in lines)
    rows = [line.split() for line in lines]
    operations = "operation share exposed line of roof count mean category"
    assert operations.split() in rows
    (copy,) = (line for line in lines if line.startswith("  async copy "))
    assert copy.split()[-3:] == ["189", "ms", "copy"]  # its span
    at = rows.index(["device", "busy", "share", "compute", "collectives", "exposed", "memcpy", "exposed"])
    assert rows[at + 5] == ["device", "at", "barriers", "idle"]
    assert [rows[at + 6][0], *rows[at + 6][-2:]] == ["TPU:0", "13.7", "s"]


def test_time_without_a_line_comes_first_if_it_is_most_of_all(profile: Profile) -> None:
    def order(time_ns: int) -> bool:
        text = to_text(replace(profile, place_times=(*profile.place_times, place(time_ns))))
        return text.index("Without a line: ") < text.index("return jnp.sort(x)")

    assert [order(MS), order(20 * MS)] == [False, True]
