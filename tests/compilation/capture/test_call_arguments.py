"""Arguments are described by their own names, without data and without running the user's code."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.compilation.capture import call_arguments as arguments
from jaxmagic.compilation.capture.call_arguments import describe


class Loud:
    """A static argument whose special methods must not be run."""

    def __repr__(self) -> str:
        raise RuntimeError("do not print")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("do not compare")

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("do not ask")

    def __call__(self) -> None:
        raise RuntimeError("do not call")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "3"),
        ("fast", "'fast'"),
        ((1, "a"), "(1, 'a')"),
        ((1,), "(1,)"),
        ([1, [2]], "[1, [2]]"),
        (tuple(range(9)), "(0, 1, 2, 3, 4, 5, 6, 7, 8)"),
        (tuple(range(200)), ", 199)"),
        (tuple(range(9999)), "… (value 0x"),
        (object(), "object object 0x"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
        (None, "None"),
        ("x" * 9999, "…"),
        (len, "len (object"),
        (describe, "describe (object"),
    ],
)
def test_static_arguments_are_described_in_words(value: Any, words: str) -> None:
    (text,) = describe(lambda n: n, (value,), {}, {"n"}).static_args.values()
    assert words in text
    assert len(text) <= 2000


def test_static_arguments_are_described_without_running_them() -> None:
    loud = Loud()
    assert describe(lambda n: n, (loud,), {}, {"n"}).static_args["n"].startswith("a Loud (class 0x")


def test_arguments_have_the_names_of_the_parameters() -> None:
    x = jnp.ones((2, 3))
    found = describe(lambda x, p, n=0: x, (x,), {"p": {"w": np.ones(4), "b": (1.0, True)}, "n": 2}, {"n"})
    assert {path: (leaf.type, leaf.weak) for path, leaf in found.leaves.items()} == {
        "x": ("f32[2,3]", False),
        "p['w']": ("f32[4]", False),
        "p['b'][0]": ("f32[]", True),
        "p['b'][1]": ("bool[]", False),
    }
    assert found.static_args == {"n": "2"}
    assert found.call_signature == (1, ("n", "p"))
    assert found.names == ("x", "p", "n")


def test_without_a_signature_arguments_are_numbered() -> None:
    assert list(describe(None, (1.0,), {"n": 2.0}, ()).leaves) == ["args[0]", "n"]


def test_the_leaves_are_bounded() -> None:
    assert len(describe(lambda x: x, ([1.0] * 1000,), {}, ()).leaves) == 250


def test_a_leaf_that_is_no_array_has_the_name_of_its_type() -> None:
    assert describe(lambda x: x, ("text",), {}, ()).leaves["x"].type == "str"


def test_an_ordered_dict_has_the_order_of_its_keys() -> None:
    value = OrderedDict([("b", 1.0), (2, 2.0), ((), 3.0)])
    assert describe(lambda x: x, (value,), {}, ()).containers == {"x": "OrderedDict('b', 2, …)[*, *, *]"}


def test_placement_says_where_and_whether_committed(x: Any) -> None:
    assert arguments._placement(x).endswith("(uncommitted)")
    assert arguments._placement(jax.device_put(jnp.ones(3), jax.devices()[0])).endswith("(committed)")


def test_a_static_argument_that_was_left_out_has_its_default() -> None:
    def f(x: Any, mode: str = "a", *, other: Any) -> None: ...

    found = describe(f, (1.0,), {"other": 2}, {"mode", "other", "unknown"})
    assert found.static_args == {"mode": "'a'", "other": "2"}
    assert found.call_signature == (1, ("other",))
