"""JAX's explanations, in every supported layout, become one cause and one remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.compilation.analysis import jax_explanations
from jaxmagic.compilation.record.compilation import CAUSE_KINDS, Cause
from jaxmagic.compilation.record.events import Call

NEW = (
    "TRACING CACHE MISS at cell.py:3:5 (<module>):\n  for f defined at cell.py:1\n"
    "  all previously seen cache keys differ. For the closest previous key:\n  {}"
)
OLD = (
    "TRACING CACHE MISS at cell.py:3:5 (<module>) costing 2.8 ms because:\n  for f defined at cell.py:1\n"
    "  all previously seen cache keys are different. Closest previous key:\n  * key with {}"
)


STATIC = (
    "different input pytree:\n  * at input path [1]['n'], now <class 'jax._src.tree_util.Static'> with pytree metadata "
    "Static(val=2) and before <class 'jax._src.tree_util.Static'> with pytree metadata Static(val=1), so the pytree "
    "node metadata does not match"
)
CALL = Call(name="f", parameters=("x", "n"))


def read(text: str) -> Cause:
    cause = jax_explanations.read(text, CALL)
    assert cause is not None
    return cause


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
         "weak type", "x", "f32[] (a Python number or a weakly typed array)", "f32[] (an array)"),
        (OLD.format("different input types:\n      types now: x: f32[]\n        * at x, now f32[]{weak_type=False} and before "
                    "f32[]{weak_type=True}\n    where weak_type=True often means a Python builtin numeric value"),
         "weak type", "x", "f32[] (an array)", "f32[] (a Python number or a weakly typed array)"),
        (NEW.format("different input types:\n  * at x, now f32[]({}){weak_type=True} and before f32[4,4]({}){weak_type=False}"),
         "shape", "x", "f32[] (a Python number or a weakly typed array)", "f32[4,4]"),
        (OLD.format("different input types:\n      types now: x: f32[8,8]\n        * at x, now f32[8,8]({Auto: ('d',)}) and "
                    "before f32[8,8]({})"),
         "placement", "x", "f32[8,8] on a mesh with auto axis d", "f32[8,8] on no mesh"),
        (OLD.format("different value of static kwargs:\n      now {mode: 'a, b', n: 2} and before {mode: 'a, b', n: 1}"),
         "static value", "n", "2", "1"),
        (OLD.format("different value of static args:\n      now 2 and before 1"), "static value", None, "2", "1"),
        (NEW.format(STATIC), "static value", "n", "2", "1"),
        (NEW.format("different input pytree:\n  * at input path [0][0], now <class 'dict'> with 2 children and before "
                    "<class 'dict'> with 1 child, so the numbers of children do not match, with the symmetric difference of "
                    "key sets {'b'}"),
         "pytree", "x", "dict with 2 children", "dict with 1 child"),
        (OLD.format("different input pytree:\n      now: PyTreeDef(1)\n      before: PyTreeDef(2)\n      * at args[0], now "
                    "<class 'dict'> with 2 children and before <class 'dict'> with 1 child, so the numbers differ"),
         "pytree", "x", "dict with 2 children", "dict with 1 child"),
        (OLD.format("different number of args and kwargs, but same total number.\n      now 0 args and kwargs with keys ['x']\n"
                    "      before 1 args and kwargs with keys []"),
         "pytree", None, "x=…", "1 by position"),
        (NEW.format("Tracing context doesn't match, e.g. due to config or context manager.\n"
                    "  * jax_default_matmul_precision differs: now highest and before None"),
         "context", "jax_default_matmul_precision", "highest", "None"),
        (OLD.format("different tracing context, e.g. due to config or context manager.\n    found differences at positions\n"
                    "      [27]: now highest and before None\n    compare to tuple returned by config.trace_context()"),
         "context", None, "highest", "None"),
    ],
)  # fmt: skip
def test_an_explanation_becomes_a_cause(text: str, kind: str, argument: str | None, now: str, before: str) -> None:
    cause = read(text)
    assert (cause.kind, cause.argument, cause.now, cause.before) == (kind, argument, now, before)
    assert cause.remedy or "[]" in now  # nothing makes a number an array of two dimensions
    assert now in cause.reason
    assert before in cause.reason


def test_several_arguments_that_differ_are_all_named() -> None:
    cause = read(
        NEW.format(
            "different input types:\n  * at x, now f32[4] and before f32[8]\n  * at y, now i32[4] and before f32[4]"
        )
    )
    assert cause.argument == "x"
    assert cause.reason.endswith("and other differences at y (i32[4] now, f32[4] before)")


def test_keys_that_only_one_pytree_has_are_named() -> None:
    cause = read(
        NEW.format(
            "different input pytree:\n  * at input path [0][0], now <class 'dict'> with 1 child and before "
            "<class 'dict'> with 0 child, so the numbers of children do not match, with the symmetric difference of "
            "key sets {'b'}"
        )
    )
    assert cause.reason == (
        "argument x has a different pytree structure: dict with 1 child now, dict with 0 children before; "
        "keys in only one of them: {'b'}"
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("input path [0]", "different arguments by position"),
        ("args", "different arguments by position"),
        ("input path [1]", "different arguments by keyword"),
        ("kwargs", "different arguments by keyword"),
        ("kwargs['n']", "argument n has a different pytree structure"),
    ],
)
def test_the_nest_of_all_arguments_is_no_argument(path: str, reason: str) -> None:
    cause = read(NEW.format(f"different input pytree:\n  * at {path}, now tuple and before dict, so they differ"))
    assert cause.reason.startswith(reason)


@pytest.mark.parametrize(
    ("by_keyword", "now", "words"),
    [
        (("mode", "n"), "dict with 2 children",
         "the arguments are passed differently: 1 by position, mode=…, n=… now, 1 by position before"),
        (("mode",), "dict with 2 children", "different arguments by keyword: 2 now, none before"),
        ((), "dict with 1 child", "different arguments by keyword: 1 now, none before"),
    ],
)  # fmt: skip
def test_keyword_arguments_are_named_where_the_call_has_no_others(
    by_keyword: tuple[str, ...], now: str, words: str
) -> None:
    text = f"different input pytree:\n  * at kwargs, now {now} and before dict with 0 child, so they differ"
    found = jax_explanations.read(NEW.format(text), replace(CALL, call_signature=(1, by_keyword)))
    assert found is not None
    assert found.reason == words


@pytest.mark.parametrize(
    ("signature", "difference", "before", "one_way"),
    [
        ((0, ("n", "x")), ("0", "2", "with 2 children", "with 0 child", "{'n' 'x'}"), "2 by position", True),
        ((1, ("n",)), ("1", "0", "with 1 child", "with 2 children", "{'x'}"), "n=…, x=…", True),
        ((1, ("n",)), ("1", "0", "with pytree metadata ('n',)", "with pytree metadata ('x',)", ""), "x=…", False),
        ((2, ()), ("2", "1", "with 0 child", "with 1 child", "{'n'}"), "1 by position, n=…", True),
    ],
)
def test_how_an_earlier_call_passed_its_arguments_follows_from_what_differs(
    signature: tuple[int, tuple[str, ...]], difference: tuple[str, ...], before: str, one_way: bool
) -> None:
    now, then, keys, other, symmetric = difference
    text = "different input pytree:\n" + "\n".join(
        (
            f"  * at input path [0], now tuple of length {now} and before tuple of length {then}, so they do not match",
            f"  * at input path [1], now <class 'dict'> {keys} and before <class 'dict'> {other}, so the numbers of "
            f"children do not match, with the symmetric difference of key sets: {symmetric}",
        )
    )
    found = jax_explanations.read(NEW.format(text), replace(CALL, call_signature=signature))
    assert found is not None
    assert found.reason.startswith("the arguments are passed differently: ")
    assert found.before == before
    assert (found.remedy == "pass each argument by position in every call, or by keyword in every call") is one_way


MORE = "different input pytree:\n  * at input path {}, now {} and before {}, so they do not match"


@pytest.mark.parametrize(
    "text",
    [
        NEW.format(
            MORE.format("[1]", "<class 'dict'> with 1 child", "<class 'dict'> with 0 child")
            + ", with the symmetric difference of key sets: {'n'}"
        ),
        NEW.format(MORE.format("[0]", "tuple of length 2", "tuple of length 1")),
        OLD.format("different value of static kwargs:\n      now {n: (2, 4)} and before {}"),
        OLD.format("different value of static args:\n      now (2, 4) and before "),
    ],
)
def test_a_static_argument_that_was_left_out_before_is_named_with_its_value(text: str) -> None:
    """Its default may be the same value, so nothing is said of another one."""
    found = jax_explanations.read(text, replace(CALL, static_args={"n": "(2, 4)"}, call_signature=(1, ("n",))))
    assert found is not None
    reason = "static argument n is passed now, and was left out before: (2, 4)"
    assert (found.kind, found.argument, found.reason, found.remedy) == ("static value", "n", reason, None)


def test_an_argument_that_is_not_static_or_is_passed_otherwise_was_not_left_out() -> None:
    more = MORE.format("[0]", "tuple of length 2", "tuple of length 1")
    other = "\n  * at input path [1], now <class 'dict'> with 0 child and before <class 'dict'> with 1 child"
    for text, static in ((more, {}), (more + other, {"n": "2"})):
        found = jax_explanations.read(NEW.format(text), replace(CALL, static_args=static))
        assert found is not None
        assert found.reason.startswith("different arguments by position")


def test_the_value_of_a_static_argument_is_told_before_one_that_was_left_out() -> None:
    texts = [f"different value of static kwargs:\n      now {{n: 3}} and before {each}" for each in ("{}", "{n: 2}")]
    assert read(OLD.format("\n  * key with ".join(texts))).before == "2"


def test_a_nearer_call_is_one_from_which_less_differs() -> None:
    text = "different input types:\n  * at x, now f32[4] and before f32[8]"
    for layout in (NEW, OLD):
        found = jax_explanations.nearer(layout.format(text), CALL, (1, 2))
        assert found is not None
        assert (found.kind, found.argument) == ("shape", "x")
        assert jax_explanations.nearer(layout.format(text), CALL, (1, 1)) is None  # as much
    two = text + "\n  * at y, now f32[4] and before f32[8]"
    assert jax_explanations.nearer(NEW.format(two), CALL, (1, 3)) is None  # one argument is nearer than two
    static = "different value of static kwargs:\n      now {n: 2} and before {n: 1}\n  * key with "
    assert jax_explanations.nearer(OLD.format(static + text), CALL, (1, 2)) is None  # of the same call
    assert jax_explanations.nearer("cache miss explanation unavailable", CALL, (1, 2)) is None


def test_one_argument_is_named_once_where_several_earlier_calls_are_equally_close() -> None:
    difference = "different input types:\n      types now: x: i32[4]\n        * at x, now i32[4] and before f32[{}]\n"
    cause = read(OLD.format(difference.format(4)) + "  * key with " + difference.format(8))
    assert cause.reason == "argument x has a different dtype: i32[4] now, f32[4] before"


def test_the_call_that_differs_in_less_is_chosen_where_jax_names_several() -> None:
    difference = "different input types:\n      types now: x: i32[4]\n        * at x, now i32[4] and before {}\n"
    cause = read(OLD.format(difference.format("f32[8]")) + "  * key with " + difference.format("i32[8]"))
    assert cause.reason == "argument x has a different shape: i32[4] now, i32[8] before"
    assert cause.remedy is not None


SETTING = "Tracing context doesn't match, e.g. due to config or context manager.\n  * jax_enable_x64 differs: now True and before False"


def test_a_setting_and_a_type_are_both_named() -> None:
    cause = read(NEW.format(f"{SETTING}\ndifferent input types:\n  * at x, now f64[4] and before f32[4]"))
    assert (cause.kind, cause.argument) == ("context", "jax_enable_x64")
    assert cause.reason.endswith("True now, False before; and other differences at x (f64[4] now, f32[4] before)")


def test_what_jax_does_not_name_is_said_to_differ_and_has_no_remedy() -> None:
    text = NEW.format(f"{SETTING}\n  further differences: 1")
    assert (read(text).reason, read(text).remedy) == (
        "the setting jax_enable_x64 has a different value: True now, False before; and something else, which JAX does "
        "not name",
        None,
    )
    assert jax_explanations.nearer(text, CALL, (9, 9)) is None
    assert jax_explanations.stated_distance(text) == (2, jax_explanations.stated_distance(text)[1])  # type: ignore[index]


def test_one_mesh_in_several_settings_is_one_difference() -> None:
    mesh = "\n  * {}mesh_context_manager differs: now Mesh('d': 1) and before None"
    text = NEW.format(f"Tracing context doesn't match{mesh.format('')}{mesh.format('abstract_')}")
    assert read(text).reason == "the mesh differs: Mesh('d': 1) now, None before"
    assert jax_explanations.stated_distance(text) == (1, 1)


def test_a_context_without_a_name_is_said_to_have_none() -> None:
    cause = read(NEW.format("Tracing context doesn't match, e.g. due to config or context manager."))
    assert (cause.kind, cause.now) == ("context", None)
    assert "does not say which" in cause.reason


@given(st.text(max_size=300))
def test_any_text_is_some_cause_or_none(text: str) -> None:
    for layout in (NEW, OLD):
        for start in (
            "",
            "different input types:\n  * at ",
            "different input pytree:\n  * at input path [0][",
            "now {",
        ):
            cause = jax_explanations.read(layout.replace("{}", start + text), CALL)
            assert cause is None or cause.kind in CAUSE_KINDS
