"""Labels that are no Python names, and lines that only look as if they had one."""

from __future__ import annotations

import ast

import pytest

from jaxmagic.comparison.magic.label_lines import put_in_quotes, relabel


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("python loop: f(x)", "python loop"),
        ("python loop:f(x)", "python loop"),
        ('"jit of vmap": f(x)', "jit of vmap"),
        ('"jit" : f(x)', "jit"),
        ("'it is \"g\"': f(x)", 'it is "g"'),
        ('"a: b": {"c": 1}', "a: b"),
        ("it's g: f(x)", "it's g"),
        ("my-jit: f(x)", "my-jit"),
        ("größe → 中: f(x)", "größe → 中"),
        ("2x: f(x)", "2x"),
        ("3: f(x)", "3"),
        ("return: f(x)", "return"),
        ("jit(vmap(f)): f(x)", "jit(vmap(f))"),
        ("two words: x[1:2]  # c: d", "two words"),
        ("two words: (\n    lambda y: y\n)(3)", "two words"),
    ],
)
def test_a_label_is_replaced_by_a_name_as_long_as_it(line: str, label: str) -> None:
    cell = f"x = 1\n{line}\ny: 2"
    named = relabel(cell)
    assert named.labels == {2: label}
    assert len(named.source.encode()) == len(cell.encode())
    candidate = ast.parse(named.source).body[1]
    assert isinstance(candidate, ast.AnnAssign)
    before = line.encode()[: candidate.annotation.col_offset] if candidate.annotation.lineno == 2 else b":"
    assert before.rstrip(b" (").endswith(b":")  # the expression has the column that it has in the cell


@pytest.mark.parametrize(
    "cell",
    [
        "jit: f(x)",
        "x: int = 3",
        "if x: y",
        "else: f(x)",
        "try: f(x)",
        "lambda: f(x)",
        "match x:\n    case 1: y",
        "lambda y: y",
        "x[1:2]",
        "d = {'a b': 1,\n'c d': 2}",
        's = """\na b: c\n"""',
        "s = 'a b: c'",
        "# a b: c",
        "class A:\n    x: int",
        "    a b: c",
        "two words: y = 3",
        "two words:",
        'f"a": 1',
        "print('a: b')",
        "",
    ],
)
def test_other_lines_stay(cell: str) -> None:
    assert relabel(cell) == (cell, {})


@pytest.mark.parametrize("label", ['say "x"', 'f\'s "best"', "it's", "v1: old", "a=b", "a\\b", "(open"])
def test_every_label_can_be_put_in_quotes(label: str) -> None:
    assert relabel(f"{put_in_quotes(label)}: f(x)").labels == {1: label}


def test_a_line_that_is_no_python_hides_no_label_below_it() -> None:
    assert relabel("f(x\na b: 1").labels == {2: "a b"}
    assert relabel("c: 'x\na b: 1").labels == {2: "a b"}
