"""Memory reports in text and HTML: small enough to read, and unknown values are marked."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from textwrap import dedent
from typing import Any

import pytest
from pages import to_html

from jaxmagic.memory_use.record.memory_profile import Allocation, Buffer, Suspect
from jaxmagic.memory_use.record.usage import MemoryTimeline
from jaxmagic.memory_use.report import program_sentences as program_words
from jaxmagic.memory_use.report import sentences as memory_words
from jaxmagic.records.note import Note, note
from jaxmagic.report.style import Style
from jaxmagic.report.to_text import to_text
from jaxmagic.session.history import History

PLAIN = Style(picture=False)


def golden(text: str) -> str:
    return dedent(text).strip("\n")


def widest(text: str) -> int:
    return max(map(len, text.splitlines()))


class Tags(HTMLParser):
    """Collects tags and text, and checks that every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in ("br", "img", "wbr"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


# --- text --------------------------------------------------------------------------------------------------------


def test_a_profile(memory_profile: Any) -> None:
    assert to_text(memory_profile()) == golden("""
        A program needs 4.00 KiB; arrays: 3.00 KiB after, +2.00 KiB; ran in 11.0 ms
        jit_f peaks at step 4 of 4, add.1 (cell.py:3): 4.00 KiB live. Largest live
          buffers: 1.00 KiB argument f32[256] a; 1.00 KiB argument f32[256] b; 1.00 KiB
          temporary f32[256] jit(f)/dot.1 (cell.py:3).
        1 new array was alive when all work was done: 2.00 KiB.
              size  array     held by
          2.00 KiB  f32[512]  y, model.w
        1 program, jit_f needs 4.00 KiB.
          program   needs =  argument  + output  + temporary  in this run
          jit_f    4.00 KiB  2.00 KiB  1.00 KiB     1.00 KiB  ran
        Memory while the code ran: process 101 MiB at the end.
        Process: 101 MiB resident, +1.00 MiB, peak at least 103 MiB.
        3 samples, every 1 ms at best.
    """)


def test_a_profile_in_a_line(memory_profile: Any) -> None:
    found = to_text(memory_profile(), Style(form="line"))
    assert found == "A program needs 4.00 KiB; arrays: 3.00 KiB after, +2.00 KiB; ran in 11.0 ms"


def test_a_profile_of_nothing(memory_profile: Any, live_arrays: Any) -> None:
    nothing = memory_profile(before_bytes=(), arrays=live_arrays(), executables=(), timeline=None)
    assert to_text(nothing) == golden("""
        Arrays: 0 B after, unchanged in total; ran in 11.0 ms
        No new array was alive when all work was done.
    """)


def test_new_arrays_in_place_of_others_leave_the_total_unchanged(memory_profile: Any) -> None:
    text = " ".join(to_text(memory_profile(before_bytes=(("cpu:0", 3072),))).split())
    assert "arrays: 3.00 KiB after, unchanged in total; ran" in text
    assert "1 new array was alive when all work was done: 2.00 KiB, while earlier ones of 2.00 KiB are gone." in text


@pytest.mark.parametrize("render", [to_text, to_html])
def test_memory_that_library_calls_may_allocate_is_said_not_to_be_counted(
    memory_profile: Any, executable: Any, render: Any
) -> None:
    more = note("memory_use.uncounted", calls=2, names="__ynn_fusion", lines="cell 1:2")
    sentence = "Not counted: memory that 2 library calls (__ynn_fusion at cell 1:2) may allocate while running, which"
    program = executable(notes=(more,))
    assert program.at_least
    shown = render(program)
    assert "jit_f needs at least " in shown
    assert sentence in " ".join(shown.split())
    assert "A program needs at least " in render(memory_profile(executables=(program,)))
    small = executable(notes=(more,), argument_bytes=1)
    assert "The largest program needs at least " in render(memory_profile(executables=(executable(), small)))
    assert "needs at least" not in render(executable())
    (fits,) = program_words.about_limit(executable(notes=(more,), limit_bytes=2**30))
    assert fits == "jit_f fits, as far as it is counted, in the 1.00 GiB of memory of its device."


@pytest.mark.parametrize("render", [to_text, to_html])
def test_what_was_made_and_nobody_is_found_to_hold_is_said_to_be_unknown(
    memory_profile: Any, live_arrays: Any, render: Any
) -> None:
    (kept,) = memory_profile().arrays.made
    lost = replace(kept, names=(), device_bytes=(("cpu:0", 4096),))
    old = replace(lost, made=False)
    sentence = "4.00 KiB of this is held by something unknown. The search follows names, outputs, closures and trace"
    assert sentence in " ".join(render(memory_profile(arrays=live_arrays(kept, lost, old))).split())
    assert "held by something unknown" not in render(memory_profile(arrays=live_arrays(kept, old)))


def test_what_is_not_known_is_said_and_never_zero(memory_profile: Any, executable: Any) -> None:
    silent = dict.fromkeys(("argument_bytes", "output_bytes", "temporary_bytes", "alias_bytes"))
    missing = note("memory_use.unread", part="statistics", error="E: x")
    program = executable(**silent, allocations=None, steps=None, notes=(missing,))
    text = to_text(memory_profile(executables=(program,), timeline=None))
    assert "program needs" not in text
    assert text.count("unknown") == 5
    assert " 0 B" not in text
    assert "jit_f: Could not read the compiler's memory statistics (E: x)." in text
    assert to_text(program).startswith("jit_f needs an unknown amount of memory\n")
    assert to_text(program).count("unknown") == 4
    blind = MemoryTimeline(
        interval_ns=1_000_000,
        times_ns=(0, 1),
        rss_bytes=(None, None),
        array_bytes=(None, None),
        device_bytes={"gpu:0": (None, None)},
        notes=(Note.of_text("The process does not say."),),
    )
    told = to_text(memory_profile(executables=(), timeline=blind))
    assert "Process:" not in told
    assert "gpu:0: memory in use unknown." in told
    assert "The process does not say." in told


def test_memory_is_summed_by_variable_if_one_leads_to_several_arrays(live_arrays: Any) -> None:
    held = (
        (2048, ("replay",)),
        *((1024, (f"params['{name}']", f"best[{at}]")) for at, name in enumerate("abc")),
        (8, ("_", "x", "last traceback: x", "Out[3]")),
        (4, ()),
    )
    live = live_arrays(*held)
    said = (
        "By name: params and best 3.00 KiB in 3 arrays, replay 2.00 KiB in 1 array, x and 2 more names 8 B in 1 "
        "array, no name found 4 B in 1 array."
    )
    assert said in " ".join(to_text(live).split())
    many = live_arrays(*held, *((4, (name,)) for name in "uvw"))
    assert "params and best 3.00 KiB in 3 arrays" in to_text(many)
    assert "and 2 more names." in to_text(many)
    assert "By name" not in to_text(live_arrays((8, ("x",)), (4, ("y",)), (4, ())))
    assert "By name" not in to_text(live.with_largest(2))


def test_where_an_array_is_not_found_from_a_name_that_is_said(live_arrays: Any) -> None:
    assert to_text(live_arrays((8, ()), (4, ("x",)))) == golden("""
        2 arrays are alive: 12 B
          size  array   held by
           8 B  f32[2]  no name found
           4 B  f32[1]  x
          Found no holder of 1 array of 8 B. The search follows names, outputs, closures
            and tracebacks through the objects of Python and NumPy. Possible holders:
            the constants of a jitted function, a running function, a cache in JAX, an
            object of a C extension, another thread, or garbage in a cycle, which
            gc.collect() frees.
    """)
    unfinished = live_arrays((8, ()), (4, ("x",)), search_complete=False)
    assert "Possible holders" not in to_text(unfinished)
    assert to_text(live_arrays()) == "No JAX array is alive."
    assert to_text(live_arrays((4, ("x",))), Style(form="line")) == "1 array is alive: 4 B"
    assert to_text(live_arrays(notes=(Note.of_text("The search for names was cut short."),))).endswith(
        "was cut short."
    )


def test_donated_memory_and_constants_have_their_place(executable: Any) -> None:
    donated = executable(name="jit_g", alias_bytes=1024, constant_bytes=4096)
    text = to_text(donated)
    assert text.splitlines()[:3] == [
        "jit_g needs 3.00 KiB",
        "  argument 2.00 KiB + output 1.00 KiB + temporary 1.00 KiB - alias 1.00 KiB",
        "Constants, not included above: jit_g 4.00 KiB.",
    ]


def built_in(
    size_bytes: int, captured: tuple[str, ...] = (), source: str | None = "cell 7:2", **more: Any
) -> Allocation:
    buffer = Buffer(
        offset_bytes=0,
        size_bytes=size_bytes,
        first=0,
        last=3,
        instruction="constant.1",
        shape=f"u8[{size_bytes}]",
        op_name="",
        source=source,
        captured=captured,
        **more,
    )
    return Allocation(kind="constant", size_bytes=size_bytes, aliased=False, space=0, buffers=(buffer,))


@pytest.mark.parametrize(
    ("constants", "told"),
    [
        ([built_in(2048, ("params['w']",))], "2.00 KiB params['w'] at cell 7:2"),
        ([built_in(2048, ("w", "v"))], "2.00 KiB w or v at cell 7:2"),
        ([built_in(2048, ("w",), inside="flax.linen.Dense")], "2.00 KiB w at cell 7:2 in flax.linen.Dense"),
        ([built_in(2048, source=None)], "2.00 KiB u8[2048]"),
        ([built_in(4), built_in(3072, ("v",)), built_in(4096, ("w",), "/me/train.py:3")],
         "4.00 KiB w at train.py:3, 3.00 KiB v at cell 7:2"),
        ([built_in(1024 + n, (f"w{n}",), None) for n in range(5)], "1.00 KiB w4, 1.00 KiB w3, 1.00 KiB w2"),
    ],
)  # fmt: skip
def test_large_constants_are_told_by_their_names_and_lines(executable: Any, constants: Any, told: str) -> None:
    program = executable(allocations=(*executable().allocations, *constants), constant_bytes=4096)
    sentence = f"Constants, not included above: jit_f 4.00 KiB ({told})."
    assert sentence in " ".join(to_text(program).split())
    assert sentence in unescape(to_html(program))


def test_an_argument_that_jax_made_of_a_constant_has_its_name(executable: Any) -> None:
    first, *others = executable().allocations
    buffers = (replace(first.buffers[0], op_name="", instruction="Arg_0.1", captured=("params['w']",)),)
    program = executable(allocations=(replace(first, buffers=buffers), *others))
    assert "1.00 KiB argument f32[256] params['w'];" in " ".join(to_text(program).split())
    assert "Arg_0" not in to_text(program)


def test_the_peak_names_the_pass_of_a_buffer(executable: Any) -> None:
    *others, last = executable().allocations
    names = ("jit(sgd)/jvp()/dot_general", "jit(sgd)/transpose(jvp(Dense_0))/dot_general")
    made = (replace(last, size_bytes=4096, buffers=(replace(last.buffers[0], op_name=name, size_bytes=4096),))
            for name in names)  # fmt: skip
    text = " ".join(to_text(executable(allocations=(*others, *made))).split())
    assert "jit(sgd)/forward/dot_general" in text
    assert "jit(sgd)/backward of Dense_0/dot_general" in text


@pytest.mark.parametrize(
    ("limit_bytes", "sentence"),
    [
        (8192, "jit_f fits in the 8.00 KiB of memory of its device."),
        (1024, "jit_f does not fit in the 1.00 KiB of memory of its device."),
    ],
)
def test_whether_it_fits_is_said_where_it_is_known(executable: Any, limit_bytes: int, sentence: str) -> None:
    assert sentence in to_text(executable(limit_bytes=limit_bytes))
    assert "in all" not in to_text(executable())


def test_an_estimate_is_said_to_be_one(executable: Any) -> None:
    text = " ".join(to_text(executable(estimated=True)).split())
    assert "a lower bound: this backend does not report its buffer assignment" in text


def test_each_device_is_told_where_there_are_several(memory_profile: Any) -> None:
    found = memory_profile(before_bytes=(("cpu:0", 1024), ("cpu:1", 512)))
    assert "By device: cpu:0 3.00 KiB (+2.00 KiB), cpu:1 0 B (-512 B)." in to_text(found)


def test_a_peak_of_a_device_is_told_with_what_it_has(memory_profile: Any) -> None:
    sampled = replace(
        memory_profile().timeline,
        device_bytes={"gpu:0": (0, 2**20, 2**19)},
        device_peak_bytes={"gpu:0": (0, 2**21)},
        device_limit_bytes={"gpu:0": 2**30},
    )
    text = to_text(memory_profile(timeline=sampled))
    assert "gpu:0: 512 KiB in use, peak 2.00 MiB, limit 1.00 GiB." in text


_OF_TRACEBACK = (
    "The last traceback keeps the variables of its functions until the next error: run import gc, sys; "
    "sys.last_value = sys.last_exc = sys.last_traceback = get_ipython().InteractiveTB.tb = None, and gc.collect() in "
    "the next cell."
)

_OF_OUT = (
    "Out keeps the value of every cell: end the line with a semicolon. For Out[3], %xdel _3 deletes every name "
    "of the value, also IPython's hidden ones."
)


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("Out[*]", _OF_OUT),
        ("Out[*].w", _OF_OUT),
        ("losses[*]", "If they are no longer needed: losses.clear()."),
        ("model.cache[*]", "If they are no longer needed: model.cache.clear()."),
        ("w", "If they are no longer needed: del w."),
        ("layers[*].w", "If they are no longer needed, delete them there."),
        ("list(params)[*]", "If they are no longer needed, delete them there."),
        (
            "last traceback: frame f, variable x",
            _OF_TRACEBACK,
        ),
    ],
)
def test_a_suspect_is_told_with_what_can_be_run(path: str, advice: str) -> None:
    (told,) = memory_words.about_suspects([Suspect(path=path, bytes_seen=(1024, 2048, 4096), arrays=3)])
    assert (
        told == f"{path} kept growing over the last 3 records, by 3.00 KiB to 4.00 KiB (3 arrays): a leak? {advice}"
    )


