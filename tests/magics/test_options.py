"""Options come first, then the code, verbatim."""

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.error import UsageError

from jaxmagic.magics import options
from jaxmagic.magics.declare import declared

PARSER = declared("jaxtime").parser


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("-n3 f(x)", ["-n", "3"], "f(x)"),
        ("-n0 f(x)", ["-n", "0"], "f(x)"),  # it is no code: what is wrong with the number is said
        ("-n-1 f(x)", ["-n", "-1"], "f(x)"),
        ("-n0 + f(x)", [], "-n0 + f(x)"),
        ("-n-1 * await f(x)", [], "-n-1 * await f(x)"),
    ],
)
def test_a_number_at_its_letter_is_one_unless_all_of_it_is_code(text: str, words: list[str], code: str) -> None:
    assert options.split(text, declared("jaxtimeit").parser) == (words, code)


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("f(x)", [], "f(x)"),
        ("-q f(x)", ["-q"], "f(x)"),
        ("  -q   -o  f'{n}  {n}'", ["-q", "-o"], "f'{n}  {n}'"),
        ("-qo f(x)", ["-q", "-o"], "f(x)"),
        ("-v t f(x)", ["-v", "t"], "f(x)"),
        ("-vt f(x)", ["-v", "t"], "f(x)"),
        ("-qv t f(x)", ["-q", "-v", "t"], "f(x)"),
        ("-velocity * 2", [], "-velocity * 2"),
        ("--max-time 50ms f(x)", ["--max-time", "50ms"], "f(x)"),
        ("--max-time=50ms f(x)", ["--max-time=50ms"], "f(x)"),
        ("--max-time '1.5 s' f(x)", ["--max-time", "1.5 s"], "f(x)"),
        ("--max-time='1.5 s' f(x)", ["--max-time=1.5 s"], "f(x)"),
        ('--max-time="50ms"', ["--max-time=50ms"], ""),
        ("--max-time= 50ms f(x)", ["--max-time="], "50ms f(x)"),
        ("--max-time='5'0ms f(x)", ["--max-time='5'0ms"], "f(x)"),
        ("--max-time 50 ms f(x)", ["--max-time", "50 ms"], "f(x)"),
        ("--max-time 50 f(x)", ["--max-time", "50"], "f(x)"),
        ("-v t ms", ["-v", "t"], "ms"),
        ("-- -q", [], "-q"),
        ("-q -- --x", ["-q"], "--x"),
        ("-x[0, 0]", [], "-x[0, 0]"),
        ("-x", [], "-x"),
        ("-q*2", [], "-q*2"),
        ("-v*2", [], "-v*2"),
        ("--(x)", [], "--(x)"),
        ("--x[0]", [], "--x[0]"),
        ("-1", [], "-1"),
        ("f(x) -q", [], "f(x) -q"),
        ("", [], ""),
        ("-q", ["-q"], ""),
        ("変数 + 1", [], "変数 + 1"),
        ("-q # comment", ["-q"], "# comment"),
    ],
)
def test_leading_options_are_split_from_code(text: str, words: list[str], code: str) -> None:
    assert options.split(text, PARSER) == (words, code)


@pytest.mark.parametrize(
    ("text", "words", "code", "value"),
    [
        ("f(x)", [], "f(x)", False),
        ("--pprof f(x)", ["--pprof"], "f(x)", True),
        ("--pprof", ["--pprof"], "", True),
        ("--pprof -q f(x)", ["--pprof", "-q"], "f(x)", True),
        ("--pprof 'a' + b", ["--pprof"], "'a' + b", True),
        ("--pprof heap + 1", ["--pprof"], "heap + 1", True),
        ("--pprof heap.pb.gz f(x)", ["--pprof", "heap.pb.gz"], "f(x)", "heap.pb.gz"),
        ("--pprof=heap.pb.gz f(x)", ["--pprof=heap.pb.gz"], "f(x)", "heap.pb.gz"),
        ("--pprof=anything f(x)", ["--pprof=anything"], "f(x)", "anything"),
        ("--pprof='a folder/heap' f(x)", ["--pprof=a folder/heap"], "f(x)", "a folder/heap"),
        ("--pprof ../heap.prof", ["--pprof", "../heap.prof"], "", "../heap.prof"),
        ("--pprof 'a folder/heap.pprof' -q f(x)", ["--pprof", "a folder/heap.pprof", "-q"], "f(x)", ...),
        ("--pprof -- obj.prof", ["--pprof"], "obj.prof", True),
        ("--pprof obj.prof()", ["--pprof"], "obj.prof()", True),
        ("--pprof 'a.prof'.split()", ["--pprof"], "'a.prof'.split()", True),
        ("--pprof g('a.prof')", ["--pprof"], "g('a.prof')", True),
        ("--pprof save('a b.prof')", ["--pprof"], "save('a b.prof')", True),
        ("--pprof x = a.prof", ["--pprof"], "x = a.prof", True),
    ],
)
def test_a_file_that_may_be_left_out_is_never_code(text: str, words: list[str], code: str, value: object) -> None:
    parser = declared("jaxmem").parser
    assert options.split(text, parser) == (words, code)
    assert options.parse(words, parser).pprof == (words[1] if value is ... else value)


