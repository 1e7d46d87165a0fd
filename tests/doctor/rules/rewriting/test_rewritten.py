"""Code to paste comes into its place in a copy of the syntax."""

from __future__ import annotations

import ast
import textwrap

import pytest

from jaxmagic.doctor.rules.rewriting.rewritten import AFTER, INSTEAD, in_loop, moved_out, pasted, rewritten, then

SOURCE = """\
def train(w, x):
    losses = []
    for i in range(3):
        w, loss = step(w, x)
        losses.append(float(loss))
    return [f(y).item() for y in w]
"""


@pytest.mark.parametrize(
    ("code", "line", "lines"),
    [
        (
            f"    losses.append(loss)\n{AFTER}\nlosses = read(losses)",
            5,
            {5: "        losses.append(loss)", 6: "    losses = read(losses)"},
        ),
        (
            f"def steps(w): ...\n{INSTEAD}\nw, loss = steps(w)\nkept = loss",
            4,
            {3: "    w, loss = steps(w)", 4: "    kept = loss", 5: "    return [f(y).item() for y in w]"},
        ),
        ("return read(w)", 6, {6: "    return read(w)"}),
        (
            f"def steps(w): ...\n{in_loop(4, 5)}\nw, loss = steps(w)",
            4,
            {4: "        w, loss = steps(w)", 5: "    return [f(y).item() for y in w]"},
        ),
        (f"{in_loop(5, 5)}\nkeep(loss)", 4, {4: "        w, loss = step(w, x)", 5: "        keep(loss)"}),
        ("w = step(w)", 4, {4: "        w = step(w)", 5: "        losses.append(float(loss))"}),
    ],
)
def test_each_part_comes_into_its_place(code: str, line: int, lines: dict[int, str]) -> None:
    tree = ast.parse(SOURCE)
    before = ast.dump(tree)
    new = pasted(code)
    made = rewritten(tree, line, new)
    assert made is not None
    after = ast.unparse(made).splitlines()
    assert {number: after[number - 1] for number in lines} == lines
    assert ast.dump(tree) == before
    assert [each.name for each in new.beside if isinstance(each, ast.FunctionDef)] == (
        ["steps"] if "def steps" in code else []
    )


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        (SOURCE, f"x = 1\n{INSTEAD}\nw = 1", 2),
        (SOURCE, f"x = 1\n{AFTER}\nw = 1", 6),
        (SOURCE, "w = 1", 3),
        ("for x in xs:\n    y = f(x); ys.append(float(y))\n", "y = 1", 2),
        (SOURCE, "w = 1", 40),
    ],
)
def test_it_is_left_alone_where_its_place_is_unclear(source: str, code: str, line: int) -> None:
    assert rewritten(ast.parse(source), line, pasted(code)) is None


@pytest.mark.parametrize("line", [1, 2, 3])
def test_the_condition_of_a_while_loop_is_a_part_of_it(line: int) -> None:
    source = "while (err\n       > eps):\n    x, err = step(x)\nshow(x)\n"
    made = rewritten(ast.parse(source), line, pasted(f"f = 1\n{INSTEAD}\nx = f(x)"))
    assert made is not None
    assert ast.unparse(made) == "x = f(x)\nshow(x)"
    assert rewritten(ast.parse(source), 1, pasted("x = 1")) is None


def test_a_function_inside_the_loop_has_loops_of_its_own() -> None:
    source = "for x in xs:\n    def inner(ys):\n        for y in ys:\n            z = f(y)\n    inner(x)\n"
    made = rewritten(ast.parse(source), 4, pasted(f"z = 0\n{AFTER}\nshow(z)"))
    assert made is not None
    expected = (
        "for x in xs:\n\n    def inner(ys):\n        for y in ys:\n            z = 0\n        show(z)\n    inner(x)"
    )
    assert ast.unparse(made) == textwrap.dedent(expected)


MAKING = """\
def train(x):
    y = 0

    @jit(donate=0)
    def g(x):
        return x
    if x:
        y = jit(h)(x)
    return g(y)
"""


@pytest.mark.parametrize(
    ("code", "line", "expected"),
    [
        (
            f"g = 1\n\n{then(4, 6, '', 'train')}",
            5,
            "def train(x):\n    y = 0\n    if x:\n        y = jit(h)(x)\n    return g(y)",
        ),
        (f"g = 1\n\n{then(8, 8, 'y = g(x)', 'train')}", 8, MAKING.replace("jit(h)(x)", "g(x)").rstrip()),
        ("g = 1\n\n\ndef train(x):\n    return g(x)", 8, "def train(x):\n    return g(x)"),
    ],
)
def test_a_definition_that_moves_out_leaves_the_rest_in_its_place(code: str, line: int, expected: str) -> None:
    new = moved_out(code)
    assert [ast.unparse(each) for each in new.beside] == ["g = 1"]
    module = ast.parse(MAKING)
    (function,) = module.body
    assert isinstance(function, ast.FunctionDef)
    for tree in (module, function):
        made = rewritten(tree, line, new)
        assert made is not None
        assert ast.unparse(made) == ast.unparse(ast.parse(expected))


def test_it_is_left_alone_where_another_function_or_loop_is_there() -> None:
    other = moved_out("g = 1\n\n\ndef other(x):\n    return g(x)")
    assert rewritten(ast.parse(MAKING), 8, other) is None
    assert rewritten(ast.parse(MAKING), 8, moved_out("g = 1\nfor x in xs:\n    g(x)")) is None
    assert rewritten(ast.parse("x = 1"), 1, other) is None


def test_the_outermost_loop_outside_of_functions_is_replaced() -> None:
    source = "for x in xs:\n    while f(x):\n        jit(h)(x)\n"
    made = rewritten(ast.parse(source), 3, moved_out("g = jit(h)\nfor x in xs:\n    while f(x):\n        g(x)"))
    assert made is not None
    assert ast.unparse(made) == "for x in xs:\n    while f(x):\n        g(x)"