def test_a_suspect_is_a_warning(memory_profile: Any) -> None:
    found = memory_profile(suspects=(Suspect(path="w", bytes_seen=(1, 2, 3), arrays=1),))
    told = "w kept growing over the last 3 records, by 2 B to 3 B (1 array)"
    assert f"Warning: {told}" in " ".join(to_text(found).split())
    assert f"⚠ {told}" in to_html(found, PLAIN)


def test_all_that_stood_in_the_way_is_told_once(memory_profile: Any, timing: Any, executable: Any) -> None:
    programs = [executable(notes=(Note.of_text("twice"),)), executable(notes=(Note.of_text("twice"),))]
    found = memory_profile(
        timing=timing(notes=(Note.of_text("The result is a coroutine."),), error="KeyboardInterrupt"),
        executables=tuple(programs),
        notes=(Note.of_text("Of the profile."),),
    )
    for told in (to_text(found), Tags(to_html(found, PLAIN)).text):
        for part in (
            "Of the profile.",
            "The result is a coroutine.",
            "jit_f: twice",
            "ended with KeyboardInterrupt",
        ):
            assert told.count(part) == 1


def test_the_copy_to_the_host_is_told_where_it_was_asked_for(memory_profile: Any, timing: Any) -> None:
    found = memory_profile(timing=timing(fetch_ns=2_000_000, fetch_bytes=2048))
    sentence = "Fetch: 2.00 ms to copy 2.00 KiB to the host, not included in the wall time."
    assert sentence in to_text(found)
    assert sentence in Tags(to_html(found, PLAIN)).text
    assert "Fetch" not in to_text(memory_profile())


