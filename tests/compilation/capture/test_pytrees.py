"""Static fields of pytrees have names, also those of a library's modules."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import jax
import pytest

from jaxmagic.compilation.capture.pytrees import graph_attributes, nodes, static_fields

#: As the base class of Equinox's modules says where it is defined.
Module = type("Module", (), {"__module__": "equinox._module._module"})


def registered(base: type) -> Any:
    """Return a class that flattens as the modules of Equinox do: its own data come first, then its static fields."""

    @dataclasses.dataclass
    class Layer(base):  # type: ignore[misc]
        weight: Any
        inner: Any = None
        rate: float = dataclasses.field(default=0.5, metadata={"static": True})
        name: str = dataclasses.field(default="a", metadata={"static": True})

    def flatten(layer: Any) -> Any:
        keys = [jax.tree_util.GetAttrKey(each) for each in ("weight", "inner")]
        return tuple(zip(keys, (layer.weight, layer.inner), strict=True)), (None, layer.rate, layer.name)

    jax.tree_util.register_pytree_with_keys(Layer, flatten, lambda aux, parts: Layer(*parts, *aux[1:]))
    return Layer


def test_static_fields_of_a_module_have_names() -> None:
    layer = registered(Module)
    structure = jax.tree.structure([layer(1.0, layer(2.0, rate=0.25))])
    expected = {
        "net[0].rate": 0.5, "net[0].name": "a", "net[0].inner.rate": 0.25, "net[0].inner.name": "a",
    }  # fmt: skip
    assert static_fields(structure, "net", arrays_only=True) == expected
    assert static_fields(structure, "net") == expected
    assert nodes(structure, "net")["net[0].inner"].names == ("weight", "inner")


@pytest.mark.parametrize(("arrays_only", "expected"), [(True, {}), (False, {"net[0]": (None, 0.5, "a")})])
def test_other_classes_have_what_they_compare(arrays_only: bool, expected: dict[str, Any]) -> None:
    structure = jax.tree.structure([registered(object)(1.0)])
    assert static_fields(structure, "net", arrays_only=arrays_only) == expected


def made(name: str, module: str = "flax.nnx.graphlib", **values: Any) -> Any:
    """Return an object of a class as flax.nnx has them."""
    return type(name, (SimpleNamespace,), {"__module__": module})(**values)


def graph(module: str = "flax.nnx.graphlib") -> Any:
    """Return the graph of a module with a rate, a list of two modules with sizes, and a weight."""
    node = made("NodeAttr")

    def value(each: Any) -> Any:
        return made("Static", value=each)

    sized = made("NodeDef", num_attributes=2)
    nodes = [
        made("NodeDef", num_attributes=4), made("NodeDef", num_attributes=2), sized, sized, made("VariableDef"),
    ]  # fmt: skip
    attributes = [
        ("_pytree__nodes", value({})), ("layers", node),
        (0, node), ("size", value(3)), ("_length", value(1)),
        (1, node), ("size", value(4)), ("not a name", value("a")),
        ("rate", value(0.5)), ("w", node),
    ]  # fmt: skip
    return made("GraphDef", module, nodes=nodes, attributes=attributes)


def test_attributes_have_the_paths_that_code_uses() -> None:
    assert graph_attributes(graph(), "net") == {
        "net.layers[0].size": 3,
        "net.layers[1].size": 4,
        "net.layers[1]['not a name']": "a",
        "net.rate": 0.5,
    }


@pytest.mark.parametrize(
    "other",
    [
        graph("somebody.elses"),
        made("GraphDef", nodes=[made("NodeDef", num_attributes=9)], attributes=[]),
        made("GraphDef"),
        3,
    ],
)
def test_of_anything_else_nothing_is_known(other: Any) -> None:
    assert graph_attributes(other, "net") == {}