@given(st.text(max_size=60).filter(lambda text: not text.lstrip().startswith("-") and "." not in text))
def test_code_behind_an_option_without_its_file_is_untouched(code: str) -> None:
    assert options.split(f"--pprof {code}", declared("jaxmem").parser) == (["--pprof"], code.lstrip())


@pytest.mark.parametrize("text", ["--pprof= f(x)", "--pprof='' f(x)"])
def test_a_file_without_a_name_says_what_to_write(text: str) -> None:
    parser = declared("jaxmem").parser
    with pytest.raises(UsageError, match="--pprof: expected a file name, got ''; for example"):
        options.parse(options.split(text, parser)[0], parser)


@given(st.text(max_size=60).filter(lambda text: not text.lstrip().startswith("-")))
def test_code_without_options_is_untouched(code: str) -> None:
    assert options.split(code, PARSER) == ([], code.lstrip())


@given(st.sampled_from(["", "-q ", "-q -o ", "--fetch "]), st.text(max_size=60))
def test_after_two_dashes_everything_is_code(given_options: str, code: str) -> None:
    _, rest = options.split(f"{given_options}-- {code}", PARSER)
    assert rest == code.lstrip()


@pytest.mark.parametrize(
    ("text", "magic", "instead"),
    [
        ("--sweep n=1,2 f(x)", "jaxtimeit", " here. %jaxcompare has it. If it is code, write -- before it."),
        (
            "--repeat 5 f(x)",
            "jaxtime",
            " here. Write %jaxtimeit, which runs the code many times. %jaxdoctor has it.",
        ),
        ("--number 5 f(x)", "jaxmem", ". Write %jaxtimeit, which runs the code many times."),
        ("--repeat 5 f(x)", "jaxtimeit", " here. Write -r R for exactly R samples. %jaxdoctor has it."),
        ("--ignore donation f(x)", "jaxdoctor", ". Write --only RULES, or jaxmagic.testing.assert_healthy("),
        ("--read x.xplane.pb", "jaxprof", ". Write jaxmagic.read_profile('x.xplane.pb'), which reads a recording."),
    ],
)
def test_an_option_of_another_magic_is_named_there(text: str, magic: str, instead: str) -> None:
    with pytest.raises(UsageError) as raised:
        options.split(text, declared(magic).parser)
    assert f"there is no option {text.split()[0]}{instead}" in str(raised.value)


def test_an_unknown_long_option_names_the_closest() -> None:
    with pytest.raises(
        UsageError,
        match=r"no option --save here. Write -v t, and then jaxmagic.save.t, 'run.json'., or t.figure..\.savefig",
    ):
        options.split("--save run.json f(x)", declared("jaxprof").parser)
    with pytest.raises(UsageError, match="no option --nave. Options: "):
        options.split("--nave f(x)", declared("jaxprof").parser)
    with pytest.raises(UsageError, match="no option --fecth. Did you mean --fetch\\?"):
        options.split("--fecth f(x)", PARSER)