def test_the_words_are_explained_where_that_is_asked_for(memory_profile: Any) -> None:
    explained = to_text(memory_profile(), explain=True)
    assert explained.splitlines()[-5:] == list(memory_words.EXPLANATION)
    assert widest(explained) <= 80
    assert all(line in Tags(to_html(memory_profile(), PLAIN, explain=True)).text for line in memory_words.EXPLANATION)


def test_rows_beyond_the_wanted_ones_are_counted(memory_profile: Any, executable: Any, live_arrays: Any) -> None:
    (one,) = live_arrays((4, ("x",))).arrays
    arrays = live_arrays(*[replace(one, made=True)] * 7)
    found = memory_profile(arrays=arrays, executables=(executable(),) * 5)
    few = to_text(found, Style(rows=3))
    assert few.count("f32[1]  x") == 3
    assert "… and 4 more arrays: see to_frame()" in few
    assert "… and 2 more programs: see to_frame()" in few
    assert "more" not in to_text(found)
    html = to_html(found, Style(rows=3, picture=False))
    assert "… and 4 more arrays: see to_frame()" in html
    assert "… and 2 more programs: see to_frame()" in html


@pytest.mark.parametrize(("count", "seen", "more"), [(3, 3, ""), (4, 4, ""), (5, 3, "… and 2 more arrays")])
def test_a_glance_counts_the_arrays_that_it_leaves_out(
    memory_profile: Any, live_arrays: Any, count: int, seen: int, more: str
) -> None:
    (one,) = live_arrays((4, ("x",))).arrays
    found = memory_profile(arrays=live_arrays(*[replace(one, made=True)] * count))
    text = to_text(found, Style(whole=False, lines=12))
    assert (text.count("f32[1]"), "more array" in text) == (seen, bool(more))
    assert more in text


