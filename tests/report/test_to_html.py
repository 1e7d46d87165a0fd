"""HTML is escaped, small, and complete without scripts, kernel and network."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from contrast import contrast
from pages import breakable

from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.records.note import Note, note
from jaxmagic.report.blocks import Listing, SourceLine
from jaxmagic.report.html_parts import error_to_html, prose, table
from jaxmagic.report.style import AT_A_GLANCE, Style
from jaxmagic.report.to_html import _listing, to_html
from jaxmagic.session.history import History

EVIL = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


class Tags(HTMLParser):
    """Collects tags and text, and checks that every tag is closed."""

    VOID = ("br", "wbr")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_bars_parts_fill_it_and_the_legend_has_their_numbers(timing: Any, compilation: Any) -> None:
    html = to_html(timing(compilation()))
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%;background", html)]
    assert sum(widths) == pytest.approx(100, abs=0.05)
    assert "XLA 159 ms" in Tags(html).text
    assert "wait 10.1 ms" in Tags(html).text


def test_a_bar_is_as_wide_as_the_page_and_sentences_are_as_wide_as_one_reads(timing: Any, compilation: Any) -> None:
    html = to_html(timing(compilation()))
    before, after = html.split("display:flex;width:100%")
    assert "max-width" not in before
    assert "max-width:60em" in after


def test_everything_from_the_user_is_escaped(timing: Any, compilation: Any) -> None:
    cause = Cause(kind="shape", reason=EVIL, remedy=EVIL, argument=EVIL, now=EVIL, before=EVIL)
    record = timing(
        compilation(function=EVIL, location=EVIL, cause=cause),
        compilation(thread=EVIL),
        error=EVIL,
        code=EVIL,
        notes=(note("text", text=EVIL),),
    )
    tags = Tags(to_html(record))
    assert set(tags.tags) <= {"div", "span", "table", "tr", "th", "td", "code", "b", "br", "tbody"}
    assert not any(name.startswith("on") or name in ("src", "href") for name, _ in tags.attributes)
    assert EVIL in tags.text
    history = History()
    history.append(record)
    assert EVIL not in to_html(history)
    assert to_html(history).count("<script") == 1  # the picture's own


def test_no_script_no_style_sheet_no_class_no_address(timing: Any, compilation: Any) -> None:
    html = to_html(timing(compilation()), explain=True)
    for forbidden in ("<script", "<style", "class=", "http", "url(", "<svg", "id="):
        assert forbidden not in html


def test_text_has_no_colour_of_its_own(timing: Any, compilation: Any) -> None:
    """Light and dark themes are the page's: only the small squares of the legend are coloured."""
    html = to_html(timing(compilation()))
    coloured = re.findall(r'(?<!-)color:[^"]*">(.*?)<', html)
    assert set(coloured) == {"&#9632;"}


def test_saved_size_is_bounded_whatever_compiled(timing: Any, compilation: Any) -> None:
    long = Cause(
        kind="shape", reason="r" * 5000, remedy="pad to a few fixed shapes, or expect one compilation a shape"
    )
    record = timing(*(compilation(function=f"f{n}" * 100, cause=long) for n in range(200)))
    assert len(to_html(record, explain=True).encode()) < 9.25 * 1024
    assert len(to_html(record, AT_A_GLANCE).encode()) < 16 * 1024


def test_rows_stand_in_the_order_of_compilation_and_are_the_costliest(timing: Any, compilation: Any) -> None:
    costs = [3, 60, 40, 1, 20, 50, 30]
    many = [compilation(function=f"f{cost}", compilation_ns=cost * 10**6) for cost in costs]
    html = breakable(to_html(timing(*many)))
    assert re.findall(r"<code[^>]*>(f\d+)</code>", html) == ["f60", "f40", "f20", "f50", "f30"]
    assert "Besides the 5 costliest, there were 2 more compilations, of 28.0 ms in all. To see all causes, " in html
    assert "costliest" not in to_html(timing(*many[:5]))
    one_more = breakable(to_html(timing(*many[:6])))
    assert "Besides the 5 costliest, there was 1 more compilation, of 13.0 ms. To see all causes, " in one_more
    assert "7 functions compiled, top: f60" in breakable(to_html(timing(*many), AT_A_GLANCE))


def test_greys_where_colour_is_off(timing: Any, compilation: Any) -> None:
    assert "#d55e00" in to_html(timing(compilation()))
    assert "#d55e00" not in to_html(timing(compilation()), Style(colour=False))


def test_a_block_that_took_no_time_has_no_bar_to_divide(timing: Any) -> None:
    assert "0 ns" in to_html(timing(dispatch_ns=0, wait_ns=0))


def test_an_unknown_record_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="expected a record, got int"):
        to_html(3)


def test_a_history_shows_where_the_time_of_its_timings_went(timing: Any, benchmark: Any) -> None:
    history = History()
    assert "<img" not in to_html(history)
    history.append(benchmark)
    history.append(timing(code="f(x)"))
    assert to_html(history).count("<img") == 1


