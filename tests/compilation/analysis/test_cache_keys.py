"""Two keys of JAX's tracing cache are compared in full, and ranked by how much differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax

from jaxmagic.compilation.analysis.cache_keys import ranked

SETTING = "Tracing context doesn't match\n  * {} differs: now True and before False"
TYPES = "different input types:\n  * at x, now f32[4] and before {}"
CONTAINERS = "different input pytree:\n  * at input path {}, now tuple and before list, so they differ"
STATIC = CONTAINERS.replace("tuple", "Static(val=2)").replace("list", "Static(val=1)")


@dataclass(frozen=True)
class Flat:
    """Arguments as JAX flattens them: the structure of ``(args, kwargs)``, and the types of all leaves."""

    tree: Any
    vals: tuple[str, ...]
    static: int = 1

    def update(self, vals: tuple[str, ...]) -> Flat:
        return Flat(self.tree, vals, self.static)


def key(*types: str, setting: int = 1, static: int = 1, **keywords: str) -> Any:
    tree = jax.tree.structure((tuple(0 for _ in types), dict.fromkeys(keywords, 0)))
    return (setting,), (Flat(tree, (*types, *keywords.values()), static), "debug"), ()


def text_of(now: Any, before: Any, *explanations: tuple[int, int, str]) -> str:
    """Return the text for two keys, where JAX explains first one difference, and then another."""
    first, *further = explanations
    rest = iter(further)
    return str(ranked(lambda *_: next(rest), (now, before), first)[-1])


def test_what_differs_besides_a_setting_is_named_too() -> None:
    setting, nothing = SETTING.format("jax_enable_x64"), (4, 0, "unavailable")
    one, other = key("f32[4]", setting=1), key("f32[5]", setting=2)
    assert text_of(one, key("f32[4]", setting=2), (0, 1, setting), nothing) == setting
    types = TYPES.format("f32[5]")
    assert text_of(one, other, (0, 1, setting), (3, 1, types)) == f"{setting}\n{types}"
    hidden = text_of(one, key("f32[4]", setting=2, static=2), (0, 1, setting), nothing)
    assert hidden == f"{setting}\n  further differences: 1"


def test_arguments_that_jax_does_not_name_are_counted() -> None:
    passed = CONTAINERS.format("[0]")
    by_position = key("f32[4]", "f32[9]")
    for now, text in (
        (key("f32[4]", y="f32[9]"), passed),
        (key("f32[5]", y="f32[9]"), f"{passed}\n  further differences: 1"),
        (key("f32[5]", y="f32[8]"), f"{passed}\n  further differences: 2"),
    ):
        assert text_of(now, by_position, (1, 1, passed)) == text
    named = CONTAINERS.format("[0][0]")  # the argument that JAX names is the one that differs
    assert text_of(key("f32[5]"), key("f32[4]"), (1, 1, named)) == named


def test_a_static_value_that_jax_does_not_look_at_differs_besides_a_type() -> None:
    types = TYPES.format("f32[5]")
    assert text_of(key("f32[4]"), key("f32[5]"), (3, 1, types)) == types
    assert text_of(key("f32[4]"), key("f32[5]", static=2), (3, 1, types)) == f"{types}\n  further differences: 1"


def test_with_keys_of_another_form_something_else_may_differ() -> None:
    types = TYPES.format("f32[5]")
    assert text_of("key", "another", (3, 1, types)) == f"{types}\n  further differences: 1"


def test_calls_from_which_less_differs_rank_first_and_of_them_those_that_differ_in_types_alone() -> None:
    """JAX's own order is that of its numbers, and then that of the number of arguments and the text."""
    setting = SETTING.format("jax_enable_x64")
    explanations = [
        (3, 1, TYPES.format("f32[5]")),
        (3, 1, TYPES.format("bf16[3]")),
        (3, 1, TYPES.format("f32[5,4]")),
        (4, 0, "cache miss explanation unavailable"),
        (1, 1, STATIC.format("[0][1]")),
        (1, 1, CONTAINERS.format("[0]")),
        (0, 1, setting),
        (3, 2, TYPES.format("f32[5]") + "\n  * at y, now f32[4] and before f32[5]"),
        (1, 2, CONTAINERS.format("[0][0]") + "\n" + CONTAINERS.format("[0][1]").partition("\n")[2]),
        (0, 2, setting + "\n" + SETTING.format("jax_debug_nans").partition("\n")[2]),
        (2, 1, "Debug info doesn't match."),
    ]
    now, static = key("f32[4]"), key("f32[4]", static=2)
    ranks = [
        ranked(lambda *_: (4, 0, ""), (now, static if severity == 4 else now), (severity, count, text))
        for severity, count, text in explanations
    ]
    assert ranks == sorted(ranks)
