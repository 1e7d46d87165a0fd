"""Static arguments that hold something unhashable: the parts are named, and the advised code runs when pasted."""

from __future__ import annotations

import re
import sys
import textwrap
import types

import numpy as np
import pytest
from failing_cells import Cell

import jaxmagic
from jaxmagic.doctor.capture.failures.jit_calls import mended

CLASSES = """
import collections, dataclasses
from typing import Any, NamedTuple
@dataclasses.dataclass(frozen=True)
class Frozen:
    n: int
    taps: Any
@dataclasses.dataclass
class Loose:
    n: int
    taps: Any
class Pair(NamedTuple):
    n: int
    taps: Any
def make():
    return {"n": 3, "taps": [0.5, 0.5]}
"""

BY_KEY = """
def f(x, cfg):
    for _ in range(cfg["n"]):
        x = jnp.convolve(x, jnp.asarray(cfg["taps"]), mode="same")
    return x
"""

BY_NAME = BY_KEY.replace('cfg["n"]', "cfg.n").replace('cfg["taps"]', "cfg.taps")


def returning(text: str) -> str:
    return f"\ndef f(x, cfg):\n    return {text}\n"


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure for a short time, and let dataclasses find the module of the cell."""
    monkeypatch.setattr(mended, "_LONGEST_NS", 10**7)
    monkeypatch.setitem(sys.modules, "failing", types.ModuleType("failing"))


def cell_of(before: str, function: str, call: str, decorator: str = "", imports: str = "") -> Cell:
    classes = CLASSES.replace("@dataclasses.dataclass\n", f"{decorator}\n") if decorator else CLASSES
    jit = '@functools.partial(jax.jit, static_argnames="cfg")'
    return Cell(f"{classes}\n{imports}\n{before}\n{jit}{function}\n{call}  # here")


def pasted(code: str, before: str, function: str) -> Cell:
    """Put each part of the advised code where its comment says."""
    parts = re.split(r"(?m)^(#.*)\n", code if code.startswith("#") else f"# The call:\n{code}")[1:]
    places = dict(zip(parts[::2], parts[1::2], strict=True))
    assert {each.split()[1] for each in places} <= {"In", "The"}, places
    first = "".join(each for place, each in places.items() if place.startswith("# In f"))
    decorator = "".join(each for place, each in places.items() if place.startswith("# In place"))
    lines = places["# The call:"].splitlines()
    imports = "\n".join(each for each in lines if each.startswith("import"))
    function = function.replace("cfg):\n", f"cfg):\n{textwrap.indent(first, '    ')}")
    return cell_of(before, function, lines[-1], decorator.strip(), imports)


TEXT = "len(cfg['kind']) * x * cfg['taps'][0]"

CONVERTED = {
    "a list in a dict": ("given = {'n': 3, 'taps': [0.5, 0.5]}", BY_KEY, "given", "cfg['taps']", "a list"),
    "a literal": ("", BY_KEY, "cfg={'n': 3, 'taps': [0.5, 0.5]}", "cfg['taps']", "a list"),
    "an attribute": (
        "own = types = Frozen(1, {'n': 3, 'taps': [0.5, 0.5]})",
        BY_KEY,
        "own.taps",
        "cfg['taps']",
        "a list",
    ),
    "a dict in a dict": (
        "given = {'a': {'b': {'c': [1, 2], 's': {3}}}, 'n': 2}",
        returning("x * cfg['a']['b']['c'][1] * len(cfg['a']['b']['s']) * cfg['n']"),
        "given",
        "cfg['a']",
        "a dict",
    ),
    "a list of lists": (
        "given = [[1, 2], [3, 4]]",
        returning("x.sum() + sum(jnp.ones(each).sum() for each in cfg)"),
        "given",
        "cfg[0]",
        "a list",
    ),
    "deep lists": ("given = [[[1], [2]], [[3]]]", returning("x * cfg[0][1][0]"), "given", "cfg[0]", "a list"),
    "a list of dicts": (
        "given = [{'n': [3], 'act': 'relu'}, {'n': [4], 'act': 'tanh'}]",
        returning("[getattr(jax.nn, each['act'])(x) * each['n'][0] for each in cfg][0]"),
        "given",
        "cfg[0]",
        "a dict",
    ),
    "lists of dicts in a dict": (
        "given = {'layers': [{'o': {'n': [3]}}, {'o': {'n': [4]}}]}",
        returning("x * cfg['layers'][1]['o']['n'][0]"),
        "given",
        "cfg['layers']",
        "a list",
    ),
    "a list of unlike items": (
        "given = [3, [1, 2], {'k': 1.0}]",
        returning("x * cfg[0] + cfg[1][0] * cfg[2]['k']"),
        "given",
        "cfg[1]",
        "a list",
    ),
    "a tuple with a list": ("given = 3, [1, 2]", returning("x * cfg[0] + cfg[1][0]"), "given", "cfg[1]", "a list"),
    "a set in a dict": (
        "given = {'keep': {'a'}, 'n': 1}",
        returning("x * ('a' in cfg['keep'])"),
        "given",
        "cfg['keep']",
        "a set",
    ),
    "numbers as keys": ("given = {0: [1, 2]}", returning("x * cfg[0][1]"), "given", "cfg[0]", "a list"),
    "an array in a dict": (
        "given = {'n': 3, 'taps': np.array([0.5, 0.25], 'float32')}",
        BY_KEY,
        "given",
        "cfg['taps']",
        "an array",
    ),
    "a matrix in a dict": (
        "given = {'m': np.eye(2, dtype='float32'), 'n': 3}",
        returning("x[:2] @ cfg['m'] * cfg['n']"),
        "given",
        "cfg['m']",
        "an array",
    ),
    "a frozen dataclass": ("given = Frozen(3, [0.5, 0.5])", BY_NAME, "given", "cfg.taps", "a list"),
    "a dict in a frozen dataclass": (
        "given = Frozen(3, {'k': [0.5, 0.5]})",
        BY_NAME.replace("cfg.taps", "cfg.taps['k']"),
        "given",
        "cfg.taps",
        "a dict",
    ),
    "a frozen dataclass in a dict": (
        "given = {'a': Frozen(3, [1, 2])}",
        returning("x * cfg['a'].taps[1]"),
        "given",
        "cfg['a'].taps",
        "a list",
    ),
    "a dataclass that is made": ("", BY_NAME, "Frozen(3, taps=[0.5, 0.5])", "cfg.taps", "a list"),
    "a dataclass that is not frozen": ("given = Loose(3, [0.5, 0.5])", BY_NAME, "given", "cfg.taps", "a list"),
    "a named tuple": ("given = Pair(3, [0.5, 0.5])", BY_NAME, "given", "cfg.taps", "a list"),
    "an ordered dict": (
        "given = collections.OrderedDict(a=[3])",
        returning("x * cfg['a'][0]"),
        "given",
        "cfg['a']",
        "a list",
    ),
}


@pytest.mark.parametrize("case", CONVERTED)
def test_the_advised_code_runs_when_it_is_pasted_and_computes_the_same(case: str) -> None:
    before, function, given, part, kind = CONVERTED[case]
    cell = cell_of(before, function, f"result = f(jnp.arange(8.0), {given})")
    diagnosis = jaxmagic.explain_error(cell.error, verify=True, budget_s=600)
    (finding,) = diagnosis.findings
    verified = finding.verified
    assert verified is not None
    assert f"{part} inside of it, {kind}" in cell.said or f"because {part} is {kind}" in cell.said
    assert "or as a tuple of pairs" not in cell.said
    code = cell.finding.code
    assert code is not None
    again = pasted(code, before, function)
    assert again.error is None
    assert cell.fallback is not None
    expected = eval(cell.fallback, dict(cell.names))
    np.testing.assert_allclose(again.names["result"], expected, rtol=1e-6)
    untried = "not frozen" in case or case == "a named tuple"
    assert verified.outputs_agree is (None if untried else True), verified


@pytest.mark.parametrize("given", ["tuple(given.items())", "cfg=tuple(sorted(given.items()))"])
def test_pairs_that_hold_a_list_are_converted_and_not_their_tuple(given: str) -> None:
    before = "given = {'n': 3, 'taps': [0.5, 0.5]}"
    cell = cell_of(before, BY_KEY, f"result = f(jnp.arange(8.0), {given})")
    assert "because given['taps'] is a list" in cell.said
    assert "Make tuple hashable" not in cell.said
    assert cell.fallback is None, "the function reads a dictionary, so it fails without jit as well"
    again = pasted(cell.finding.code or "", before, BY_KEY)
    assert again.error is None
    expected = again.names["f"].__wrapped__(again.names["jnp"].arange(8.0), again.names["given"])
    np.testing.assert_allclose(again.names["result"], expected, rtol=1e-6)


def test_a_function_that_reads_pairs_gets_pairs() -> None:
    before = "given = {'n': 3, 'taps': [0.5, 0.5]}"
    function = BY_KEY.replace("    for", "    cfg = dict(cfg)\n    for")
    cell = cell_of(before, function, "result = f(jnp.arange(8.0), tuple(given.items()))")
    assert cell.finding.code == (
        "result = f(jnp.arange(8.0), tuple({**given, 'taps': tuple(given['taps'])}.items()))"
    )
    assert pasted(cell.finding.code, before, function).error is None


@pytest.mark.parametrize(
    ("function", "given", "why"),
    [
        (BY_KEY, "{'n': 3, 'taps': [1.0]}", "cfg has to stay static, because range(cfg['n']) needs a Python value: "),
        (returning(TEXT), "{'kind': 'relu', 'taps': [1.0]}", "because cfg['kind'] (str) cannot be traced: "),
        (
            returning("x * cfg['taps'][0] if 'taps' in cfg else x"),
            "{'taps': [1.0]}",
            "If cfg holds nothing but arrays and numbers to compute with, leave it an ordinary argument. If it",
        ),
        (
            returning("x * cfg['n'] if cfg['taps'][0] else x"),
            "{'n': 3, 'taps': [1.0]}",
            "because cfg['taps'][0] needs a Python value: ",
        ),
        (BY_KEY, "make()", "because range(cfg['n']) needs a Python value: pass it as a tuple of pairs"),
    ],
)
def test_why_an_argument_has_to_stay_static_is_said_where_it_is_known(function: str, given: str, why: str) -> None:
    cell = cell_of("", function, f"f(jnp.arange(8.0), {given})")
    assert why in cell.said
    assert ("leave it an ordinary argument" in cell.said) is why.startswith("If")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "{'n': 3, 'taps': jnp.ones(2)}",
            "cfg['taps'] cannot be hashed, also not inside of a tuple or a frozen dataclass. If it is data, pass it "
            "as an argument of its own, which is not static, and cfg without it.",
        ),
        ("{'n': 3, 'taps': np.ones(1000)}", "cfg['taps'] cannot be hashed"),
        ("collections.defaultdict(list, n=3, taps=[1.0])", "cfg['taps'] as a tuple."),
        ("make()", "What it holds has to be hashable, too: a tuple in place of each list."),
    ],
)
def test_what_is_not_converted_mechanically_is_named_without_code(given: str, said: str) -> None:
    cell = cell_of(f"given = {given}", BY_KEY, f"f(jnp.arange(8.0), {'make()' if given == 'make()' else 'given'})")
    assert said in cell.said
    assert cell.finding.code is None
