"""The functions that a function runs are found by the objects that it calls, or by their names."""

from __future__ import annotations

import ast
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.capture.library_names import library_names
from jaxmagic.doctor.record.evidence import Evidence, FunctionShare, HostWait
from jaxmagic.doctor.rules.host.functions.functions_run import calls_unknown, functions_run, waits_in
from jaxmagic.doctor.rules.host.jitting.advice import remedy_at
from jaxmagic.doctor.rules.rewriting.jit.obstacles import obstacles
from jaxmagic.records.call_stack import Frame

#: Helpers of all kinds; each line makes one that computes, or that reads a value.
HELPERS = """
import functools, jax, jax.numpy as jnp
import helping
class Meter:
    @staticmethod
    def running(v): return {body}
    @classmethod
    def of(cls, v): return {body}
class Smooth:
    def __init__(self, d): self.d = d
    def __call__(self, v): return self.d * {body}
    def method(self, v): return self.d * {body}
class Proxy:
    def method(self, v): return v
    def __getattr__(self, name): return float
def plain(v): return {body}
def through(v): return Meter.running(v)
smooth, proxy = Smooth(2.0), Proxy()
arrow = lambda v: {body}
part, alias = functools.partial(plain), plain
hooks = {{"m": plain}}
"""

CALLS = (
    *("plain(x)", "Meter.running(x)", "Meter.of(x)", "smooth(x)", "smooth.method(x)", "arrow(x)", "part(x)"),
    *("alias(x)", "hooks['m'](x)", "hooks.get('m')(x)", "helping.deeper.away(x)", "through(x)"),
)


@pytest.fixture
def evidence(timing: Any) -> Evidence:
    return Evidence(code="f(x)", first=timing(), observed=timing())


def advised(path: Path, evidence: Evidence, monkeypatch: Any, call: str, body: str) -> str | None:
    """Return the code for a function that calls a helper, after the objects behind its names have been read."""
    away, file = path / "away.py", path / "program.py"
    away.write_text(f"def away(v):\n    return {body}\n")
    file.write_text(HELPERS.format(body=body) + f"def f(x):\n    return jnp.tanh(x) + {call}\n")
    helping, deeper = types.ModuleType("helping"), types.ModuleType("helping.deeper")
    monkeypatch.setitem(sys.modules, "helping", helping)
    helping.__dict__["deeper"] = deeper
    exec(compile(away.read_text(), str(away), "exec"), deeper.__dict__)
    held: dict[str, Any] = {"__name__": "program"}
    exec(compile(file.read_text(), str(file), "exec"), held)
    last = len(file.read_text().splitlines())
    names = library_names("f(x)", {"f": held["f"]})
    return remedy_at(Frame(function="f", file=str(file), line=last), 100, replace(evidence, names=names))[1]


@pytest.mark.parametrize("call", CALLS)
def test_a_helper_that_reads_a_value_is_found_wherever_it_is(
    tmp_path: Path, evidence: Evidence, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    assert advised(tmp_path, evidence, monkeypatch, call, "float(v)") is None


@pytest.mark.parametrize("call", CALLS)
def test_a_helper_that_computes_is_jitted_with_its_caller(
    tmp_path: Path, evidence: Evidence, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    assert advised(tmp_path, evidence, monkeypatch, call, "jnp.sin(v)") == "f = jax.jit(f)"


@pytest.mark.parametrize(
    ("call", "code"),
    [("proxy.other(x)", None), ("proxy.method(x)", "f = jax.jit(f)"), ("proxy.other", "f = jax.jit(f)")],
)
def test_there_is_no_code_where_it_is_unknown_what_a_call_runs(
    tmp_path: Path, evidence: Evidence, monkeypatch: pytest.MonkeyPatch, call: str, code: str | None
) -> None:
    assert advised(tmp_path, evidence, monkeypatch, call, "jnp.sin(v)") == code


def function_in(file: Path, source: str) -> ast.FunctionDef:
    file.write_text(source)
    function = ast.parse(source).body[-1]
    assert isinstance(function, ast.FunctionDef)
    return function


def test_functions_that_are_called_by_name_are_read_as_well(tmp_path: Path, evidence: Evidence) -> None:
    file, other = tmp_path / "program.py", tmp_path / "other.py"
    other.write_text("def away(x):\n    return x[x > 0]\n")
    function = function_in(
        file,
        "def noise(x):\n    return x + np.random.normal()\n"
        "@jax.jit\ndef jitted(x):\n    return x\n"
        "def f(x):\n    return away(jitted(noise(x)))\n",
    )
    share = FunctionShare(function=Frame(function="away", file=str(other), line=1), called="", samples=1, time_ns=1)
    functions = functions_run(function, str(file), replace(evidence, functions=(share,)))
    assert [each.name for each, _ in functions] == ["f", "away", "noise"]
    assert [each.kind for each in obstacles(functions)] == ["mask", "random"]
    assert not calls_unknown(functions, evidence)


def test_a_wait_is_of_all_functions_that_led_to_it(tmp_path: Path, evidence: Evidence) -> None:
    file = tmp_path / "program.py"
    function = function_in(file, "def f(x):\n    return hook(x)\n")
    inner = Frame(function="hook", file="other.py", line=9)
    wait = HostWait(line=inner, function="__float__", library=None, count=1, wait_ns=0)
    outer = replace(wait, stack=(inner, Frame(function="f", file=str(file), line=2)))
    assert waits_in([(function, str(file))], replace(evidence, waits=(wait, outer))) == [outer]


@pytest.mark.parametrize(
    ("source", "kept", "code"),
    [
        ("params = {'w': jnp.ones(3)}\ndef f(x):\n    return jnp.tanh(x @ params['w'])\n", "params", True),
        ("w = jnp.ones(3)\ndef g(x):\n    return x @ w\ndef f(x):\n    return jnp.tanh(g(x))\n", "w", True),
        ("rate, names = 0.1, ['a']\ndef f(x):\n    return jnp.tanh(x) * rate\n", "", True),
        ("w, x = jnp.ones(3), jnp.ones(3)\ndef f():\n    return jnp.tanh(x) @ w\n", "w, x", False),
    ],
)
def test_arrays_that_a_function_reads_from_outside_are_named(
    tmp_path: Path, evidence: Evidence, source: str, kept: str, code: bool
) -> None:
    """Under jit, they keep what they were in the first call; without any argument, the result is computed once."""
    file = tmp_path / "program.py"
    file.write_text(f"import jax, jax.numpy as jnp\n{source}")
    held: dict[str, Any] = {"__name__": "program"}
    exec(compile(file.read_text(), str(file), "exec"), held)
    names = library_names("f(x)", {"f": held["f"]})
    line = Frame(function="f", file=str(file), line=len(file.read_text().splitlines()))
    remedy, written = remedy_at(line, 100, replace(evidence, names=names))
    assert (written == "f = jax.jit(f)") == code
    assert (f"Under jit, {kept} " in str(remedy)) == bool(kept)
    assert ("the first call" in str(remedy)) == bool(kept)


@pytest.mark.parametrize(("attribute", "code"), [("value", None), ("T", "f = jax.jit(f)")])
def test_a_member_of_an_enumeration_is_nothing_that_jit_takes(
    tmp_path: Path, evidence: Evidence, attribute: str, code: str | None
) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"import jax, jax.numpy as jnp\ndef f(x, kind):\n    return jnp.tanh(x) * kind.{attribute}\n")
    line = Frame(function="f", file=str(file), line=3)
    assert remedy_at(line, 100, evidence)[1] == code
