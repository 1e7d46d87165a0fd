"""A loop that only calls a jitted function computes the same as the one call that is written for it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.rules.rewriting.loops.scanned_loop import scanned_loop
from jaxmagic.doctor.rules.rewriting.rewritten import INSTEAD
from jaxmagic.records.call_stack import Frame

DEFINITIONS = """
@jax.jit
def step(w, x):
    return w - 0.1 * x, jnp.sum(w), jnp.max(x)
move = jax.jit(lambda w, x: w + x)
"""

#: Bodies of loops that are written as one call.
LOOPS = [
    "for _ in range(5):\n    w = move(w, x)",
    "for _ in range(n):\n    w = move(w, x)",
    "for i in range(len(x) + 1):\n    w, loss, top = step(w, x)",
    "for i in range(n):\n    w, loss, top = step(w, x)\n    losses.append(loss)",
    "for i in range(n):\n    w, loss, top = step(w, x)\n    losses.append(float(top))",
    "for i in range(2 * n):\n    w, loss, top = step(w, x)\n    losses.append(loss.item())",
    "for i in range(n):\n    w, loss, top = step(w, x)\n    losses.append(1)\n    losses.append(float(top))",
    "for i in range(n):\n    w, loss, top = step(w, x)\n    if loss < 0 or i % 2:\n        losses.append(i)",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    print(top, f'{loss:.3f}')",
    "for i in range(n):\n    w = move(w, x)\n    print(i)",
    "for i in range(n):\n    w, loss, top = step(w, x)\n    losses.append(jax.device_get(loss))",
    "for _ in range(n):\n    w = move(w, x)\n    losses.append(jax.device_get(w))",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    losses.append(np.asarray(w))\n    print(w, top)",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    losses.append(float(jax.device_get(loss)))",
]

#: Bodies of loops that do more, or something else.
OTHERS = [
    "for i in range(n):\n    w = move(w, i)",
    "for i in range(2, n):\n    w = move(w, x)",
    "for x in xs:\n    w = move(w, x)",
    "for _ in range(n):\n    y = move(w, x)",
    "for _ in range(n):\n    w = move(w, x + 1)",
    "for i in range(n):\n    w = move(w, x)\n    if i % 3 == 0:\n        print(w)",
    "for _ in range(n):\n    w = move(w, x)\n    w.append(jax.device_get(x))",
    "for _ in range(n):\n    w = move(w, x)\n    losses.append(jax.device_get(x))",
    "for _ in range(n):\n    w = move(w, x)\n    losses.append(fetch.device_get(w))",
    "for _ in range(n):\n    w = move(w, x)\n    losses.append([jax.device_get(w), w])",
    "for _ in range(n):\n    w = move(w, x)\n    losses.append(w)",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    losses.append(loss + 1)",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    losses.append(loss)\n    tops.append(top)",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    losses.append(max(loss, 0))",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    print([loss])",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    print(f'{loss=}')",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    losses.append(str((loss, top)))",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    save(float(loss))",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    print(float(loss), x)",
    "for _ in range(len(x)):\n    w, loss, top = step(w, x)\n    print(float(loss))",
    "for _ in range(n):\n    w, loss, top = step(w, x)\n    if float(loss) < 0:\n        break",
    "for _ in range(n):\n    w = move(w, x)\nelse:\n    w = w + 1",
    "while n:\n    w = move(w, x)",
    "w = move(w, x)",
]


def written(folder: Path, loop: str, before: str = "") -> str | None:
    source = (
        f"{DEFINITIONS}def train(w, x, n, losses):\n{textwrap.indent(before + loop, '    ')}\n    return w, losses\n"
    )
    file = folder / "train.py"
    file.write_text(source)
    called = "step" if "step(" in loop else "move"
    line = next(
        number for number, each in enumerate(source.splitlines(), 1) if f" = {called}(w" in each and number > 6
    )
    return scanned_loop(Frame(function="train", file=str(file), line=line))


@pytest.mark.parametrize("loop", LOOPS)
def test_one_call_computes_what_the_loop_does(tmp_path: Path, loop: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = written(tmp_path, loop)
    assert code is not None
    beside, _, instead = code.partition(f"{INSTEAD}\n")
    assert ("static_argnames='length'" in beside) is ("range(5)" not in loop)
    found = []
    for definitions, body in (("", loop), (beside, instead)):
        source = f"{DEFINITIONS}{definitions}\ndef train(w, x, n, losses):\n{textwrap.indent(body, '    ')}\n"
        names: dict[str, Any] = {"jax": jax, "jnp": jnp, "np": np}
        exec(f"{source}    return {{**locals()}}\n", names)
        found.append(names["train"](jnp.ones(3), jnp.arange(3.0), 4, []) | {"printed": capsys.readouterr().out})
    assert found[0]["printed"] == found[1]["printed"]
    assert {type(each) for each in found[0]["losses"]} == {type(each) for each in found[1]["losses"]}
    assert isinstance(found[1]["w"], jax.Array)
    for name in ("w", "losses", *({"loss", "top"} & found[0].keys())):
        np.testing.assert_allclose(found[1][name], found[0][name], rtol=1e-6)


@pytest.mark.parametrize("loop", OTHERS)
def test_a_loop_that_does_something_else_is_left_alone(tmp_path: Path, loop: str) -> None:
    assert written(tmp_path, loop) is None


@pytest.mark.parametrize(("name", "is_written"), [("i", False), ("n", True)])
def test_a_counter_that_is_read_after_the_loop_has_to_stay(tmp_path: Path, name: str, is_written: bool) -> None:
    code = written(tmp_path, f"for i in range(n):\n    w = move(w, x)\nprint({name})")
    assert (code is not None) is is_written


def test_two_loops_have_names_of_their_own(tmp_path: Path) -> None:
    code = written(tmp_path, "for i in range(n):\n    w = move(w, x)", "for i in range(n):\n    x = -x\n")
    assert code is not None
    assert code.splitlines()[-1] == "w, _ = scan_move_2(w, x, length=n)"


@pytest.mark.parametrize(
    "before", ["move = jax.jit(lambda w, x: w)\n", "scan_move = 3\n", "length = 3\nmove = length\n"]
)
def test_code_whose_names_would_mean_something_else_is_not_written(tmp_path: Path, before: str) -> None:
    assert written(tmp_path, "for _ in range(n):\n    w = move(w, x)", before) is None


def test_an_argument_that_is_called_length_leaves_no_name(tmp_path: Path) -> None:
    assert written(tmp_path, "for _ in range(n):\n    w = move(w, length)") is None


@pytest.mark.parametrize("before", ["each_w = 3\n", "all_w = 3\n"])
def test_names_for_the_values_of_all_rounds_have_to_be_new(tmp_path: Path, before: str) -> None:
    loop = "for _ in range(n):\n    w = move(w, x)\n    losses.append(jax.device_get(w))"
    assert written(tmp_path, loop) is not None
    assert written(tmp_path, loop, before) is None


def test_the_state_of_each_round_may_be_a_pytree(tmp_path: Path) -> None:
    code = written(tmp_path, "for _ in range(n):\n    w = move(w, x)\n    losses.append(jax.device_get(w))")
    assert code is not None
    beside, _, instead = code.partition(f"{INSTEAD}\n")
    names: dict[str, Any] = {"jax": jax, "w": {"a": jnp.zeros(2)}, "x": 1.0, "n": 3, "losses": []}
    exec(f"move = lambda w, x: {{'a': w['a'] + x}}\n{beside}{instead}", names)
    assert [each["a"].tolist() for each in names["losses"]] == [[1, 1], [2, 2], [3, 3]]
    assert names["w"]["a"].tolist() == [3, 3]


@pytest.mark.parametrize(
    ("code", "is_written"),
    [
        ("for rate in rates:\n    for _ in range(3):\n        w = move(w, x)  #", True),
        ("for rate in rates:\n    move = made(rate)\n    for _ in range(3):\n        w = move(w, x)  #", False),
        ("for move in moves:\n    while True:\n        for _ in range(3):\n            w = move(w, x)  #", False),
        ("while True:\n    @jax.jit\n    def move(w, x): return w\n    for _ in range(3): w = move(w, x)  #", False),
        ("for move in moves:\n    def run(w, x):\n        for _ in range(3): w = move(w, x)  #", False),
        ("def run(w, x):\n    for _ in range(3): w = move(w, x)  #\nfor move in moves: run(w, x)", False),
        ("def run(w, x):\n    for _ in range(3): w = move(w, x)  #\ndef other():\n    for move in moves: pass", True),
    ],
)
def test_a_function_that_loops_bind_again_is_not_kept(tmp_path: Path, code: str, is_written: bool) -> None:
    file = tmp_path / "train.py"
    file.write_text(code)
    line = next(number for number, each in enumerate(code.splitlines(), 1) if each.endswith("#"))
    assert (scanned_loop(Frame(function="", file=str(file), line=line)) is not None) is is_written
