"""The recommended code is run in its place, in a copy of the function or of the examined code."""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import jax
import pytest
from shells import Session

from jaxmagic.doctor.capture.remedies.pasted_code import propose
from jaxmagic.doctor.capture.remedies.remedy import Change, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.rewriting.rewritten import AFTER, INSTEAD
from jaxmagic.records.cell_names import known_as
from jaxmagic.records.note import note

SOURCE = """\
offset = 1
def train(x, n=3, *, scale=2):
    ys = []
    for i in range(n):
        ys.append(float(x * scale + i + offset))
    return ys
def around(extra):
    def inner(x):
        ys = []
        for i in range(3):
            ys.append(float(x + extra))
        return ys
    return inner
inner = around(10)
class Model:
    def fit(self, x):
        ys = []
        for i in range(3):
            ys.append(float(x))
        return ys
"""

#: What becomes of `ys`, in the places that line 5 and line 11 leave.
KEPT = f"    ys.append(-x)\n{AFTER}\nys = [each * 2 for each in ys]"


@pytest.fixture
def module(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    numbers = count()

    def make(source: str = SOURCE) -> dict[str, Any]:
        file = tmp_path / f"module{next(numbers)}.py"
        file.write_text(source)
        names: dict[str, Any] = {"jax": jax, "__name__": file.stem, "__file__": str(file)}
        exec(compile(source, str(file), "exec"), names)
        return names

    return make


def advised(names: dict[str, Any], line: int, code: str | None) -> RuleFinding:
    return RuleFinding(rule="host-wait", found=note("text"), line=f"{names['__file__']}:{line}", code=code)


def changed(names: dict[str, Any], source: str, line: int, code: str | None) -> types.FunctionType:
    change = propose(advised(names, line, code), TriedCode(source, names))
    assert isinstance(change, Change)
    assert [str(each) for each in change.notes] == ["Tried with the recommended code in its place."]
    ((_, made),) = change.replacements.items()
    assert isinstance(made, types.FunctionType)
    return made


def test_a_function_with_its_defaults_and_globals(module: Any) -> None:
    names = module()
    made = changed(names, "train(5)", 5, f"    ys.append(x * scale + offset)\n{AFTER}\nys = [-each for each in ys]")
    assert made(5) == [-11, -11, -11]
    assert made(5, 1, scale=3) == [-16]
    names["offset"] = 0
    assert made(5, 1) == [-10]
    assert names["train"](5, 1) == [10.0]


def test_what_a_function_closes_over(module: Any) -> None:
    made = changed(module(), "inner(5)", 11, f"    ys.append(x + extra)\n{AFTER}\nys = [-each for each in ys]")
    assert made(5) == [-15, -15, -15]


@pytest.mark.parametrize("source", ["Model().fit(5)", "model.fit(5)", "both[0].fit(5)"])
def test_a_method_of_an_object(module: Any, source: str) -> None:
    names = module()
    names["model"] = names["Model"]()
    names["both"] = [names["model"], 1]
    made = changed(names, source, 19, f"    ys.append(-x)\n{AFTER}\nys = [each * 2 for each in ys]")
    assert made(names["model"], 5) == [-10, -10, -10]


def test_a_definition_beside_the_function_sees_what_it_sees(module: Any) -> None:
    code = f"def summed(x, n):\n    return [x + extra] * n\n{INSTEAD}\nys = summed(x, 2)"
    assert changed(module(), "inner(5)", 11, code)(5) == [15, 15]
    code = f"def shown(x):\n    return [-x]\n{INSTEAD}\nys = shown(x)"
    assert changed(module(), "train(5)", 5, code)(5) == [-5]


@pytest.mark.parametrize(
    ("source", "line", "code"),
    [
        ("train(5)", 5, None),
        ("train(5)", 5, "    ys.append(unknown)"),
        ("train(5)", 5, f"def summed(): return n\n{INSTEAD}\nys = summed()"),
        ("train(5)", 2, f"ys.append(1)\n{AFTER}\nys = 0"),
        ("train(5)", 6, f"ys.append(1)\n{AFTER}\nys = 0"),
        ("inner(5)", 5, KEPT),
        ("list(map(float, [5]))", 19, KEPT),
        ("list(map(float, [5]))", 5, KEPT),
    ],
    ids=["no code", "name", "local name", "no loop", "after the loop", "not called", "other method", "not read"],
)
def test_what_cannot_be_put_in_its_place_is_not_tried(module: Any, source: str, line: int, code: str | None) -> None:
    names = module()
    with pytest.raises(NotTried) as raised:
        propose(advised(names, line, code), TriedCode(source, names))
    assert [each.kind for each in raised.value.notes] == ["doctor.not_mechanical"]


def test_the_examined_code_itself(session: Session) -> None:
    body = "ys = []\nfor x in xs:\n    ys.append(float(x))"
    session.run(f"xs = [1, 2]\n#\n{body}")
    file = next(each for each in linecache.cache if "".join(linecache.getlines(each)).startswith("xs = [1, 2]\n#"))
    place = known_as(file)
    code = f"    ys.append(-x)\n{AFTER}\nys = [each * 2 for each in ys]"
    advice = RuleFinding(rule="host-wait", found=note("text"), line=f"{place}:5", code=code)
    change = propose(advice, TriedCode(body, {"xs": [1, 2]}))
    assert isinstance(change, Change)
    assert not change.replacements
    assert change.code is not None
    namespace = dict(change.code.variables)
    exec(change.code.source or "", namespace)
    assert namespace["ys"] == [-2, -4]
    assert not change.unset
    counted = propose(replace(advice, code=f"f = 1\n{INSTEAD}\nys = f"), TriedCode(body, {"xs": [1, 2]}))
    assert isinstance(counted, Change)
    assert counted.unset == {"x"}
    with pytest.raises(NotTried):
        propose(advice, TriedCode("something(else_)", {"xs": [1, 2]}))


def test_what_numpy_vectorizes_is_made_anew_from_what_its_function_sees(module: Any) -> None:
    names = module(SOURCE + "import numpy as np\nfactor = 2\nenergies = np.vectorize(lambda r: float(r) * factor)\n")
    tried = TriedCode("f(3.0)", {"f": names["energies"]})  # by whatever name the code calls it
    change = propose(advised(names, 23, "energies = factor + 5"), tried)
    assert isinstance(change, Change)
    assert change.replacements == {id(names["energies"]): 7}
    assert names["energies"](3.0) == 6.0
    for code in ("energies = unknown(factor)", "energies, others = factor, 1", "energies.add(factor)"):
        with pytest.raises(NotTried):
            propose(advised(names, 23, code), tried)