def test_a_history_of_which_nothing_can_be_drawn_is_text(sweep: Any) -> None:
    history = History()
    history.append(replace(sweep, points=()))
    assert "<img" not in to_html(history)
    assert "0 points" in to_html(history)


@pytest.mark.parametrize(
    ("reason", "em"), [("argument x has a different shape: f32[8] now, f32[4] before", 22.0), ("first call", 5.5)]
)
def test_a_cause_takes_a_width_in_which_it_is_read_beside_the_numbers_or_below_them(
    timing: Any, compilation: Any, reason: str, em: float
) -> None:
    """The browser tests look at where it stands."""
    cause = Cause(kind="shape", reason=reason, remedy="pad it")
    _, row, _ = re.findall(r"<tr.*?</tr>", to_html(timing(compilation(cause=cause), compilation(function="g"))), re.S)
    cells = re.findall(r'<td style="([^"]*)">(.*?)</td>', row)
    assert [bool(re.search(r"[\d.]+ m?s$", told)) for _, told in cells] == [False, True, True, True, False]
    style, told = cells[-1]
    assert told.startswith(reason)
    assert f"flex:1 1 {em}em" in style


def test_the_times_of_candidates_are_in_a_column(comparison: Any) -> None:
    page = to_html(comparison)
    names = [each.label for each in comparison.candidates]
    assert all(f">{name}</code></td><td" in page for name in names)
    assert len(set(re.findall(r'<td style="[^"]*;width:([^;]*)[^"]*"><code', page))) == 1


def test_a_long_name_is_wrapped_and_a_short_one_is_not(timing: Any, compilation: Any) -> None:
    """The browser tests look at where it is wrapped."""
    page = to_html(timing(compilation(function="train_step_with_dropout"), compilation(function="jit of f")))
    assert "train_<wbr>step_<wbr>with_<wbr>dropout</code>" in page
    assert ">jit of f</code>" in page


def test_an_option_is_not_broken_at_its_hyphens(timing: Any) -> None:
    page = to_html(timing(notes=(Note.of_text("Use --most-events 9, or -n 3 (--all); a--b is no option."),)))
    unbroken = '<span style="white-space:nowrap">{}</span>'
    assert f"Use {unbroken.format('--most-events')} 9, or {unbroken.format('-n')} 3 " in page
    assert f"({unbroken.format('--all')}); a--b is no option." in page


def test_no_line_ends_between_a_number_and_its_unit(timing: Any) -> None:
    note = "For <1 % of 1min 3s, 1.2 ms at 2.34 M items/s or 5.10 GB/s, 3 sizes of 2 KiB, 7 bytes."
    page = to_html(timing(notes=(Note.of_text(note),)))
    unbroken = re.findall(r'<span style="white-space:nowrap">(.*?)</span>', page[page.index("For ") :])
    assert unbroken == ["1 %", "1min 3s", "1.2 ms", "2.34 M items/s", "5.10 GB/s", "2 KiB"]
    assert unescape(re.sub("<[^>]*>", "", page)).count(note) == 1


def test_a_long_line_of_a_list_is_cut_where_the_page_ends_and_whole_in_its_tooltip(timing: Any) -> None:
    history = History()
    history.append(replace(timing(), code="f(x) + " * 100))
    html = to_html(history, AT_A_GLANCE)
    (written,) = re.findall('<pre style="font-family:monospace;white-space:pre">(.*?)</pre>', html)
    ((style, tooltip, line),) = re.findall('<span style="([^"]*)" title="([^"]*)">([^<]*)</span>', written)
    assert "text-overflow:ellipsis" in style
    assert tooltip == line.strip()
    assert len(line) <= 160
    assert "overflow-x" not in html


def test_a_long_name_is_wrapped_in_its_cell_rather_than_cut_off() -> None:
    html = table((("size", "held by"), ("64.0 KiB", "state[0].nu['blocks'][1]['up']")), 1, code=("held by",))
    (name,) = re.findall(r"<td style=\"([^\"]*)\">state", html)
    assert "overflow-wrap:anywhere" in name
    assert "nowrap" not in name
    (size,) = re.findall(r"<td style=\"([^\"]*)\">64", html)
    assert "nowrap" in size


def test_a_cell_without_a_value_is_as_high_and_as_warm_as_its_row() -> None:
    lines = (SourceLine(1, "y = f(x)", ("1 ms", ""), 0.5, "", ""), SourceLine(2, "g(y)", ("", "2 ms"), 0.5, "", ""))
    html = _listing(Listing("f", ("time", "with calls"), lines), AT_A_GLANCE)
    rows = re.findall(r"<tr style=\"[^\"]*background:rgba[^\"]*\"[^>]*>(.*?)</tr>", html)
    cells = [re.findall(r"<td style=\"[^\"]*width:[^\"]*\">([^<]*)</td>", row) for row in rows]
    assert cells == [["1 ms", "&#160;"], ["&#160;", "2 ms"]]


