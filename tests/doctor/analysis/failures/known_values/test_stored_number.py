"""Python numbers that a traced function stores."""

from __future__ import annotations

import numpy as np
import pytest
from failing_cells import Cell

STORING = """
history, metrics, log, last = [], {{}}, print, None
class Log:
    def scalar(self, name, value): self.last = value
class Board: pass
board = Log()
@jax.jit
def step(x, kept):
    {code}
    return x * 2
step(jnp.ones(3), [])
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("history.append(float(x.sum()))", "after result, value = step(…), run history.append(float(value))."),
        ("l = x.sum()\n    history.append(float(l))", "Return l from step as well, and after result, l = step(…), "),
        ("metrics['norm'] = x.sum().item()", "run metrics['norm'] = value.item(). Without item, a traced value"),
        ("metrics.update(norm=float(x[0]))", "run metrics.update(norm=float(value))."),
        ("history.append({'norm': float(x[0])})", "run history.append({'norm': float(value)})."),
        ("l, m = x[0], x[1]\n    history.append((float(l), float(m)))", "after result, l = step(…), store it."),
        ("global last\n    last = float(x[0])", "run last = float(value)."),
        ("board.last = float(x[0])", "run board.last = float(value)."),
        ("board.scalar('norm', float(x[0]))", "run board.scalar('norm', float(value))."),
        ("history.append(np.asarray(x))", "after result, x = step(…), run history.append(np.asarray(x))."),
        ("def log(v): metrics['a'] = v.item()\n    log(x[0])", "Return it from step as well, and after result, v = "),
        ("kept.append(float(x[0]))", "run kept.append(float(value))."),
        ("made = []\n    def add(c, y):\n        made.append(float(y))\n        return c, y\n    lax.scan(add, 0, x)",
         "Return y from add and from what calls it, and where it has a value, run made.append(float(y))."),
    ],
)  # fmt: skip
def test_a_number_that_is_stored_outside_is_returned(code: str, said: str) -> None:
    cell = Cell(STORING.format(code=code))
    assert said in cell.said
    assert "leave out" not in cell.said
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "history.extend(map(float, x))",
            "Return x from step as well, and after result, x = step(…), run history.extend(map(float, x)). Without "
            "float, a traced value would be stored",
        ),
        (
            "metrics['norms'] = list(map(float, x * 2))",
            "Return x * 2 from step as well, and after result, value = step(…), run metrics['norms'] = "
            "list(map(float, value)).",
        ),
        ("board.last = tuple(map(int, x))", "run board.last = tuple(map(int, x)). Without int, a traced value"),
        ("kept.extend(map(math.sqrt, x))", "run kept.extend(map(math.sqrt, x)). Without math.sqrt, a traced value"),
    ],
)
def test_numbers_that_are_stored_outside_are_returned_as_an_array(code: str, said: str) -> None:
    cell = Cell("import math\n" + STORING.format(code=code))
    assert said in cell.said
    assert "in place of" not in cell.said


@pytest.mark.parametrize(
    ("line", "kept", "run"),
    [
        ("history.extend(float(e) for e in x)", "x", "history.extend((float(e) for e in x))"),
        ("metrics['a'] = [e.item() for e in x * 2]", "x * 2", "metrics['a'] = [e.item() for e in value]"),
        ("metrics.update({i: float(e) for i, e in enumerate(x)})", "x",
         "metrics.update({i: float(e) for i, e in enumerate(x)})"),
        ("history.append([float(x[i]) for i in range(2)])", "x", "history.append([float(x[i]) for i in range(2)])"),
        ("history.extend(float(e) for row in x[None] for e in row)", "x[None]",
         "history.extend((float(e) for row in value for e in row))"),
        ("kept.append([[float(e) for e in row] for row in [x, x]])", "[x, x]",
         "kept.append([[float(e) for e in row] for row in value])"),
        ("board.last = {k: float(v) for k, v in {'n': x[0]}.items()}", "{'n': x[0]}",
         "board.last = {k: float(v) for k, v in value.items()}"),
        ("history.extend(map(lambda e: float(e), x))", "x", "history.extend(map(lambda e: float(e), x))"),
    ],
)  # fmt: skip
def test_what_a_loop_within_the_line_goes_through_is_returned(line: str, kept: str, run: str) -> None:
    cell = Cell(STORING.format(code=line))
    name = kept if kept == "x" else "value"
    assert f"Return {kept} from step as well, and after result, {name} = step(…), run {run}." in cell.said
    stores = [{"history": [], "metrics": {}, "kept": [], "board": cell.names["Board"]()} for _ in range(2)]
    x = np.array([1.0, 2.0, 3.0])
    exec(line, {"x": x}, stores[0])
    exec(run, {name: eval(kept, {"x": x})}, stores[1])
    stores = [each | {"board": getattr(each["board"], "last", None)} for each in stores]
    assert stores[0] == stores[1] != {"history": [], "metrics": {}, "kept": [], "board": None}


@pytest.mark.parametrize("line", ["history.extend(float(a * b) for a, b in zip(x, x * 2))"])
def test_what_is_not_one_array_is_not_named(line: str) -> None:
    said = Cell(STORING.format(code=line)).said
    assert "Return it from step as well, and after result, value = step(…), store it." in said


@pytest.mark.parametrize("code", ["made = []\n    made.extend(map(float, x))", "total = sum(map(float, x))"])
def test_numbers_that_stay_inside_may_be_an_array(code: str) -> None:
    assert "Keep the elements arrays: write x in place of map(float, x)." in Cell(STORING.format(code=code)).said


def test_a_number_of_a_function_that_is_differentiated() -> None:
    said = Cell("kept = []\ndef f(x): kept.append(float(x))\njax.grad(f)(1.0)").said
    assert "run kept.append(float(x)). Under jax.grad, that takes has_aux=True." in said


@pytest.mark.parametrize(
    "code",
    [
        "made = []\n    made.append(float(x[0]))",
        "made = {'a': 1}\n    made['b'] = float(x[0])",
        "made = Board()\n    made.last = float(x[0])",
        "made = []\n    def add(y): made.append(float(y))\n    add(x[0])",
        "last = float(x[0])",
        "jax.debug.callback(log, float(x[0]))",
    ],
)
def test_an_object_of_the_traced_function_may_hold_the_array(code: str) -> None:
    assert "Keep it an array: leave out float." in Cell(STORING.format(code=code)).said
