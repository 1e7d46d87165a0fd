"""Causes of eager operations, and the advice that depends on what else compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jaxmagic.compilation.analysis.advice import with_advice
from jaxmagic.compilation.analysis.operations import operation_cause
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.compilation.record.events import Call, Leaf


def call(name: str = "cos", type_: str = "f32[4]", placement: str | None = "cpu:0", **changes: Any) -> Call:
    leaves = {"x": Leaf(type=type_, placement=placement)}
    return Call(name=name, internal=True, call_signature=(1, ()), names=("x",), leaves=leaves, **changes)


@pytest.mark.parametrize(
    ("now", "earlier", "kind"),
    [
        (call(), [], "eager"),
        (call(), [call(type_="f32[5]")], "shape"),
        (call(), [call(type_="bf16[4]")], "dtype"),
        (call(), [call(type_="f32[4,4]")], "eager"),  # a different rank is a different use of the operation
        (call(), [call(type_="f32[]")], "eager"),
        (call(), [call(placement="cpu:1")], "placement"),
        (call(static_args={"shape": "(3,)"}), [call(static_args={"shape": "(4,)"})], "shape"),
        (call(static_args={"new_dtype": "a"}), [call(static_args={"new_dtype": "b"})], "dtype"),
        (call(static_args={"y": "3"}), [call(static_args={"y": "2"})], "eager"),
        (call("stage", placement=None), [], "transfer"),
        (call("stage", placement="cpu:0"), [], "eager"),
        (call("_multi_slice"), [], "transfer"),
        (call(while_tracing=True, outer="f"), [call(type_="f32[5]")], "while tracing"),
    ],
)
def test_what_differs_is_the_cause(now: Call, earlier: list[Call], kind: str) -> None:
    assert operation_cause(now, earlier).kind == kind


def test_a_body_made_anew_is_told_and_another_body_is_another_use() -> None:
    def loop(value: str, source: int) -> Call:
        return call("scan", static_args={"jaxpr": value}, static_functions={"jaxpr": (source, "train.py:3")})

    anew = operation_cause(loop("body (object 0x1)", 1), [loop("body (object 0x2)", 1)])
    assert (anew.kind, anew.reason) == (
        "new function",
        "the function passed to scan is the same one, re-created: body (train.py:3)",
    )
    assert operation_cause(loop("body (object 0x1)", 1), [loop("body (object 0x2)", 2)]).kind == "eager"


def test_what_only_traced_runs_in_names_the_function_if_it_has_one() -> None:
    assert operation_cause(call(while_tracing=True, outer="f"), []).reason == "run while f was traced"
    assert operation_cause(call(while_tracing=True), []).reason == "run while a function was traced"


@pytest.mark.parametrize(("count", "advised"), [(1, False), (2, False), (3, True)])
def test_jit_is_advised_from_three_operations_on(compilation: Callable[..., Any], count: int, advised: bool) -> None:
    eager = compilation(cause=Cause(kind="eager", reason="an operation outside jax.jit"))
    others = (compilation(), compilation(cause=Cause(kind="transfer", reason="")))
    found = with_advice([*[eager] * count, *others])
    assert [each.cause.remedy is not None for each in found] == [advised] * count + [False, False]


def test_jit_is_not_advised_where_it_was_disabled(compilation: Callable[..., Any]) -> None:
    disabled = operation_cause(call(jit_disabled=True), [call(type_="f32[5]")])
    found = with_advice([compilation(cause=disabled, eager=True)] * 3)
    assert {(each.cause.kind, each.cause.remedy) for each in found} == {("eager", disabled.remedy)}
    assert "jax_disable_jit" in (disabled.remedy or "")


@pytest.mark.parametrize(("count", "advice"), [(2, "pad"), (3, "wrap")])
def test_of_several_operations_on_arrays_of_several_shapes_none_is_padded(
    compilation: Callable[..., Any], count: int, advice: str
) -> None:
    eager = compilation(cause=Cause(kind="eager", reason=""), eager=True)
    next_one = compilation(cause=Cause(kind="shape", reason="", remedy="pad to a few fixed shapes"), eager=True)
    jitted = compilation(cause=Cause(kind="shape", reason="", remedy="pad to a few fixed shapes"))
    *_, found, other = with_advice([*[eager] * count, next_one, jitted])
    assert (found.cause.remedy or "").startswith(advice)
    assert other == jitted


def test_what_another_thread_compiled_does_not_count(compilation: Callable[..., Any]) -> None:
    eager = {"cause": Cause(kind="eager", reason="")}
    found = with_advice([compilation(**eager)] * 2 + [compilation(thread="other", **eager)] * 2)
    assert not any(each.cause.remedy for each in found)


def test_jit_around_a_gradient_is_advised_where_both_passes_compiled(compilation: Callable[..., Any]) -> None:
    def part(which: str) -> Any:
        return compilation(cause=Cause(kind="transformation", reason=f"part of {which}, around f"))

    backward = "the backward pass of jax.grad or jax.vjp"
    assert all(each.cause.remedy for each in with_advice([part("the forward pass of jax.grad"), part(backward)]))
    assert not any(each.cause.remedy for each in with_advice([part("jax.vmap"), part("jax.jvp")]))