def test_an_unknown_long_option_that_resembles_none_lists_all() -> None:
    with pytest.raises(UsageError, match="Options: --all, --expect-no-compile, .*write -- before it"):
        options.split("--zzz f(x)", PARSER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--max-time soon f(x)", "expected a time with a unit .*, got 'soon'; for example 50ms"),
        ("--max-time", "--max-time: expected a time with a unit, got nothing. Write for example --max-time 50ms"),
        ("-v 3x f(x)", "expected a variable name, got '3x'"),
        ("-v class f(x)", "expected a variable name"),
        ("-v __builtins__ f(x)", "got __builtins__, which belongs to Python or IPython"),
        ("-v Out f(x)", "got Out, which belongs to Python or IPython"),
        ("--quiet=3 f(x)", "no option --quiet"),
    ],
)
def test_a_wrong_value_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        options.parse(options.split(text, PARSER)[0], PARSER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1ns", 1), ("2us", 2_000), ("2µs", 2_000), ("50ms", 50_000_000), (".5s", 500_000_000), ("1 min", 60 * 10**9)],
)
def test_durations_have_a_unit(text: str, expected: int) -> None:
    assert options.duration_ns(text) == expected


@pytest.mark.parametrize("text", ["50", "-1ms", "1h", "ms", "1e3ms", "nan s"])
def test_a_number_without_a_unit_is_no_duration(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        options.duration_ns(text)


def test_a_variable_has_the_name_that_python_gives_it() -> None:
    assert options.variable("\N{MICRO SIGN}") == "\N{GREEK SMALL LETTER MU}"


@pytest.mark.parametrize(
    ("line", "write"),
    [
        ("f(x) --budget 1s", "--budget 1s f(x)"),
        ("f(x) --budget=1s", "--budget=1s f(x)"),
        ("-n 3 y = f(x)  --device --rtol 1%", "--device --rtol 1% y = f(x)"),
        ("f('a --device') --device", "--device f('a --device')"),
    ],
)
def test_an_option_after_the_code_is_no_code(line: str, write: str) -> None:
    with pytest.raises(UsageError, match="options come before the code") as caught:
        options.split(line, declared("jaxtimeit").parser)
    assert f"Write {write}. If it is code, write -- before all of it." in str(caught.value)


@pytest.mark.parametrize(
    ("line", "write"),
    [
        ("f(x) -r 5", "-r 5 f(x)"),
        ("f(x) -n 5 -r 3", "-n 5 -r 3 f(x)"),
        ("-q y = f(x)  -v t", "-v t y = f(x)"),
        ("f(x) -qv t", "-qv t f(x)"),
        ("f(x) -r 5 --budget 1s", "-r 5 --budget 1s f(x)"),
        ("f('a -r 5') -r 5", "-r 5 f('a -r 5')"),
    ],
)
def test_a_short_option_after_the_code_is_refused_where_the_whole_is_not_python(line: str, write: str) -> None:
    with pytest.raises(UsageError, match=r"options come before the code\.") as caught:
        options.split(line, declared("jaxtimeit").parser)
    assert str(caught.value).endswith(f"Write {write}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-budget 1s f(x)", "there is no option -budget. Write --budget, with two dashes."),
        ("--n 5 f(x)", "there is no option --n. Write -n, with one dash."),
        ("--budget -1s f(x)", "--budget: expected a time above 0, got '-1s'"),
        ("--budget -1 f(x)", "--budget: expected a time with a unit (ns, us, ms, s, min), got '-1'"),
        ("-n -1 f(x)", "-n: expected a positive integer, got '-1'"),
        ("--budget=1 f(x)", "--budget: expected a time with a unit"),
        ("--budget f(x, x)", "--budget: expected a time with a unit (ns, us, ms, s, min), got 'f(x,'"),
    ],
)
def test_dashes_and_values_that_are_none_are_told(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        options.read(line, declared("jaxtimeit").parser)
    assert message in str(caught.value)


def _split(option: str, got: str, write: str) -> str:
    quotes = ", or put the value in quotes" if "," in got else ""
    return f"{option}: expected a value without spaces, got {got}. Write {option} {write}{quotes}."


@pytest.mark.parametrize(
    ("magic", "line", "message"),
    [
        ("jaxtimeit", "--device=cpu f(x)", "--device: expected no value, got 'cpu'. Write --device"),
        ("jaxmem", "--map='a b' f(x)", "--map: expected no value, got 'a b'. Write --map or --no-map"),
        ("jaxmem", "--map yes f(x)", "--map: expected no value, got 'yes'. Write --map or --no-map"),
        ("jaxtimeit", "--device False  x - 1", "--device: expected no value, got 'False'. Write --device"),
        ("jaxcompare", "--sweep m=64, 128 --budget 1s", _split("--sweep", "m=64, 128", "m=64,128")),
        ("jaxcompare", "--sweep=m=64, 128", _split("--sweep", "m=64, 128", "m=64,128")),
        ("jaxcompare", "-r 3 --sweep n=range(1, 9, 2)", _split("--sweep", "n=range(1, 9,", "n=range(1,9,2)")),
        ("jaxcompare", "--modes forward, grad", _split("--modes", "forward, grad", "forward,grad")),
        ("jaxcompare", "--sweep m=64 128 --budget 1s", _split("--sweep", "m=64 128", "m=64,128")),
        ("jaxcompare", "--sweep=m=2**6 2**7 2**8", _split("--sweep", "m=2**6 2**7", "m=2**6,2**7,2**8")),
        ("jaxcompare", "--modes forward grad --budget 1s", _split("--modes", "forward grad", "forward,grad")),
        ("jaxtime", "-verbose f(x)", "there is no option -verbose. To name the record, write -v erbose"),
        ("jaxtime", "-qvresult f(x)", "there is no option -qvresult. To name the record, write -v result"),
        ("jaxdoctor", "--only sort, layout f(x)", _split("--only", "sort, layout", "sort,layout")),
    ],
)
def test_a_value_that_an_option_does_not_take_is_told(magic: str, line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        options.read(line, declared(magic).parser)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "line", ["--map", "--map yes", "--map no + 1", "--map 1 if x else 2", "--map yes f(x", "--map True"]
)
def test_code_after_an_option_without_a_value_stays_code(line: str) -> None:
    assert options.split(line, declared("jaxmem").parser) == (["--map"], line.removeprefix("--map").strip())


@pytest.mark.parametrize("line", ["--sweep m=64,", "--sweep m=64, --budget 1s", "--sweep 'm=64, 128' --budget 1s"])
def test_a_comma_that_no_value_follows_is_kept(line: str) -> None:
    words, rest = options.split(line, declared("jaxcompare").parser)
    assert (words[1].startswith("m=64,"), rest) == (True, "")


@pytest.mark.parametrize("line", ["-budget", "-budget - x", "--n", "-n0 + 1"])
def test_what_is_code_with_minus_signs_stays_code(line: str) -> None:
    if line == "--n":
        line = "-- --n"
    assert options.split(line, declared("jaxtimeit").parser) == ([], line.removeprefix("-- "))


@pytest.mark.parametrize(
    "line",
    [
        "f(x) -r",
        "f(x) -q -r",
        "f(x) -r5",
        "f(x) - r 5",
        "f(x) -z 5",
        "f(x) -r 5 + (",
        "f(x)  # -r 5",
        "f(  # -r 5",
        "f('a -r 5",
        "!ls -r 5",
        "-- f(x) -r 5",
        "f(x) -q y z",
        "f(x) -h",
    ],
)
def test_a_minus_and_a_name_stay_code(line: str) -> None:
    words, code = options.split(line, declared("jaxtimeit").parser)
    assert (words, code) == ([], line.removeprefix("-- "))


@pytest.mark.parametrize(
    "line",
    [
        "f('a --device b')",
        "f(x)  # not --device",
        "-- f(x) --device",
        "x --other",
        "x--device",
        "f(x) - -device",
        "f(",
        "",
    ],
)
def test_what_may_be_code_stays_code(line: str) -> None:
    words, code = options.split(line, declared("jaxtimeit").parser)
    assert (words, code) == ([], line.removeprefix("-- "))


def test_a_file_with_another_ending_is_told() -> None:
    with pytest.raises(
        UsageError, match=r"--pprof: expected a file that ends in .pb.gz, .pprof or .prof, got 'out.txt'"
    ):
        options.read("--pprof out.txt f(x)", declared("jaxmem").parser)
    for line in ("--pprof f(x)", "--pprof out.attribute", "--pprof x.y + f(x)", "--pprof heap.prof f(x)"):
        assert options.read(line, declared("jaxmem").parser)[1].endswith(("f(x)", "out.attribute"))