@pytest.mark.parametrize("width", [60, 80, 118])
def test_no_line_is_wider_than_the_page(memory_profile: Any, executable: Any, live_arrays: Any, width: int) -> None:
    (one,) = live_arrays((1023 * 2**20, ("experiment.optimizer.state['layer_12'].momentum",) * 3)).arrays
    long = replace(
        one,
        shape="bf16[1024,1024,512]",
        sharding="NamedSharding P('data', None, 'model') over 8 devices",
        device_bytes=tuple((f"gpu:{n}", 2**20) for n in range(8)),
        made=True,
    )
    program = executable(
        name="jit_train_step_of_the_whole_model",
        compiled=True,
        argument_bytes=1023 * 2**30,
        alias_bytes=1023 * 2**20,
        temporary_bytes=None,
    )
    found = memory_profile(
        arrays=live_arrays(long, (4, ("x",))), executables=(program, executable()), suspects=(), before_bytes=()
    )
    assert widest(to_text(found, Style(width=width))) <= width
    assert widest(to_text(found.arrays, Style(width=width))) <= width


def test_a_number_is_never_cut(memory_profile: Any, executable: Any) -> None:
    program = executable(name="jit_" + "f" * 50, compiled=True, alias_bytes=1023 * 2**20, argument_bytes=1023 * 2**30)
    narrow, wide = (to_text(memory_profile(executables=(program,)), Style(width=width)) for width in (40, 80))
    assert "1023 GiB  …" in narrow  # the other columns are left out
    assert "1023 GiB" in wide
    assert "1023 MiB" in wide
    assert re.search(r"jit_f+…", wide)


