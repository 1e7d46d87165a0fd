"""What a loop appends is read after the loop only if nothing sees the list before; the code then does the same."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from fabricate.profiling import MS
from shells import Session

from jaxmagic.doctor.record.evidence import HostWait
from jaxmagic.doctor.rules.host import wait
from jaxmagic.doctor.rules.rewriting.rewritten import pasted, rewritten
from jaxmagic.records.call_stack import Frame

#: The line that waits in all of these, once.
APPEND = "losses.append(float(loss))"

READS = re.compile(r"losses\.append\(.*loss\b")

FIRST = "from contextlib import nullcontext, suppress\nlogged, losses, history, trees = [], [0.0], [], {}\n"


def written(source: str, folder: Path, evidence: Any) -> tuple[str, int, str | None]:
    """Return a module, the line in it that waits, and the code for that line."""
    text = FIRST + textwrap.dedent(source)
    file = folder / "train.py"
    file.write_text(text)
    ast.parse(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if READS.search(each))
    frame = Frame(function="train", file=str(file), line=line)
    waits = (HostWait(line=frame, function="__float__", library=None, count=100, wait_ns=50 * MS),)
    (found,) = wait.look(evidence(waited_ns=40 * MS, waits=waits))
    return text, line, found.code


def result_of(tree: ast.Module) -> Any:
    names: dict[str, Any] = {"jax": jax, "step": jax.jit(lambda x: (x + 1, jnp.sum(x).astype(int)))}
    exec(compile(tree, "<train>", "exec"), names)
    result = names["train"](jnp.ones(3)) if "train" in names else names["losses"]
    return [(type(each), each) for each in jax.tree.leaves(result)]


@pytest.mark.parametrize(
    ("source", "comment"),
    [
        (f"def train(x):\n losses = []\n for i in range(3):\n  x, loss = step(x)\n  {APPEND}\n return losses", ""),
        (
            f"def train(x):\n losses: list = list()\n n = 3\n while n:\n  n -= 1\n  x, loss = step(x)\n  {APPEND}\n"
            " losses.append(-1.0)\n return losses",
            "",
        ),
        (
            "def train(x):\n losses, n = [], 3\n with nullcontext():\n  for i in range(n):\n   x, loss = step(x)\n"
            f"   if i:\n    {APPEND}\n return losses",
            "",
        ),
        (
            "def train(x):\n losses = []\n for e in range(2):\n  for i in range(3):\n   x, loss = step(x)\n"
            f"   {APPEND}\n return losses",
            " at line 5",
        ),
        (
            "def train(x):\n means = []\n for e in range(2):\n  losses = []\n  for i in range(3):\n"
            f"   x, loss = step(x)\n   {APPEND}\n  means.append(sum(losses) / 3)\n return means, losses",
            "",
        ),
        (
            "def train(x, losses=losses):\n losses = []\n for e in range(2):\n  for i in range(3):\n"
            f"   x, loss = step(x)\n   {APPEND}\n  if e:\n   break\n return losses",
            " at line 5",
        ),
        (
            "def other():\n losses = []\n return losses\ndef of(losses): return losses\n"
            "losses = of(other())\nx = jax.numpy.ones(3)\nlosses = []\n"
            f"for i in range(3):\n x, loss = step(x)\n {APPEND}\n",
            "",
        ),
    ],
    ids=["function", "while", "with and if", "epochs", "each epoch", "parameter", "cell"],
)
def test_the_code_keeps_the_same_numbers(source: str, comment: str, tmp_path: Path, evidence: Any) -> None:
    text, line, code = written(source, tmp_path, evidence)
    assert code is not None
    kept, place, after = code.splitlines()
    assert kept == "    losses.append(loss)"
    assert place == f"# after the loop{comment}"
    assert after == "losses = [float(each) for each in jax.device_get(losses)]"
    changed = rewritten(ast.parse(text), line, pasted(code))
    assert changed is not None
    assert ast.unparse(changed).count("device_get") == 1
    assert result_of(changed) == result_of(ast.parse(text))


def test_integers_that_item_reads_stay_integers(tmp_path: Path, evidence: Any) -> None:
    source = "def train(x):\n losses = []\n for i in range(3):\n  x, loss = step(x)\n  losses.append(loss.item())\n"
    text, line, code = written(f"{source} return losses", tmp_path, evidence)
    assert code is not None
    assert code.endswith("losses = [each.item() for each in jax.device_get(losses)]")
    changed = rewritten(ast.parse(text), line, pasted(code))
    assert changed is not None
    assert result_of(changed) == result_of(ast.parse(text))


BEST = "best = min(best, losses[-1])"


@pytest.mark.parametrize(
    ("source", "comment"),
    [
        (f"def train(x):\n losses, best = [], 9.5\n for i in range(3):\n  x, loss = step(x)\n  {APPEND}\n  {BEST}\n"
         " return losses, best", "s 7 to 8"),
        (f"def train(x):\n losses, best = [], 0.5\n for e in range(2):\n  for i in range(3):\n"
         f"   x, loss = step(x)\n   if i:\n    {APPEND}\n    # so far\n    {BEST.replace('min', 'max')}\n"
         " return losses, best", "s 9 to 11"),
        (f"def train(x):\n losses, best = [], 9.5\n for i in range(0):\n  x, loss = step(x)\n  {APPEND}\n  {BEST}\n"
         " return losses, best", "s 7 to 8"),
    ],
    ids=["min", "max", "no rounds"],
)  # fmt: skip
def test_the_best_item_is_chosen_after_the_loop(source: str, comment: str, tmp_path: Path, evidence: Any) -> None:
    text, line, code = written(source, tmp_path, evidence)
    assert code is not None
    assert code.startswith(f"# in the loop, instead of line{comment}\n    losses.append(loss)\n# after the loop")
    changed = rewritten(ast.parse(text), line, pasted(code))
    assert changed is not None
    assert "losses[-1]" not in ast.unparse(changed)
    assert result_of(changed) == result_of(ast.parse(text))


@pytest.mark.parametrize(
    ("best", "after"),
    [
        ("best = min(losses[-1], best)", ""),  # another one of equal items, or of those with NaN
        ("best = min(best, losses[0])", ""),
        ("least = min(best, losses[-1])", ""),
        ("best = min(best, losses[-1], 3.0)", ""),
        ("best = min(best, losses[-1], key=abs)", ""),
        ("if losses[-1] < best:\n   best = losses[-1]", ""),
        (BEST, "  if best < 1: break\n"),
        (BEST, "  print(losses[-1])\n"),
        (f"x = -x\n  {BEST}", ""),
        (f"print(i); {BEST}", ""),
        (BEST, " show = lambda: best\n"),
    ],
)
def test_a_best_item_that_the_loop_needs_is_left_to_words(
    best: str, after: str, tmp_path: Path, evidence: Any
) -> None:
    source = (
        f"def train(x):\n losses, best = [], 9.5\n for i in range(3):\n  x, loss = step(x)\n  {APPEND}\n  {best}\n"
    )
    *_, code = written(f"{source}{after} return losses, best", tmp_path, evidence)
    assert code is None


LOOP = f"for i in range(3):\n  x, loss = step(x)\n  {APPEND}"


@pytest.mark.parametrize(
    "source",
    [
        f"def train(x):\n losses = [0.0]\n {LOOP}\n return losses",
        f"def train(x):\n losses = [None] * 2\n {LOOP}\n return losses",
        f"def train(x):\n losses = load()\n {LOOP}\n return losses",
        f"def train(x):\n losses = list(history)\n {LOOP}\n return losses",
        f"def train(x, losses):\n {LOOP}\n return losses",
        f"def train(x, losses=[]):\n {LOOP}\n return losses",
        f"def train(x):\n losses = history = []\n {LOOP}\n return history",
        f"def train(x):\n losses = []\n history = losses\n {LOOP}\n return history",
        f"def train(x):\n losses = []\n trees['losses'] = losses\n {LOOP}\n return trees",
        f"def train(x):\n losses, history = [], losses\n {LOOP}\n return losses",
        f"def train(x):\n losses = []\n losses.append(0.0)\n {LOOP}\n return losses",
        f"def train(x):\n losses = []\n losses += [0.0]\n {LOOP}\n return losses",
        f"def train(x):\n if x:\n  losses = []\n {LOOP}\n return losses",
        f"def train(x):\n losses = []\n if x:\n  losses = [0.0]\n {LOOP}\n return losses",
        f"def train(x):\n global losses\n losses = []\n {LOOP}\n return losses",
        "def outer():\n losses = []\n def train(x):\n  nonlocal losses\n  losses = []\n"
        f"  for i in range(3):\n   x, loss = step(x)\n   {APPEND}\n return train",
        f"def train(x):\n losses = []\n show = lambda: losses[-1]\n {LOOP}\n  show()\n return losses",
        f"def train(x):\n losses = []\n {LOOP}\n  losses.append(-1.0)\n return losses",
        f"def train(x):\n losses = []\n {LOOP}\n  print(losses[-1])\n return losses",
        f"def train(x):\n losses = []\n {LOOP}\n  logged.append(losses)\n return logged",
        f"def train(x):\n losses = []\n {LOOP}\n  yield losses",
        f"def train(x):\n losses = []\n {LOOP}\n else:\n  return losses",
        f"def train(x):\n losses = []\n while len(losses) < 3:\n  x, loss = step(x)\n  {APPEND}\n return losses",
        "def train(x):\n losses = []\n for e in range(3):\n"
        f"  for i in range(3):\n   x, loss = step(x)\n   {APPEND}\n  losses.append(-1.0)\n return losses",
        "def train(x):\n losses = []\n for e in range(3):\n"
        f"  for i in range(3):\n   x, loss = step(x)\n   {APPEND}\n  print(sum(losses))\n return losses",
        "def train(x):\n losses = []\n for e in range(3):\n  print(losses)\n"
        f"  for i in range(3):\n   x, loss = step(x)\n   {APPEND}\n return losses",
        f"def train(x):\n for i in range(3):\n  losses = []\n  x, loss = step(x)\n  {APPEND}\n return losses",
        "def train(x):\n losses = []\n try:\n  for i in range(3):\n"
        f"   x, loss = step(x)\n   {APPEND}\n except KeyboardInterrupt:\n  pass\n return losses",
        "def train(x):\n losses = []\n with suppress(KeyboardInterrupt):\n  for i in range(3):\n"
        f"   x, loss = step(x)\n   {APPEND}\n return losses",
        f"class Run:\n losses = []\n {LOOP}",
        f"def show():\n print(losses[-1])\nlosses = []\n{LOOP}\n  show()",
        f"def clear():\n global losses\n losses = [0.0]\nlosses = []\n{LOOP}",
        f"class Meter:\n def add(self):\n  losses.append(0.0)\nmeter = Meter()\nlosses = []\n{LOOP}\n  meter.add()",
        f"x = 1\n{LOOP}",
        "def train(x):\n losses = []\n if losses:\n"
        f"  for i in range(3):\n   x, loss = step(x)\n   {APPEND}\n return losses",
        f"def train(x):\n losses = errors = []\n {LOOP}\n return losses",
        f"def train(x):\n losses, losses = [], [0.0]\n {LOOP}\n return losses",
        f"def train(x):\n losses, (losses, n) = [], ([0.0], 1)\n {LOOP}\n return losses",
        f"def show():\n def inner():\n  print(losses)\n inner()\nlosses = []\n{LOOP}\n  show()",
        f"def train(x):\n show = lambda: losses[-1]\n losses = []\n {LOOP}\n  show()\n return losses",
        "def train(x):\n def add(n):\n  nonlocal losses\n  losses = [n]\n losses = []\n"
        f" {LOOP}\n  add(1.0)\n return losses",
        "def train(x):\n losses = []\n for i in range(3):\n  x, loss = step(x)\n"
        "  losses.append(0.5 * float(loss))\n return losses",
        "def train(x):\n losses = []\n for i in range(3):\n  x, loss = step(x)\n"
        f"  if i % 2: {APPEND}\n return losses",
        f"def train(x):\n losses = []\n for i in range(3):\n  x, loss = step(x); {APPEND}\n return losses",
        f"def train(x):\n losses = []\n for i in range(3):\n  x, loss = step(x)\n  {APPEND}; x = -x\n return losses",
    ],
)
def test_a_list_that_other_code_may_see_is_left_to_words(source: str, tmp_path: Path, evidence: Any) -> None:
    *_, code = written(source, tmp_path, evidence)
    assert code is None


def test_the_place_of_an_outer_loop_is_counted_from_the_first_line_of_the_cell() -> None:
    loops = "for e in range(2):\n    for i in range(3):\n        kept.append(float(i))\n"
    new = pasted("    kept.append(i)\n# after the loop at line 6\nkept = read(kept)")
    changed = rewritten(ast.parse(loops), 3, new, before=5)
    assert changed is not None
    assert ast.unparse(changed).splitlines()[-1] == "kept = read(kept)"
    assert rewritten(ast.parse(loops), 3, new) is None


@pytest.mark.parametrize("reads", ["losses", "others"])
def test_functions_of_other_cells_may_see_a_list(reads: str, session: Session, evidence: Any) -> None:
    session.run(f"def show(): print({reads})")
    session.run(f"import sys\nframe = sys._getframe()\nlosses = []\nfor loss in ():\n    {APPEND}")
    line = Frame(function="<module>", file=session.shell.user_ns["frame"].f_code.co_filename, line=5)
    waits = (HostWait(line=line, function="__float__", library=None, count=100, wait_ns=50 * MS),)
    (found,) = wait.look(evidence(waited_ns=40 * MS, waits=waits))
    assert (found.code is None) == (reads == "losses")


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        (f"def train(x, losses):\n for i in range(3):\n  x, loss = step(x)\n  {APPEND}", "losses"),
        (f"def fit(self, x):\n for i in range(3):\n  x, loss = step(x)\n  self.{APPEND}", "self.losses"),
        (f"def train(x):\n losses = []\n for i in range(3):\n  x, loss = step(x)\n  {APPEND}", ""),
        ("def train(x, losses):\n for i in range(3):\n  x, loss = step(x)\n  losses.append((loss, i))", ""),
    ],
)
def test_a_list_of_the_caller_is_filled_after_the_loop(source: str, kept: str, tmp_path: Path, evidence: Any) -> None:
    file = tmp_path / "train.py"
    file.write_text(source)
    frame = Frame(function="train", file=str(file), line=len(source.splitlines()))
    waits = (HostWait(line=frame, function="__float__", library=None, count=100, wait_ns=50 * MS),)
    (found,) = wait.look(evidence(waited_ns=40 * MS, waits=waits))
    told = (
        f"Append the arrays to a new list, and read them into {kept} after the loop, if nothing needs {kept} earlier"
    )
    assert str(found.remedy).startswith(told) is bool(kept)
    assert (found.code is None) is (kept != "" or "append((" in source)


def test_a_list_of_the_caller_that_decides_is_not_kept_for_later(tmp_path: Path, evidence: Any) -> None:
    after = "  if losses[-1] > 2:\n   break"
    source = f"def train(x, losses):\n for i in range(3):\n  x, loss = step(x)\n  {APPEND}\n{after}"
    (tmp_path / "train.py").write_text(source)
    frame = Frame(function="train", file=str(tmp_path / "train.py"), line=4)
    waits = (HostWait(line=frame, function="__float__", library=None, count=100, wait_ns=50 * MS),)
    (found,) = wait.look(evidence(waited_ns=40 * MS, waits=waits))
    assert str(found.remedy).startswith("Let the device decide")
