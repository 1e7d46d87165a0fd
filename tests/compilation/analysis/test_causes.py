"""Which of the three sources decides about the cause: the call, earlier calls, or JAX's explanation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.compilation.analysis.call_memory import Memory
from jaxmagic.compilation.analysis.causes import find_cause
from jaxmagic.compilation.record.compilation import CAUSE_KINDS, Cause
from jaxmagic.compilation.record.events import Call, Leaf, Miss, Node

MISS = "TRACING CACHE MISS at cell.py:3:5 (<module>):\n  for f defined at cell.py:1\n  {}"
UNAVAILABLE = MISS.format("cache miss explanation unavailable")
SHAPE = MISS.format("different input types:\n  * at y, now f32[4] and before f32[8]")
SETTING = MISS.format("Tracing context doesn't match\n  * {} differs: now True and before False")
F32, F64 = Leaf(type="f32[4]", placement=None), Leaf(type="f64[4]", placement=None)


def call(**changes: object) -> Call:
    values: dict[str, object] = {
        "name": "f",
        "location": "cell.py:1",
        "function_id": 1,
        "source_id": 1,
        "call_signature": (1, ()),
        "names": ("x", "n"),
    }
    return Call(**(values | changes))  # type: ignore[arg-type]


def find(text: str | None, the_call: Call | None, *earlier: Call, traced: bool = True) -> Cause:
    memory = Memory()
    for each in earlier:
        memory.remember(each)
    miss = None if text is None else Miss(text=text, thread=1, at_ns=0)
    return find_cause(the_call, miss, traced=traced, memory=memory)


def never_seen(hint: bool) -> str:
    text = "TRACING CACHE MISS at cell.py:3:5 (<module>):\n  never seen function:\n    f id=1 defined at cell.py:1"
    return text + ("\n  but seen another function defined on the same line; maybe" if hint else "")


def test_an_earlier_call_that_was_seen_is_believed_before_jaxs_closest() -> None:
    cause = find(SHAPE, call(static_args={"n": "2"}), call(static_args={"n": "1"}))
    assert (cause.kind, cause.argument, cause.now, cause.before) == ("static value", "n", "2", "1")


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({}, "do not declare it static, and pass it as an array of one dtype, "),
        ({"wrapped": True}, "pass an array in every call, such as jnp.asarray(0.2): equinox.filter_jit, which "),
        ({"wrapped": True, "options": {"static arguments": "n"}}, "do not declare it static, "),  # of jax.pmap
    ],
)
def test_only_what_was_declared_static_is_to_be_declared_so_no_more(changes: dict[str, object], remedy: str) -> None:
    now, before = call(static_args={"n": "0.2"}, **changes), call(static_args={"n": "0.1"}, **changes)
    assert str(find(UNAVAILABLE, now, before).remedy).startswith(remedy)


def test_a_static_field_is_declared_static_in_a_call_that_a_library_makes() -> None:
    own = Node("Scaled", 1, ("w",))
    made = [call(static_args={"m.n": each}, nodes={"m": own}, wrapped=True) for each in ("0.2", "0.1")]
    assert str(find(UNAVAILABLE, *made).remedy).startswith("do not declare it static, ")
    leaf = [replace(each, nodes={"m": replace(own, names=("w", "n"))}) for each in made]
    assert str(find(UNAVAILABLE, *leaf).remedy).startswith("pass an array in every call")


def test_sizes_of_a_layer_differ_with_its_shapes() -> None:
    layer = Node("Linear", 1, ("weight",))
    now = call(leaves={"m.weight": F32}, static_args={"m.size": "4"}, nodes={"m": layer}, names=("m",))
    before = replace(now, leaves={"m.weight": Leaf(type="f32[8]", placement=None)}, static_args={"m.size": "8"})
    cause = find(UNAVAILABLE, now, before)
    assert (cause.kind, cause.argument, cause.remedy) == ("shape", "m.weight", None)
    assert cause.reason.endswith("; and other differences at m.size (4 now, 8 before)")


def test_a_call_that_was_not_measured_is_believed_where_less_differs_from_it() -> None:
    now = call(leaves={"x": F32, "y": F32}, names=("x", "y"))
    before = call(leaves={each: Leaf(type="i32[8]", placement=None) for each in "xy"}, names=("x", "y"))
    assert find(UNAVAILABLE, now, before).reason.endswith("and other differences at y (f32[4] now, i32[8] before)")
    nearer = find(SHAPE, now, before)
    assert (nearer.argument, nearer.reason) == ("y", "argument y has a different shape: f32[4] now, f32[8] before")
    assert find(SHAPE, replace(now, wrapped=True), before).argument == "x"  # JAX's arguments are the library's


@pytest.mark.parametrize("text", [UNAVAILABLE, None])
def test_where_a_nearer_call_may_have_gone_unseen_the_measured_one_is_named_as_such(text: str | None) -> None:
    now, before = (call(leaves={"x": Leaf(type=each, placement=None)}) for each in ("bf16[8,4]", "f32[5,4]"))
    memory = Memory()
    memory.remember(before)
    assert find(text, now, before).remedy is not None  # both in one block
    memory.begin()
    cause = find_cause(now, text and Miss(text=text, thread=1, at_ns=0), traced=True, memory=memory)
    different = "argument x has a different shape and dtype: bf16[8,4] now, f32[5,4] in an earlier measurement"
    assert (cause.reason, cause.remedy) == (different, None)


def test_the_measured_call_is_the_cause_where_none_can_be_nearer() -> None:
    types = ("bf16[8]", "f32[8]", "f32[5]")
    now, before, other = (call(leaves={"x": Leaf(type=each, placement=None)}) for each in types)
    two = "different input types:\n  * at x, now bf16[8] and before f32[5]"
    for earlier, text in ((before, UNAVAILABLE), (other, MISS.format(two))):
        memory = Memory()
        memory.remember(earlier)
        memory.begin()
        cause = find_cause(now, Miss(text=text, thread=1, at_ns=0), traced=True, memory=memory)
        assert cause.reason.endswith("before")
        assert cause.remedy is not None


def test_without_an_earlier_call_jax_is_believed() -> None:
    assert find(SHAPE, call(static_args={"n": "2"})).argument == "y"
    assert find(SHAPE, call(function_id=2), call(function_id=1, static_args={"n": "1"})).argument == "y"


def test_a_setting_that_jax_names_is_believed_first() -> None:
    now, before = call(static_args={"n": "2"}, context=2), call(static_args={"n": "1"}, context=1)
    text = SETTING.format("jax_default_matmul_precision")
    alone, besides = find(text, now, before), find(f"{text}\n  further differences: 1", now, before)
    assert {(each.kind, each.argument) for each in (alone, besides)} == {("context", "jax_default_matmul_precision")}
    assert alone.reason.endswith("True now, False before")  # of a call that was not measured, with the same n
    assert besides.reason.endswith("and other differences at n (2 now, 1 before)")


def test_a_setting_is_not_blamed_where_a_call_under_the_same_one_was_seen() -> None:
    """JAX compares with the last call that it saw, which may have had a different setting."""
    wide, narrow = ({"x": Leaf(type=each, placement=None)} for each in ("f32[8]", "f32[3]"))
    before = call(leaves=wide, context=1), call(leaves=wide, context=2)
    cause = find(SETTING.format("jax_default_matmul_precision"), call(leaves=narrow, context=1), *before)
    assert (cause.kind, cause.argument) == ("shape", "x")


@pytest.mark.parametrize(
    "text",
    [
        SETTING.format("jax_enable_x64") + "\ndifferent input types:\n  * at x, now f64[4] and before f32[4]",
        UNAVAILABLE,
    ],
)
def test_a_setting_is_told_before_the_float64_that_it_allows(text: str) -> None:
    """The setting is named from the calls if JAX does not name it, as on 0.8."""
    before = call(leaves={"x": F32}, context=1, settings={"jax_enable_x64": "False"})
    cause = find(text, call(leaves={"x": F64}, context=2, settings={"jax_enable_x64": "True"}), before)
    assert (cause.kind, cause.argument) == ("context", "jax_enable_x64")
    assert cause.reason == (
        "the setting jax_enable_x64 has a different value: True now, False before; and other differences at x "
        "(f64[4] now, f32[4] before)"
    )
    assert cause.remedy == "set configuration and mesh once, before the first call"  # which would have been enough


def test_a_call_that_was_not_measured_is_nearer_where_its_arguments_are_passed_differently_alone() -> None:
    """Nobody measured the call that passed ``n`` by position under the present setting."""
    setting = {"context": 2, "settings": {"jax_enable_x64": "True"}}
    before = call(leaves={"x": F32}, context=1, settings={"jax_enable_x64": "False"})
    now = call(leaves={"x": F32}, call_signature=(0, ("x",)), **setting)
    passed = "different input pytree:\n  * at input path [0], now tuple of length 0 and before tuple of length 1"
    assert find(MISS.format(passed), now, before).reason == (
        "the arguments are passed differently: x=… now, 1 by position, x=… before"
    )
    both = find(MISS.format(f"{passed}\n  further differences: 1"), now, before)
    assert both.reason.startswith("the setting jax_enable_x64 has a different value: True now, False before")
    assert find(MISS.format(passed), now, replace(before, **setting)).reason.startswith("the arguments are passed")


def test_a_context_without_a_name_is_believed_last() -> None:
    unnamed = MISS.format("Tracing context doesn't match, e.g. due to config or context manager.")
    assert find(unnamed, call(static_args={"n": "2"}), call(static_args={"n": "1"})).kind == "static value"
    assert find(unnamed, call(), call()).kind == "context"


def test_what_nobody_explains_is_unknown_and_not_guessed() -> None:
    cause = find(UNAVAILABLE, call())
    assert (cause.kind, cause.reason, cause.remedy) == ("unknown", "JAX gave no reason", None)
    assert find(UNAVAILABLE, None).kind == "unknown"
    assert find(None, None).kind == "unknown"


def test_static_values_are_named_where_nothing_is_known_of_earlier_ones() -> None:
    cause = find(UNAVAILABLE, call(static_args={"n": "2"}))
    assert cause.kind == "unknown"
    assert "static arguments: n=2" in cause.reason


def test_compiled_without_tracing_is_a_matter_of_placement() -> None:
    before = call(leaves={"x": Leaf(type="f32[8]", placement="cpu:0 (uncommitted)")})
    now = call(leaves={"x": Leaf(type="f32[8]", placement="cpu:1 (committed)")})
    cause = find(None, now, before, traced=False)
    assert (cause.kind, cause.argument, cause.now) == ("placement", "x", "cpu:1 (committed)")


def test_compiled_without_tracing_and_without_an_earlier_call_claims_no_placement() -> None:
    now = call(leaves={"x": Leaf(type="f32[8]", placement="cpu:0 (uncommitted)")})
    cause = find(None, now, traced=False)
    assert (cause.kind, cause.remedy) == ("unknown", None)
    assert "on its own for the first time, or with a different device" in cause.reason


@pytest.mark.parametrize("text", [None, UNAVAILABLE, SHAPE])
def test_an_eager_operation_is_one_whatever_jax_says(text: str | None) -> None:
    assert find(text, call(internal=True)).kind == "eager"


def test_a_function_never_seen_is_a_first_call() -> None:
    cause = find(never_seen(hint=False), call())
    assert (cause.kind, cause.remedy) == ("first call", None)


def test_the_same_source_again_is_a_new_function_even_where_jax_has_no_hint() -> None:
    first, second = call(function_id=1, location="In [1]:1"), call(function_id=2, location="In [2]:1")
    assert find(never_seen(hint=False), second, first).kind == "new function"


def test_a_new_function_that_is_called_in_another_way_would_have_compiled_anyway() -> None:
    first = call(function_id=1, leaves={"x": Leaf(type="f32[8]", placement="")})
    second = call(function_id=2, leaves={"x": Leaf(type="f32[9]", placement="")})
    found = find(never_seen(hint=False), second, first)
    assert found.kind == "new function"
    assert found.reason.endswith("; and other differences at x (f32[9] now, f32[8] before)")
    assert found.remedy is not None
    assert "jit the function once" in found.remedy
    assert ". Also for x: pad to a few fixed shapes" in found.remedy


def test_the_same_object_that_jax_has_forgotten_is_no_new_function() -> None:
    cause = find(never_seen(hint=True), call(), call())
    assert cause.kind == "cleared caches"
    assert "no longer in JAX's caches" in cause.reason


def test_calls_that_jax_has_forgotten_explain_no_other_call() -> None:
    now, before = call(leaves={"x": F32}), call(leaves={"x": F64})
    memory = Memory()
    memory.remember(before)
    memory.remember(replace(before, transformation="jax.vmap"))
    miss = Miss(text=never_seen(hint=True), thread=1, at_ns=0)
    cause = find_cause(now, miss, traced=True, memory=memory)
    reason = "first call since the function left JAX's caches (jax.clear_caches()?)"
    assert (cause.kind, cause.reason, cause.remedy) == ("cleared caches", reason, None)
    assert list(memory.calls.values()) == [[now]]


@pytest.mark.parametrize("changed", [{"location": "cell.py:9"}, {"wrapped": True}, {"transformed": True}])
def test_a_function_that_jax_has_not_forgotten_is_compared(changed: dict[str, object]) -> None:
    """JAX's explanation is then about another function, of the same name or around this one."""
    now, before = (call(leaves={"x": each}, **changed) for each in (F32, F64))
    assert find(never_seen(hint=True), now, before).kind == "dtype"


def test_jaxs_hint_is_believed_where_nothing_is_known() -> None:
    assert find(never_seen(hint=True), call(source_id=None, function_id=None)).kind == "new function"


def test_jaxs_hint_is_not_believed_for_another_source() -> None:
    memory = Memory()
    miss = [Miss(text=never_seen(hint), thread=1, at_ns=0) for hint in (False, True)]
    find_cause(call(source_id=1), miss[0], traced=True, memory=memory)
    cause = find_cause(call(source_id=2, function_id=2), miss[1], traced=True, memory=memory)
    assert cause.kind == "first call"


def test_the_memory_is_bounded() -> None:
    memory = Memory()
    for n in range(3000):
        memory.remember(call(name=f"f{n}", function_id=n))
        memory.remember(call(function_id=7))
    assert len(memory.calls) <= 1001
    assert len(memory.sources) <= 1001
    assert len(memory.recall(call(function_id=7))) <= 8


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_some_cause(text: str, traced: bool) -> None:
    cause = find(text, call(), traced=traced)
    assert cause.kind in CAUSE_KINDS
    assert cause.reason
