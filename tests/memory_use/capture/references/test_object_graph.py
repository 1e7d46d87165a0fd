"""How objects are read; what is found behind them is tested in `test_holders.py`."""

from __future__ import annotations

import gc
import types
import weakref
from collections import OrderedDict

import pytest

from jaxmagic.memory_use.capture.references import object_graph
from jaxmagic.memory_use.capture.references.object_graph import reader_of


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_how_a_class_of_a_library_is_read_is_remembered(kind: type) -> None:
    assert reader_of(kind) is reader_of(kind)
    assert id(kind) in object_graph._lasting


def test_no_class_is_kept_alive_that_its_module_does_not_keep() -> None:
    def made() -> type:
        return type("OrderedDict", (dict,), {"__module__": "collections"})  # says that it is a library's

    kinds = [made(), type("Mine", (), {})]
    for kind in kinds:
        assert reader_of(kind) is not None
    references = [weakref.ref(kind) for kind in kinds]
    del kind
    kinds.clear()
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_the_names_of_a_cells_blocks_are_not_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_graph, "is_users_module", lambda held: held["__name__"] == "a_notebook")
    module = types.ModuleType("a_notebook")
    module.__dict__.update(x=1, __jaxmagic_1__=1)
    read = reader_of(types.ModuleType)
    assert read is not None
    names = [name for (_, name), _ in read(module)]
    assert "x" in names
    assert "__jaxmagic_1__" not in names
