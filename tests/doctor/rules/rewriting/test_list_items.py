"""A call is given the items of a list if the loop takes them from it and changes nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxmagic.doctor.rules.rewriting.list_items import items_given, parts_given
from jaxmagic.records.call_stack import Frame


def given_in(path: Path, code: str) -> tuple[Frame, list[ast.expr]]:
    file = path / "train.py"
    file.write_text(code)
    (at,) = (number for number, each in enumerate(code.splitlines(), 1) if "f(" in each)
    (call,) = (
        each
        for each in ast.walk(ast.parse(code))
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "f"
    )
    return Frame(function="<module>", file=str(file), line=at), call.args


def lists_of(path: Path, code: str) -> list[str]:
    return items_given(*given_in(path, code))


@pytest.mark.parametrize(
    ("code", "lists"),
    [
        ("for x in xs:\n    w = f(w, x)", ["xs"]),
        ("for _ in range(9):\n    for x in xs:\n        w = f(w, x)", ["xs"]),
        ("for i, x in enumerate(xs, 1):\n    w = f(w, x)", ["xs"]),
        ("for x, y in zip(xs, ys):\n    w = f(w, x, y)", ["xs", "ys"]),
        ("for i, (x, y) in enumerate(zip(xs, ys)):\n    w = f(w, y)", ["ys"]),
        ("for x, y in data:\n    w = f(w, x, y)", ["data"]),
        ("for x in tqdm(self.xs):\n    w = f(w, x)", ["self.xs"]),
        ("for i in order:\n    w = f(w, xs[i])", ["xs"]),
        ("ws = [f(w, x) for _ in range(9) for x in xs]", ["xs"]),
        ("def train(xs):\n    for x in xs:\n        w = f(w, x)", ["xs"]),
    ],
)
def test_the_lists_of_a_loop(tmp_path: Path, code: str, lists: list[str]) -> None:
    assert lists_of(tmp_path, code) == lists


@pytest.mark.parametrize(
    "code",
    [
        "for x in xs:\n    x = x + noise()\n    w = f(w, x)",
        "for x in xs:\n    x += noise()\n    w = f(w, x)",
        "for x in xs:\n    x[0] = 1\n    w = f(w, x)",
        "for i, x in enumerate(xs):\n    xs[i] = x + 1\n    w = f(w, x)",
        "for x in xs:\n    rng.shuffle(x)\n    w = f(w, x)",
        "for x in xs:\n    np.add(x, 1, out=x)\n    w = f(w, x)",
        "for x in noise_iter(xs):\n    w = f(w, x)",
        "for x in load():\n    w = f(w, x)",
        "for i in range(9):\n    w = f(w, xs[i:i + 2])",
        "for x in xs:\n    w = f(w, x * 2)",
        "for i in range(9):\n    w = f(w, i)",
        "while True:\n    w = f(w, x)",
        "for _ in range(9):\n    xs = load()\n    for x in xs:\n        w = f(w, x)",
    ],
)
def test_other_arguments_are_no_items(tmp_path: Path, code: str) -> None:
    assert lists_of(tmp_path, code) == []


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("for x in xs:\n    w = f(x)", "xs"),
        ("for i in range(9):\n    x = xs[i]\n    w = f(x)", "xs"),
        ("for i in range(9):\n    x = xs[i]\n    x[0] = 1\n    w = f(x)", None),
        ("for x in xs:\n    x = f(x)\n    w = x", "xs"),
        ("for x in xs:\n    x = x + 1\n    w = f(x)", None),
        ("for x in xs:\n    x = x + 1\n    x = f(x)", None),
        ("for x in xs:\n    x -= 1\n    w = f(x)", None),
        ("for x in xs:\n    rng.shuffle(x)\n    w = f(x)", None),
    ],
)
def test_a_part_that_the_loop_changes_is_none_of_the_array(tmp_path: Path, code: str, part: str | None) -> None:
    assert parts_given(*given_in(tmp_path, code)) == [part]
