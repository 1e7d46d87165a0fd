"""Of the variables around a function that it assigns, those that jit leaves traced values in are said to be so."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.doctor.rules.host.jitting.rebound import rebound
from jaxmagic.doctor.rules.host.syntax import Function
from jaxmagic.doctor.rules.rewriting.syntax import tree_of
from jaxmagic.records.note import note

AROUND = """\
import math, time
import numpy as np
import jax
import jax.numpy as jnp
v, decay, rates, scale = 0.1, 0.9, [0.1, 0.2], jnp.ones((2, 3))
step = jax.jit(lambda x: (x + 1, jnp.sum(x)))
def halved(v): return v / 2
class Config: rate = 0.5
"""


def facts_of(body: str, folder: Path, around: str = AROUND) -> tuple[dict[str, Any], Any]:
    """Return the facts about a function of ``x``, and the variable ``v`` after the function ran under jit."""
    text = f"{around}def run(x):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n    return x\n"
    file = folder / "train.py"
    file.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), names)
    jax.jit(names["run"])(jnp.ones(3))
    return facts_in(file), names["v"]


def outcome(body: str, folder: Path) -> tuple[dict[str, Any], bool]:
    """Return the facts about a function that assigns ``v``, and whether jit has left a traced value there."""
    facts, v = facts_of(f"global v\n{body}", folder)
    return facts, isinstance(v, jax.core.Tracer)


def facts_in(file: Path) -> dict[str, Any]:
    """Return the facts about the function ``run`` of a file."""
    tree = tree_of(str(file))
    assert tree is not None
    (function,) = [each for each in ast.walk(tree) if isinstance(each, Function) and each.name == "run"]
    return dict(rebound(function, str(file), ()))


@pytest.mark.parametrize(
    "body",
    [
        "v = 0.1\nfor i in range(3):\n    x, loss = step(x)\n    v *= 0.9",
        "v *= decay",
        "for i in range(3):\n    v = v * decay ** i",
        "v = len(x) + x.shape[0] / x.ndim",
        "v = math.exp(-decay) if v > 0.05 else max(v, decay)",
        "v = time.perf_counter()",
        "v = [1, 2]\nv.append(3)",
        "for i, rate in enumerate(rates):\n    v = rate * i",
        "for rate, i in zip(rates, range(2)):\n    v = rate * i",
        "v, y = v + 1, x",
        "v = float(np.mean(rates))",
        "v = x is None or 'x' in {'x': x}",
        "v = f'{x}'",
        "v = 'a'.join(['b', 'c'])",
        "v += 1",
        "v = scale",
        "v = Config",
        "v = decay * np.pi",
        "v = sum(each for each in rates)",
    ],
)
def test_what_python_computes_is_not_called_traced(body: str, tmp_path: Path) -> None:
    assert outcome(body, tmp_path) == ({"rebinds": "v"}, False)


@pytest.mark.parametrize(
    "body",
    [
        "v = x",
        "v = v * x.sum()",
        "v = jnp.sin(v)",
        "v *= scale",
        "x, v = step(x)",
        "y = x.sum()\nz = y\nv = 0.1\nif decay:\n    v = z",
        "for i in range(2):\n    v = v + (x if i else 0.0)",
        "for v in x: pass",
        "v = halved(x)",
        "v = x > 0",
        "v = -x",
        "v = max(rates) * x[0]",
        "def inner(): return x\nv = inner()",
        "v = scale.T",
        "(v := x + 1)",
        "from contextlib import nullcontext\nwith nullcontext(x) as v: pass",
        "y = z = 0.0\nfor i in range(3):\n    v = z\n    z = y\n    y = x",
        "y = x * 2\nv = y if decay else 1.0",
    ],
)
def test_what_is_computed_from_arrays_may_be_traced(body: str, tmp_path: Path) -> None:
    assert outcome(body, tmp_path) == ({"rebinds": "v", "traced": "v"}, True)


def test_containers_may_hold_traced_values(tmp_path: Path) -> None:
    facts, v = facts_of("global v\nv = []\nv.append(x)", tmp_path)
    assert isinstance(v[0], jax.core.Tracer)
    assert facts["traced"] == "v"


def test_a_variable_that_is_only_read_is_not_assigned(tmp_path: Path) -> None:
    facts, _ = facts_of("global v, decay\nv = v + decay", tmp_path)
    assert facts == {"rebinds": "v"}


@pytest.mark.parametrize(("first", "traced"), [("0.1", None), ("start", "v"), ("jnp.ones(())", "v")])
def test_what_an_enclosing_function_assigned_counts(first: str, traced: str | None, tmp_path: Path) -> None:
    around = f"{AROUND}def outer(start):\n    v = {first}\n"
    text = f"{around}    def run(x):\n        nonlocal v\n        v = v * 0.9\n        return x * v\n    return run\n"
    file = tmp_path / "train.py"
    file.write_text(text)
    assert facts_in(file).get("traced") == traced


def test_what_another_function_assigns_counts(tmp_path: Path) -> None:
    other = "def reset():\n    global v\n    v = jnp.ones(())\n"
    facts, _ = facts_of("global v\nv *= 0.9", tmp_path, AROUND + other)
    assert facts == {"rebinds": "v", "traced": "v"}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"rebinds": "v"}, "traces: pass it as an argument, and return the new one."),
        ({"rebinds": "v", "traced": "v"}, "traces, and could be a traced value afterwards: pass it as an argument"),
        ({"rebinds": "v, w", "traced": "w"}, "traces, and w could be a traced value afterwards: pass them as argum"),
        ({"rebinds": "v, w", "traced": "v, w"}, "traces, and could be traced values afterwards: pass them as argum"),
    ],
)
def test_only_traced_values_are_said_to_be(facts: dict[str, str], words: str) -> None:
    told = str(note("doctor.not_jitted_remedy", way="group", function="run", outer="", **facts))
    assert f"Under jit, {facts['rebinds']} would be assigned only while JAX {words}" in told
