"""The bases of a class are known if nothing else has their names, and objects have what their code tells."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from jaxmagic.doctor.rules.rewriting.methods.class_chain import class_chain, class_named, methods_of

CLASSES = """
from abc import ABC
import types

class Base(ABC):
    def __init__(self, n):
        self.n = n
    def step(self):
        return self.loss()
    def loss(self):
        return 0

class Model(Base):
    def __init__(self):
        super().__init__(3)
    def loss(self):
        return self.n
"""

NUMBERS = count()


def chain_of(text: str, path: Path) -> dict[str, list[str]]:
    """Return the methods of a class by the classes that they are from."""
    file = str(path / f"classes{next(NUMBERS)}.py")  # Python keeps the text of a file
    Path(file).write_text(text)
    first = class_named("Model", file)
    chain = [] if first is None else class_chain(first)
    methods = [each for each, _ in methods_of(chain).values()]
    return {node.name: [each.name for each in methods if each in node.body] for node, _ in chain}


def test_a_class_has_the_methods_of_its_bases(tmp_path: Path) -> None:
    assert chain_of(CLASSES, tmp_path) == {"Model": ["__init__", "loss"], "Base": ["step"]}


@pytest.mark.parametrize("other", ["loss = len", "if NUMBERS:\n        def loss(self):\n            return 1"])
def test_what_a_class_assigns_is_no_method(other: str, tmp_path: Path) -> None:
    text = CLASSES.replace("    def loss(self):\n        return self.n", f"    {other}")
    assert chain_of(text, tmp_path) == {"Model": ["__init__"], "Base": ["step"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(Base)", "(Base, dict)"),
        ("(Base)", "(types.SimpleNamespace)"),
        ("(Base)", "(Base, metaclass=type)"),
        ("(Base)", "(types.new_class('Named', (Base,)))"),
        ("(ABC)", "(types.SimpleNamespace)"),
        ("class Model", "Base = type('Base', (Base,), {})\n\nclass Model"),
        ("class Model", "from elsewhere import Base\n\nclass Model"),
        ("class Model", "from elsewhere import *\n\nclass Model"),
        ("class Model", "class Base:\n    pass\n\nclass Model"),
        ("class Base(ABC):", "@types.coroutine\nclass Base(ABC):"),
        ("    def step", "    __slots__ = ('n', '__dict__')\n    def step"),
        ("    def step", "    def __setattr__(self, name, value):\n        pass\n    def step"),
        ("    def step", "    def __init_subclass__(cls):\n        pass\n    def step"),
        ("    def step", "    def reset(self):\n        vars(self).clear()\n    def step"),
        ("return self.n", "return super().loss()"),
        ("    def step", "    def again(self):\n        super().__init__(1)\n    def step"),
        ("super().__init__(3)", "super(Model, self).__init__(3)"),
        ("super().__init__(3)", "super().step()"),
    ],
)
def test_a_class_that_may_do_more_has_no_chain(old: str, new: str, tmp_path: Path) -> None:
    assert old in CLASSES
    assert chain_of(CLASSES.replace(old, new), tmp_path) == {}
