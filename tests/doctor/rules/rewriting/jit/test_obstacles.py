"""What jit would run once, or cannot compile, is named in the advice to jit; JAX's own ways are not."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import Evidence, HostWait, LibraryNames
from jaxmagic.doctor.rules.host.jitting.advice import advice_for, remedy_at
from jaxmagic.doctor.rules.rewriting.jit.obstacles import obstacles, sized_by_values
from jaxmagic.doctor.rules.rewriting.meanings import imports_in
from jaxmagic.records.call_stack import Frame


@pytest.fixture
def evidence(timing: Any) -> Evidence:
    return Evidence(code="f(x)", first=timing(), observed=timing())


def found_in(path: Path, body: str, head: str = "", parameters: str = "x") -> list[tuple[str, str]]:
    """Return the obstacles in a function with this body."""
    file = path / "program.py"
    file.write_text(f"{head}\ndef f({parameters}):\n    {body}\n")
    tree = ast.parse(file.read_text())
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    return [(each.kind, each.text) for each in obstacles([(function, str(file))])]


@pytest.mark.parametrize(
    ("body", "head", "found"),
    [
        ("return x + np.random.normal(size=3)", "import numpy as np", [("random", "np.random.normal")]),
        ("return x + np.random.normal(size=3)", "", [("random", "np.random.normal")]),  # imported in another cell
        ("return x * random.random()", "import random", [("random", "random.random")]),
        ("return x * random.uniform(0, 1)", "", [("random", "random.uniform")]),
        ("return x * uniform(a, b)", "from random import uniform", [("random", "uniform")]),
        ("return x + rng.normal(size=3)", "", [("random", "rng.normal")]),
        ("return x + draws.normal(size=3)", "draws = np.random.default_rng(0)", [("random", "draws.normal")]),
        ("return x + self.rng.normal(size=3)", "", [("random", "self.rng.normal")]),
        ("return x * time.time()", "", [("once", "time.time")]),
        ("return x * now()", "from time import perf_counter as now", [("once", "now")]),
        ("return x * float(input('scale? '))", "", [("once", "input")]),
        ("return datetime.now(), x", "from datetime import datetime", [("once", "datetime.now")]),
        ("return x * next(ticket)", "", [("once", "next(ticket)")]),
        ("count = iter([x, 2 * x]); return next(count)", "", []),
        ("return x[x > 0].mean()", "", [("mask", "x[x > 0]")]),
        ("return x[~(x < 0)]", "", [("mask", "x[~(x < 0)]")]),
        ("return x[(x > 0) & (x < 1)]", "", [("mask", "x[(x > 0) & (x < 1)]")]),
        ("return x[jnp.isnan(x)]", "", [("mask", "x[jnp.isnan(x)]")]),
        ("mask = x > 0; return x[mask, 0]", "", [("mask", "x[mask, 0]")]),
        ("return x.at[x > 0].set(0.0)", "", [("mask", "x.at[x > 0]")]),
        ("return jnp.nonzero(x)", "", [("size", "jnp.nonzero")]),
        ("return x.nonzero()", "", [("size", "x.nonzero")]),
        ("return jnp.unique(x, return_counts=True)", "", [("size", "jnp.unique")]),
        ("return jnp.where(x > 0)", "", [("size", "jnp.where")]),
        ("return unique(x)", "from jax.numpy import unique", [("size", "unique")]),
        ("return jnp.bincount(x)", "", [("size", "jnp.bincount")]),
        ("return jnp.repeat(x, counts)", "", [("size", "jnp.repeat")]),
    ],
)
def test_what_jit_would_run_once_or_cannot_compile(
    tmp_path: Path, body: str, head: str, found: list[tuple[str, str]]
) -> None:
    assert found_in(tmp_path, body, head) == found


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("return x + random.normal(key, x.shape)", "from jax import random"),
        ("return x + random.normal(key, x.shape)", ""),
        ("return x + random.uniform(key, x.shape)", ""),
        ("return x + random.choice(key, x)", ""),
        ("return x + jax.random.uniform(key)", "import jax"),
        ("return x + jr.uniform(key)", "import jax.random as jr"),
        ("return x + normal(key)", "from jax.random import normal"),
        ("rng, key = jax.random.split(rng); return x", ""),
        ("return x.at[i].set(0.0)", ""),
        ("return x[i], x[1:], x[..., None]", ""),
        ("mask = x > 0; mask = jnp.argmax(mask); return x[mask]", ""),
        ("return jnp.nonzero(x, size=3), jnp.unique(x, size=3), jnp.where(x > 0, x, 0)", ""),
        ("return jnp.where(x > 0, size=3), jnp.bincount(x, length=3)", ""),
        ("return jnp.repeat(x, 3), jnp.repeat(x, counts, total_repeat_length=9)", ""),
        ("return np.unique(names)", ""),
        ("return time.sleep", ""),
        ("return self.normal(x), x.sum()", ""),
        ("draw = lambda: np.random.normal(); return x", ""),  # may never be called
        ("rng = np.random.default_rng(0); return x", ""),  # draws nothing
    ],
)
def test_what_works_under_jit_is_left_alone(tmp_path: Path, body: str, head: str) -> None:
    assert found_in(tmp_path, body, head) == []


def test_imports_tell_the_modules() -> None:
    tree = ast.parse("import numpy as np, jax.numpy\nfrom jax import random as r\nfrom time import time")
    assert imports_in(tree) == {"np": "numpy", "jax": "jax", "r": "jax.random", "time": "time.time"}


def advised(
    path: Path, evidence: Evidence, source: str, marked: str = "# here", count: int = 100, wait: str = "__float__"
) -> tuple[str, str | None]:
    """Return the advice for a line with a mark; the line with "# waits" waited."""
    file = path / "program.py"
    file.write_text(source)
    lines = source.splitlines()
    name = lines[0].removeprefix("def ").partition("(")[0]
    frame = Frame(function=name, file=str(file), line=next(n for n, line in enumerate(lines, 1) if marked in line))
    waits = [
        HostWait(line=replace(frame, line=number), function=wait, library=None, count=9, wait_ns=1)
        for number, line in enumerate(lines, 1)
        if "# waits" in line
    ]
    advice, code = remedy_at(frame, count, replace(evidence, waits=tuple(waits)))
    return str(advice), code


def test_a_function_that_only_computes_is_to_be_jitted(tmp_path: Path, evidence: Evidence) -> None:
    source = "def f(x):\n    return jnp.sin(x) # here\n"
    assert advised(tmp_path, evidence, source) == ("Compile f as one program.", "f = jax.jit(f)")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("return x + np.random.normal()", "np.random.normal would draw only once"),
        ("return x * time.time()", "time.time would run only once"),
        ("return x[x > 0].mean()", "x[x > 0] fails under jit"),
        ("return jnp.nonzero(x)", "jnp.nonzero fails under jit without size="),
        ("return jnp.bincount(x)", "jnp.bincount fails under jit without length="),
    ],
)
def test_obstacles_are_named_and_no_code_is_offered(
    tmp_path: Path, evidence: Evidence, line: str, words: str
) -> None:
    advice, code = advised(tmp_path, evidence, f"def f(x):\n    {line} # here\n")
    assert advice.startswith("Put these operations into a function under jax.jit.")
    assert words in advice
    assert code is None


WHILE = "def solve(x):\n    err = 1.0\n    while float(err) > 1e-6: # waits\n        x, err = step(x) # here\n"
BREAK = (
    "def solve(x):\n    for _ in range(1000):\n        x, err = step(x) # here\n"
    "        if err < 1e-6: # waits\n            break\n"
)
LATER = (
    "def solve(x):\n    for _ in range(1000):\n        x, err = step(x) # here\n"
    "        size = float(err) # waits\n        if size < 1e-6:\n            return x\n"
)


@pytest.mark.parametrize(("source", "wait"), [(WHILE, "__float__"), (BREAK, "__bool__"), (LATER, "__float__")])
@pytest.mark.parametrize("count", [50, 5000])
def test_a_loop_that_values_end_is_no_scan(
    tmp_path: Path, evidence: Evidence, source: str, wait: str, count: int
) -> None:
    advice, code = advised(tmp_path, evidence, source, count=count, wait=wait)
    assert advice.startswith("Values of arrays decide when the loop in solve ends")
    assert "jax.lax.while_loop" in advice
    assert "scan" not in advice
    assert ("so jit cannot compile it as it is" in advice) is (code is None)
    assert code is None or "return jax.lax.while_loop(goes_on, body, (err, x))" in code.splitlines()[-3]


DRAWN = (
    "def walk(x):\n    for _ in range(9):\n        e = np.random.normal(size=3)\n        x = jnp.sin(x) * e # here\n"
    "        s = float(x.sum()) # waits\n        if s > 9:\n            print(s)\n        x = jnp.cos(x) / 2\n"
    "    return x\n"
)


@pytest.mark.parametrize("count", [50, 5000])
def test_caveats_of_code_for_a_round_are_about_that_code(tmp_path: Path, evidence: Evidence, count: int) -> None:
    assert "np.random.normal would draw only once" in advised(tmp_path, evidence, DRAWN, count=count)[0]
    waits = (HostWait(line=at(tmp_path, 5), function="__float__", library=None, count=9, wait_ns=1),)
    found = advice_for(at(tmp_path, 4), count, replace(evidence, waits=waits))
    assert found.code is not None
    assert found.code.count("@jax.jit") == 2
    assert str(found.remedy) == (
        "In each round of the loop in walk, call 2 jitted functions in place of the lines that compute. Where jit "
        "can compile a whole round, jax.lax.scan over it spares these calls as well. Code that reads values "
        "of arrays, such as float() and print(), stays outside."
    )


def at(path: Path, line: int) -> Frame:
    return Frame(function="walk", file=str(path / "program.py"), line=line)


CHOICE = (
    "def sample(x):\n    i = 0\n    while i < 1000:\n        y, odds = propose(x) # here\n"
    "        if odds > 0.5: # waits\n            x = y\n        i += 1\n"
)
RECORD = (
    "def train(x):\n    for _ in range(1000):\n        x = step(x) # here\n        losses.append(float(x)) # waits\n"
)


def test_a_choice_between_arrays_is_a_where(tmp_path: Path, evidence: Evidence) -> None:
    advice, code = advised(tmp_path, evidence, CHOICE, count=5000, wait="__bool__")
    assert advice.startswith("Put the body of the loop in sample into a function under jax.jit")
    assert "A condition on an array becomes jnp.where or jax.lax.cond there" in advice
    assert code is None


@pytest.mark.parametrize("count", [50, 5000])
@pytest.mark.parametrize("value", ["yield jnp.sin(x[i:]) # here", "x = yield from each(x) # here"])
def test_a_generator_is_not_jitted(tmp_path: Path, evidence: Evidence, value: str, count: int) -> None:
    source = f"def batches(x):\n    i = 0\n    while True:\n        {value}\n        i += 1\n"
    advice, code = advised(tmp_path, evidence, source, count=count)
    assert (advice, code) == (
        "batches contains yield, so jit cannot compile it. Put what computes one of its values into a function under "
        "jax.jit, and yield outside of that.",
        None,
    )


@pytest.mark.parametrize("count", [50, 5000])
def test_reading_values_stays_outside(tmp_path: Path, evidence: Evidence, count: int) -> None:
    advice, code = advised(tmp_path, evidence, RECORD, count=count)
    assert "Code that reads values of arrays, such as float() and print(), stays outside." in advice
    assert code is None


def test_a_function_made_in_another_one_is_to_be_defined_outside(tmp_path: Path, evidence: Evidence) -> None:
    source = "def sample():\n    def logp(x):\n        return -x * x # here\n    return logp(jnp.ones(3))\n"
    advice, code = advised(tmp_path, replace(evidence, code="sample()"), source)
    assert advice.startswith("Compile logp as one program: define it outside of sample, and jit it once.")
    assert code is None
    direct, code = advised(tmp_path, replace(evidence, code="logp(x)"), source)
    assert (direct, code) == ("Compile logp as one program.", "logp = jax.jit(logp)")


def test_a_variable_that_the_code_assigns_is_to_be_passed(tmp_path: Path, evidence: Evidence) -> None:
    """Under jit, its first value would be a part of the program."""
    source = "def f(x):\n    return jnp.sin(x) * rate # here\n"
    advice, code = advised(tmp_path, replace(evidence, code="for rate in (1, 2): f(x)"), source)
    assert code is None
    assert "Under jit, rate would keep the value of the first call: pass it as an argument." in advice
    assert advised(tmp_path, replace(evidence, code="for other in (1, 2): f(x)"), source)[1] == "f = jax.jit(f)"


@pytest.mark.parametrize(
    ("statement", "method"),
    [
        ("seen.append(x.shape)", "seen.append"),
        ("counts.update(f=1)", "counts.update"),
        ("seen.append(len(seen))", ""),
    ],
)
def test_a_list_that_is_only_filled_is_not_to_be_passed(
    tmp_path: Path, evidence: Evidence, statement: str, method: str
) -> None:
    """As an argument, it would be a copy; filled outside, it is what it was."""
    source = f"def f(x):\n    {statement}\n    return jnp.sin(x) # here\n"
    advice, code = advised(tmp_path, replace(evidence, code=f"f(x); {statement}"), source)
    assert code is None
    assert (f"Under jit, {method} would run only once, while JAX traces: call it outside" in advice) == bool(method)
    assert ("pass it as an argument" in advice) == (not method)


def test_a_model_is_jitted_where_it_is_called(tmp_path: Path, evidence: Evidence) -> None:
    source = (
        "class Net(nn.Module):\n    def __call__(self, x):\n        for _ in range(3):\n"
        "            x = nn.Dense(3)(x) # here\n        return x\n"
    )
    advice, code = advised(tmp_path, evidence, source, count=500)
    assert advice.startswith("Jit the whole call of the model that __call__ belongs to, once: jax.jit(model.apply)")
    assert code is None


def test_a_mask_that_waits_is_no_reading_of_values(tmp_path: Path, evidence: Evidence) -> None:
    advice, _ = advised(tmp_path, evidence, "def f(x):\n    return x[x > 0].mean() # here, waits # waits\n")
    assert "float and print" not in advice


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("c = jnp.stack([pts[a == k].mean(0) for k in range(4)])", "pts[a == k]"),
        ("c = jnp.unique(labels)", "jnp.unique"),
        ("c = jnp.concatenate([c, x])", None),
    ],
)
def test_a_line_whose_sizes_depend_on_values(tmp_path: Path, line: str, found: str | None) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"def f(pts, a):\n    {line}\n")
    obstacle = sized_by_values(Frame(function="f", file=str(file), line=2))
    assert (None if obstacle is None else obstacle.text) == found


@pytest.mark.parametrize(
    ("body", "paths", "found"),
    [
        ("return x + draw(size=3)", {"draw": "numpy.random.normal"}, [("random", "draw")]),
        ("return x + source.normal(size=3)", {"source": "numpy.random"}, [("random", "source.normal")]),
        ("return x * clock()", {"clock": "time.perf_counter"}, [("once", "clock")]),
        ("return indices(x)", {"indices": "jax.numpy.nonzero"}, [("size", "indices")]),
        ("return x * random.random()", {"random": ""}, []),
        ("random = x; return random.random()", {}, []),
    ],
)
def test_objects_behind_names_count(
    tmp_path: Path, body: str, paths: dict[str, str], found: list[tuple[str, str]]
) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"def f(x):\n    {body}\n")
    function = ast.parse(file.read_text()).body[0]
    names = LibraryNames(function=Frame(function="f", file=str(file), line=1), paths=tuple(paths.items()))
    assert [(each.kind, each.text) for each in obstacles([(function, str(file))], (names,))] == found