# --- HTML --------------------------------------------------------------------------------------------------------


def test_html_says_what_text_says(memory_profile: Any) -> None:
    found = memory_profile()
    told = Tags(to_html(found, PLAIN)).text
    for word in ("2.00 KiB", "f32[512]", "y, model.w", "jit_f", "4.00 KiB", "peak at least 103 MiB"):
        assert word in told
    assert Tags(to_html(found.arrays, PLAIN)).text.startswith("2 arrays are alive: 3.00 KiB")
    assert "jit_f peaks at step 4 of 4" in Tags(to_html(found.executables[0], PLAIN)).text


def test_everything_from_the_user_is_escaped(
    memory_profile: Any, live_arrays: Any, executable: Any, timing: Any, hostile: str
) -> None:
    (one,) = live_arrays((4, (hostile, hostile))).arrays
    arrays = live_arrays(
        replace(one, shape=hostile, sharding=hostile, made=True), (4, ("x",)), notes=(Note.of_text(hostile),)
    )
    program = executable(name=hostile, notes=(Note.of_text(hostile),), limit_bytes=1, constant_bytes=1)
    allocations = tuple(
        replace(each, buffers=tuple(replace(b, op_name=hostile, source=hostile, shape=hostile) for b in each.buffers))
        for each in program.allocations
    )
    program = replace(program, allocations=allocations)
    found = memory_profile(
        timing=timing(error=hostile, notes=(Note.of_text(hostile),)),
        arrays=arrays,
        executables=(program,),
        suspects=(Suspect(path=hostile, bytes_seen=(1, 2, 3), arrays=1),),
        notes=(Note.of_text(hostile),),
        before_bytes=((hostile, 3), ("cpu:0", 3)),
        timeline=replace(memory_profile().timeline, device_bytes={hostile: (1, 2, 3)}),
    )
    for record in (found, arrays, program):
        tags = Tags(to_html(record, PLAIN))
        assert set(tags.tags) <= {"div", "b", "table", "tr", "th", "td", "wbr", "code", "span", "details", "summary"}
        assert set(tags.attributes) <= {"style", "open", "tabindex", "role", "aria-label"}
        text = to_text(record)
        assert not re.search(r"[\x00\u2028]", text)


