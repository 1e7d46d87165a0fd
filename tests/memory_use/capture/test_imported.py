"""Which imported modules are the user's, also after imports and removals."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterator

import pytest

from jaxmagic.memory_use.capture import imported as imported_module
from jaxmagic.memory_use.capture.imported import dict_of, imported, is_users_module

NAME = "a_module_of_the_user"


@pytest.fixture(autouse=True)
def modules_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make one module the user's; other tests have none."""
    monkeypatch.setattr(imported_module, "is_users_module", lambda held: held.get("__name__") == NAME)
    monkeypatch.setattr(imported_module, "_last", {})
    yield
    sys.modules.pop(NAME, None)


def test_a_new_module_is_found_and_a_removed_one_is_forgotten() -> None:
    assert NAME not in imported().of_the_user
    sys.modules[NAME] = module = types.ModuleType(NAME)
    found = imported()
    assert NAME in found.of_the_user
    assert {id(module), id(dict_of(module))} <= found.addresses
    assert imported() is found  # nothing has changed
    del sys.modules[NAME]
    assert NAME not in imported().of_the_user


def test_a_module_in_the_place_of_another_one_is_looked_at_also_where_it_has_its_address() -> None:
    for _ in range(20):
        sys.modules[NAME] = module = types.ModuleType(NAME)
        assert id(dict_of(module)) in imported().addresses
        del sys.modules[NAME], module
        gc.collect()


def test_what_is_no_module_and_what_has_no_name_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, NAME, object())  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, 7, types.ModuleType(NAME))  # type: ignore[arg-type]
    assert NAME not in imported().of_the_user


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"__name__": "__main__"}, True),
        ({"__name__": "mine", "__file__": "/home/me/mine.py"}, True),
        ({"__name__": "made", "__spec__": None}, True),
        ({"__name__": "jax.numpy", "__file__": "/home/me/jax/numpy.py"}, False),
        ({"__name__": "flax", "__file__": "/usr/lib/python3/site-packages/flax/__init__.py"}, False),
        ({"__name__": "json", "__file__": sys.modules["json"].__file__}, False),
        ({"__name__": 3}, False),
    ],
)
def test_the_users_modules_are_those_that_are_not_installed(names: dict[str, object], expected: bool) -> None:
    assert is_users_module(names) is expected