def test_the_numbers_of_a_line_and_its_code_have_one_background() -> None:
    """So a narrow page, on which they are below each other, shows what belongs together."""
    cells = (("1 ms", ""), ("", "2 ms"), ("", ""))
    lines = (SourceLine(at, "f(x)", each, 0.5 * (at < 1), "", "") for at, each in enumerate(cells))
    html = _listing(Listing("f", ("time", "with calls"), tuple(lines)), AT_A_GLANCE)
    assert re.findall(r"<tr style=\"[^\"]*background:([^\"]*)", html) == [
        "rgba(214,90,60,0.32)",
        "rgba(128,128,128,0.1)",
        "none",
    ]
    assert not re.findall(r"<td[^>]*background", html)


#: The ink and the page of JupyterLab, VS Code, Colab and this manual, in the light and in the dark.
LIGHT = ["#000/#fff", "#323232/#fff", "#212121/#fff"]
DARK = ["#e0e0e0/#111", "#ced6dd/#14181e", "#ccc/#1f1f1f", "#e3e3e3/#383838"]


def over(top: str, part: float, below: str) -> str:
    """Return the colour that is seen where ``top`` covers ``part`` of what is below."""
    digits = ["".join(2 * it for it in each[1:]) if len(each) == 4 else each[1:] for each in (top, below)]
    values = zip(*(bytes.fromhex(each) for each in digits), strict=True)
    return "#" + bytes(round(part * one + (1 - part) * other) for one, other in values).hex()


@pytest.mark.parametrize("page", [*LIGHT, *DARK])
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_the_number_of_the_slowest_line_and_what_it_calls_can_be_read(share: float, page: str) -> None:
    ink, paper = page.split("/")
    html = _listing(Listing("f", ("time",), (SourceLine(10, "f(x)", ("1 ms",), share, "via dot", ""),)), AT_A_GLANCE)
    (warmth,) = re.findall(r"background:rgba\(214,90,60,([\d.]+)\)", html)
    warm = over("#d65a3c", float(warmth), paper)
    row = html[html.index("<td") :]
    faintest = min(map(float, re.findall(r"opacity:([\d.]+)", row)), default=1.0)
    assert contrast(over(ink, faintest, warm), warm) >= 4.5


def test_a_line_without_any_value_has_no_row_above_it_on_a_narrow_page() -> None:
    lines = (SourceLine(1, "y = f(x)", ("1 ms",), 0.5, "", ""), SourceLine(2, "g(y)", ("",), 0.0, "", ""))
    html = _listing(Listing("f", ("time",), lines), AT_A_GLANCE)
    measured, empty = re.findall(r"<td [^>]*style=\"([^\"]*max-width:[^\"]*em[^\"]*)\">([^<]*)</td>", html)
    assert measured[1] == "1 ms"
    assert empty == (f"{measured[0]};padding:0", "")


def test_wrapped_code_goes_on_deeper_than_it_begins() -> None:
    lines = (SourceLine(1, f"{' ' * deep}f(x)", ("1 ms",), 0.5, "", "") for deep in (0, 4, 40))
    html = _listing(Listing("f", ("time",), tuple(lines)), AT_A_GLANCE)
    assert re.findall(r"padding-left:([\d.]+)em;text-indent:-([\d.]+)em", html) == [
        ("1.2", "1.2"),
        ("3.6", "3.6"),
        ("8.4", "8.4"),  # no deeper, or a narrow page has no room for code
    ]


def test_a_line_ends_before_a_file_and_not_between_its_name_and_its_line() -> None:
    unbroken = '<span style="white-space:nowrap">{}</span>'
    assert prose("at /a/b/c.py:12.") == f"at /<wbr>a/<wbr>b/<wbr>{unbroken.format('c.py:12.')}"
    assert prose("(c.py:3): x") == f"{unbroken.format('(c.py:3):')} x"
    assert prose("C:\\me\\c.py:3") == f"C:\\<wbr>me\\<wbr>{unbroken.format('c.py:3')}"
    assert prose("of /a/c.py") == f"of /<wbr>a/<wbr>{unbroken.format('c.py')}"
    assert prose("jit(f)/dot.1, and/or e.g. c.py") == "jit(f)/dot.1, and/or e.g. c.py"
    long = prose("generate_attention_trace.py:31")
    assert long.endswith(f"generate_<wbr>attention_<wbr>{unbroken.format('trace.py:31')}</span>")


def test_a_remedy_and_its_code_are_in_the_ink_of_the_page(diagnosis: Any) -> None:
    """What is faint is the evidence."""
    page = re.sub(r"<details>.*?</details>", "", to_html(diagnosis(), AT_A_GLANCE), flags=re.S)
    remedy = page[page.index("→") :]
    assert "opacity" not in remedy[: remedy.index("</td>")]
    assert re.search(r"opacity[^>]*>[^<]*→", page) is None
    assert "opacity" in page[: page.index("→")]


def test_aligned_text_has_letters_of_one_width_in_every_page(timing: Any) -> None:
    """The style of an exported page may set ``<pre>`` in the font of its sentences."""
    history = History.of_records([timing(), timing()])
    found = re.findall(r"<pre[^>]*>", to_html(history, AT_A_GLANCE) + error_to_html("failed"))
    assert len(found) > 1
    assert all("font-family:monospace" in each for each in found)