@pytest.mark.parametrize("kind", ["memory_profile", "live_arrays", "executable"])
def test_html_stays_small_and_needs_no_address(request: Any, kind: str) -> None:
    html = to_html(request.getfixturevalue(kind)(), PLAIN)
    assert len(html) < 6000
    assert "http" not in html
    assert "<script" not in html


# --- the history -------------------------------------------------------------------------------------------------


def test_the_history_says_how_much_more_the_arrays_hold(memory_profile: Any) -> None:
    history = History()
    history.append(memory_profile())
    assert "+2.00 KiB" in to_text(history)
    assert "f(x)" in to_text(history)


def test_names_of_arrays_that_are_no_more_are_told(memory_profile: Any, live_arrays: Any) -> None:
    gone = tuple(replace(live_arrays((4096, (f"x{n}",))).arrays[0], device_bytes=()) for n in range(7))
    record = memory_profile(arrays=live_arrays((1024, ("y",)), deleted=gone))
    told = "Donated or deleted during the run, but still named: x0 (f32[1024], 4.00 KiB), x1"
    assert told in " ".join(to_text(record).split())
    assert "x4 (f32[1024], 4.00 KiB), and 2 more. Reading one fails." in " ".join(to_text(record).split())
    assert told in Tags(to_html(record, PLAIN)).text
    assert "Donated" not in to_text(memory_profile())


def test_machine_code_is_told_where_it_is_counted(executable: Any) -> None:
    assert program_words.about_constants([executable(constant_bytes=0, generated_code_bytes=2048)]) == [
        "Machine code, not included above: jit_f 2.00 KiB."
    ]
    assert program_words.about_constants([executable(constant_bytes=0, generated_code_bytes=0)]) == []


def test_what_a_program_uses_is_told_beside_what_it_gets(executable: Any) -> None:
    (told,) = program_words.about_peak(
        executable(argument_bytes=2**20, output_bytes=0, temporary_bytes=0, alias_bytes=0)
    )
    assert "4.00 KiB live of 1.00 MiB allocated" in told
    (told,) = program_words.about_peak(
        executable(argument_bytes=4096, output_bytes=0, temporary_bytes=0, alias_bytes=0)
    )
    assert "allocated" not in told
    (told,) = program_words.about_peak(
        executable(argument_bytes=4097, output_bytes=0, temporary_bytes=0, alias_bytes=0)
    )
    assert "allocated" not in told, "4.00 KiB of 4.00 KiB says nothing"


def test_a_long_name_is_cut_in_a_sentence(executable: Any) -> None:
    (told,) = program_words.about_peak(executable(name="jit_" + "s" * 5000))
    assert len(told) < 400


def test_what_lies_on_the_host_has_columns_of_its_own_in_every_medium(memory_profile: Any, executable: Any) -> None:
    offloaded = executable(
        host_argument_bytes=0, host_output_bytes=2**20, host_alias_bytes=0, host_temporary_bytes=3 * 2**20
    )
    profile = memory_profile(executables=(offloaded, executable(name="jit_g")))
    head = next(line for line in to_text(profile, Style(width=90)).splitlines() if "needs =" in line)
    assert head.split("+ temporary")[1].split() == ["host", "out", "host", "temp", "in", "this", "run"]
    row = next(line for line in to_text(profile).splitlines() if line.startswith("  jit_f "))
    assert "1.00 MiB" in row
    assert "3.00 MiB" in row
    other = next(line for line in to_text(profile).splitlines() if line.startswith("  jit_g "))
    assert other.count("unknown") == 2
    assert "host temp" in to_html(profile)
    parts = "argument 2.00 KiB + output 1.00 KiB + temporary 1.00 KiB; host out 1.00 MiB; host temp 3.00 MiB"
    assert parts in " ".join(to_text(offloaded).split())
    assert "host" not in to_text(memory_profile())
    frame = profile.to_frame()
    assert list(frame.loc[0, ["peak_bytes", "host_bytes", "host_output_bytes"]]) == [4096, 4 * 2**20, 2**20]
    assert frame["host_bytes"].isna().tolist() == [False, True]
    assert offloaded.to_dict()["host_bytes"] == 4 * 2**20
