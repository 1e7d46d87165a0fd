"""JAX's explanations, in every layout that is supported, as one cause and one remedy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.analysis.causes import Memory, find_cause
from jaxmagic.model.compilation import CAUSE_KINDS, Cause
from jaxmagic.model.spans import Call, Leaf, Miss

NEW = (
    "TRACING CACHE MISS at cell.py:3:5 (<module>):\n  for f defined at cell.py:1\n"
    "  all previously seen cache keys differ. For the closest previous key:\n  {}"
)
OLD = (
    "TRACING CACHE MISS at cell.py:3:5 (<module>) costing 2.8 ms because:\n  for f defined at cell.py:1\n"
    "  all previously seen cache keys are different. Closest previous key:\n  * key with {}"
)


def call(**changes: object) -> Call:
    values: dict[str, object] = {
        "name": "f",
        "location": "cell.py:1",
        "source_id": 1,
        "parameters": ("x", "n"),
        "leaves": {},
        "statics": {},
    }
    return Call(**(values | changes))  # type: ignore[arg-type]


def explain(text: str, the_call: Call | None = None, memory: Memory | None = None) -> Cause:
    miss = Miss(text=text, thread=1, at_ns=0)
    return find_cause("f", the_call or call(), miss, traced=True, memory=memory or Memory())


@pytest.mark.parametrize(
    ("text", "kind", "argument", "now", "before"),
    [
        (NEW.format("different input types:\n  * at x, now f32[4,4] and before f32[8,8]"),
         "shape", "x", "f32[4,4]", "f32[8,8]"),
        (OLD.format("different input types:\n      types now: x: f32[4,4]\n        * at x, now f32[4,4] and before f32[8,8]"),
         "shape", "x", "f32[4,4]", "f32[8,8]"),
        (NEW.format("different input types:\n  * at p['w'], now i32[4] and before f32[4]"),
         "dtype", "p['w']", "i32[4]", "f32[4]"),
        (NEW.format("different input types:\n  * at x, now f32[]({}){weak_type=True} and before f32[]({}){weak_type=False}"
                    "https://docs.jax.dev/en/latest/type_promotion.html#weak-types"),
         "weak type", "x", "a Python number (weak type)", "an array"),
        (OLD.format("different input types:\n      types now: x: f32[]\n        * at x, now f32[]{weak_type=False} and before "
                    "f32[]{weak_type=True}\n    where weak_type=True often means a Python builtin numeric value"),
         "weak type", "x", "an array", "a Python number (weak type)"),
        (NEW.format("different input types:\n  * at x, now f32[]({}){weak_type=True} and before f32[4,4]({}){weak_type=False}"),
         "shape", "x", "f32[] (a Python number)", "f32[4,4]"),
        (OLD.format("different input types:\n      types now: x: f32[8,8]\n        * at x, now f32[8,8]({Auto: ('d',)}) and "
                    "before f32[8,8]({})"),
         "placement", "x", "f32[8,8]({Auto: ('d',)})", "f32[8,8]({})"),
        (OLD.format("different value of static kwargs:\n      now {mode: 'a, b', n: 2} and before {mode: 'a, b', n: 1}"),
         "static value", "n", "2", "1"),
        (OLD.format("different value of static args:\n      now 2 and before 1"), "static value", None, "2", "1"),
        (NEW.format("different input pytree:\n  * at input path [1]['n'], now <class 'jax._src.tree_util.Static'> with pytree "
                    "metadata Static(val=2) and before <class 'jax._src.tree_util.Static'> with pytree metadata Static(val=1), "
                    "so the pytree node metadata does not match"),
         "static value", "n", "2", "1"),
        (NEW.format("different input pytree:\n  * at input path [0][0], now <class 'dict'> with 2 children and before "
                    "<class 'dict'> with 1 child, so the numbers of children do not match, with the symmetric difference of "
                    "key sets {'b'}"),
         "pytree", "x", "dict with 2 children", "dict with 1 child"),
        (OLD.format("different input pytree:\n      now: PyTreeDef(1)\n      before: PyTreeDef(2)\n      * at args[0], now "
                    "<class 'dict'> with 2 children and before <class 'dict'> with 1 child, so the numbers differ"),
         "pytree", "x", "dict with 2 children", "dict with 1 child"),
        (OLD.format("different number of args and kwargs, but same total number.\n      now 0 args and kwargs with keys ['x']\n"
                    "      before 1 args and kwargs with keys []"),
         "pytree", None, "0 args and kwargs with keys ['x']", "1 args and kwargs with keys []"),
        (NEW.format("Tracing context doesn't match, e.g. due to config or context manager.\n"
                    "  * jax_default_matmul_precision differs: now highest and before None"),
         "context", "jax_default_matmul_precision", "highest", "None"),
        (OLD.format("different tracing context, e.g. due to config or context manager.\n    found differences at positions\n"
                    "      [27]: now highest and before None\n    compare to tuple returned by config.trace_context()"),
         "context", None, "highest", "None"),
    ],
)  # fmt: skip
def test_an_explanation_becomes_a_cause(text: str, kind: str, argument: str | None, now: str, before: str) -> None:
    cause = explain(text)
    assert (cause.kind, cause.argument, cause.now, cause.before) == (kind, argument, now, before)
    assert cause.remedy
    assert now in cause.reason
    assert before in cause.reason


def test_several_arguments_that_differ_are_all_named() -> None:
    cause = explain(
        NEW.format(
            "different input types:\n  * at x, now f32[4] and before f32[8]\n  * at y, now i32[4] and before f32[4]"
        )
    )
    assert cause.argument == "x"
    assert "other types also at y" in cause.reason


def test_keys_that_only_one_pytree_has_are_named() -> None:
    cause = explain(
        NEW.format(
            "different input pytree:\n  * at input path [0][0], now <class 'dict'> with 2 children and before "
            "<class 'dict'> with 1 child, so the numbers of children do not match, with the symmetric difference of "
            "key sets {'b'}"
        )
    )
    assert "'b'" in cause.reason


def test_where_jax_has_no_explanation_the_last_call_has_one() -> None:
    memory = Memory()
    memory.remember(call(statics={"n": "1", "m": "0"}))
    cause = explain(NEW.format("cache miss explanation unavailable"), call(statics={"n": "2", "m": "0"}), memory)
    assert (cause.kind, cause.argument, cause.now, cause.before) == ("static value", "n", "2", "1")


def test_where_there_was_no_last_call_the_static_values_are_named() -> None:
    cause = explain(NEW.format("cache miss explanation unavailable"), call(statics={"n": "2"}))
    assert cause.kind == "static value"
    assert "n=2" in cause.reason


def test_what_nobody_explains_is_unknown_and_not_guessed() -> None:
    cause = explain(NEW.format("cache miss explanation unavailable"))
    assert cause.kind == "unknown"
    assert "unavailable" not in cause.reason
    assert cause.remedy is None


def test_compiled_without_tracing_is_a_matter_of_placement() -> None:
    memory = Memory()
    memory.remember(call(leaves={"x": Leaf(type="f32[8]", placement="cpu:0 (uncommitted)")}))
    now = call(leaves={"x": Leaf(type="f32[8]", placement="cpu:1 (committed)")})
    cause = find_cause("f", now, None, traced=False, memory=memory)
    assert (cause.kind, cause.argument, cause.now) == ("placement", "x", "cpu:1 (committed)")


def test_compiled_without_tracing_and_without_an_earlier_call_claims_no_placement() -> None:
    now = call(leaves={"x": Leaf(type="f32[8]", placement="cpu:0 (uncommitted)")})
    cause = find_cause("f", now, None, traced=False, memory=Memory())
    assert (cause.kind, cause.remedy) == ("unknown", None)
    assert "by itself for the first time, or for another device" in cause.reason


def test_one_argument_is_named_once_where_several_earlier_calls_are_equally_close() -> None:
    difference = "different input types:\n      types now: x: i32[4]\n        * at x, now i32[4] and before f32[{}]\n"
    cause = explain(OLD.format(difference.format(4)) + "  * key with " + difference.format(8))
    assert cause.reason == "argument x has another dtype: i32[4] now, f32[4] before"


def never_seen(hint: bool) -> str:
    text = "TRACING CACHE MISS at cell.py:3:5 (<module>):\n  never seen function:\n    f id=1 defined at cell.py:1"
    return text + ("\n  but seen another function defined on the same line; maybe" if hint else "")


def test_a_function_never_seen_is_a_first_call() -> None:
    cause = explain(never_seen(hint=False))
    assert (cause.kind, cause.remedy) == ("first call", None)


def test_the_same_source_again_is_a_new_function_even_where_jax_has_no_hint() -> None:
    memory = Memory()
    memory.remember(call(location="first run of the cell:1"))
    assert explain(never_seen(hint=False), call(location="second run:1"), memory).kind == "new function"


def test_jaxs_hint_is_believed_where_nothing_is_known() -> None:
    assert explain(never_seen(hint=True), call(source_id=None)).kind == "new function"


def test_jaxs_hint_is_not_believed_for_another_source() -> None:
    memory = Memory()
    explain(never_seen(hint=False), call(source_id=1), memory)
    assert explain(never_seen(hint=True), call(source_id=2), memory).kind == "first call"


def test_the_memory_is_bounded() -> None:
    memory = Memory()
    for n in range(3000):
        memory.remember(call(name=f"f{n}"))
    assert len(memory.last_call) <= 1000


@given(st.text(max_size=300), st.booleans())
def test_any_text_is_some_cause(text: str, traced: bool) -> None:
    for layout in (NEW, OLD):
        for start in (
            "",
            "different input types:\n  * at ",
            "different input pytree:\n  * at input path [0][",
            "now {",
        ):
            cause = find_cause(
                "f",
                call(),
                Miss(text=layout.replace("{}", start + text), thread=1, at_ns=0),
                traced=traced,
                memory=Memory(),
            )
            assert cause.kind in CAUSE_KINDS
            assert cause.reason
