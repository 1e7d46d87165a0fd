"""Causes of real calls name the function, the argument and the difference as their author would."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from callables import Scaled, Twice
from settings import enabled_x64

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause, Compilation
from jaxmagic.records.cell_names import add_naming, remove_naming
from jaxmagic.timing import report as words


def compiled(call: Callable[[], Any]) -> tuple[Compilation, ...]:
    with jaxmagic.stopwatch() as watch:
        watch.result = call()
    return watch.timing.compilations


def cause(call: Callable[[], Any]) -> Cause:
    """Return the cause of the one user function that `call` compiles."""
    (one,) = (each for each in compiled(call) if not each.eager)
    return one.cause


# --- functions of JAX's, about which it explains nothing ----------------------------------------------------------


@pytest.mark.parametrize("function", [jnp.tanh, jax.nn.softplus, jax.vmap(jnp.cosh), partial(jnp.logaddexp, 1.0)])
def test_one_that_is_jitted_is_called_for_the_first_time(function: Any) -> None:
    f = jax.jit(function)
    assert cause(lambda: f(jnp.ones(3))).reason == "first call, as far as calls were measured"
    assert cause(lambda: f(jnp.ones(4))).kind == "shape"


def test_a_partial_of_one_that_is_made_anew(x: Any) -> None:
    def call() -> Any:
        return jax.jit(partial(jnp.hypot, x))(x)

    call()
    assert [cause(call).kind, cause(call).kind] == ["first call", "new function"]
    assert cause(lambda: jax.jit(partial(jnp.arctan2, x))(x)).kind == "first call"


# --- calls that were not measured ----------------------------------------------------------------------------------


def test_calls_from_before_the_caches_were_cleared_are_compared_with_no_later_one() -> None:
    f = jax.jit(lambda x: x * 227)
    f(jnp.ones(3))
    assert cause(lambda: f(jnp.ones(5))).kind == "shape"
    jax.clear_caches()
    reason = cause(lambda: f(jnp.ones(3))).reason
    assert reason == "first call since the function left JAX's caches (jax.clear_caches()?)"
    assert cause(lambda: f(jnp.ones(9))).before == "f32[3]"


# --- re-created functions -----------------------------------------------------------------------------------------


def test_a_lambda_made_anew_as_a_static_argument(x: Any) -> None:
    f = jax.jit(lambda x, act: act(x), static_argnames="act")

    def call() -> Any:
        return f(x, lambda y: y + 1)

    call()
    found = [cause(call), cause(call)][1]
    assert (found.kind, found.argument) == ("static value", "act")
    assert found.reason.startswith("static argument act is the same function, re-created: <lambda> (test_causes_of_")
    assert "0x" not in found.reason
    assert found.remedy == "define the function once, outside, and pass the same object as act in every call"


def test_another_function_as_a_static_argument_is_a_program_of_its_own(x: Any) -> None:
    f = jax.jit(lambda x, act: act(x), static_argnames="act")
    cause(lambda: f(x, jnp.tanh))
    found = cause(lambda: f(x, jax.nn.relu))
    assert found.reason.startswith("static argument act is a different function: relu (")
    assert found.remedy is None


def test_the_same_lambda_on_another_line_is_made_anew(x: Any) -> None:
    first = compiled(lambda: jax.jit(lambda x: x * 3.5)(x))
    second = compiled(lambda: jax.jit(lambda x: x * 3.5)(x))
    assert [each.cause.kind for each in (*first, *second)] == ["first call", "new function"]


def test_a_callable_object_around_a_function_is_another_function(x: Any) -> None:
    def f(x: Any) -> Any:
        return x - 7

    assert [cause(lambda each=each: jax.jit(each)(x)).kind for each in (f, Twice(f), Twice(f))] == [
        "first call",
        "first call",
        "new function",
    ]


def test_a_callable_object_without_a_name_has_the_one_of_its_class(x: Any) -> None:
    f, y = jax.jit(Scaled(2)), x[:3]
    (first,) = compiled(lambda: f(x))
    assert (first.function, first.cause.reason) == ("Scaled", "first call, as far as calls were measured")
    assert cause(lambda: f(y)).kind == "shape"
    assert cause(lambda: jax.jit(Scaled(2))(x)).kind == "new function"
    other = cause(lambda: jax.jit(Scaled(3))(x))
    assert other.reason == "the same source was compiled before, with a different self.factor: 3 now, 2 before"


def test_a_bound_method_is_made_anew_whenever_it_is_asked_for(x: Any) -> None:
    class Model:
        def step(self, x: Any) -> Any:
            return x - 9

    model = Model()
    assert [cause(lambda: jax.jit(model.step)(x)).kind for _ in range(2)] == ["first call", "new function"]


def test_the_body_of_an_eager_loop_that_is_made_anew(x: Any) -> None:
    def call() -> Any:
        return jax.lax.scan(lambda c, _: (c * 1.5, None), x, None, length=3)

    call()
    found = next(each.cause for each in [*compiled(call), *compiled(call)][1:] if each.function == "scan")
    assert found.kind == "new function"
    assert found.reason.startswith("the function passed to scan is the same one, re-created: ")
    assert (found.remedy or "").endswith("pass what varies as an argument, if no shape or length depends on it")


def test_a_function_of_a_cell_is_where_the_cell_is(x: Any) -> None:
    class Cells:
        def __call__(self, file: str) -> str | None:
            return "cell 7" if file == __file__ else None

    jitted = jax.jit(lambda x, act: act(x), static_argnames="act")

    def call() -> Any:
        jitted(x, lambda y: y + 11)
        return jax.lax.scan(lambda c, _: (c * 2.5, None), x, None, length=3)

    cells = Cells()
    add_naming(cells)
    try:
        reasons = [each.cause.reason for each in [*compiled(call), *compiled(call), *compiled(call)]]
    finally:
        remove_naming(cells)
    remade = [each for each in reasons if "re-created" in each]
    assert len(remade) >= 3
    assert all("<lambda> (cell 7:" in each for each in remade)


def test_loops_with_other_bodies_are_not_one_made_anew(x: Any) -> None:
    def body(number: float) -> Any:
        return lambda c, _: (c * number, None)

    def call() -> None:
        jax.lax.scan(body(1.5), x, None, length=3)
        jax.lax.scan(body(2.5), x, None, length=3)

    found = [each.cause for each in compiled(call) if each.function == "scan"]
    assert [each.kind for each in found] == ["eager", "eager"]
    assert all(each.remedy is None for each in found)


# --- eager operations ---------------------------------------------------------------------------------------------


def test_an_eager_operation_on_another_shape_has_it_as_its_cause() -> None:
    one, other = jnp.arange(11.0), jnp.arange(12.0)
    (first,) = compiled(lambda: jnp.cos(one))
    assert (first.eager, first.cause.kind, first.cause.remedy) == (True, "eager", None)  # jit would compile as well
    (second,) = compiled(lambda: jnp.cos(other))
    assert second.eager
    assert second.cause.reason == "argument x has a different shape: f32[12] now, f32[11] before"


def test_an_eager_operation_on_another_dtype_has_it_as_its_cause() -> None:
    one, other = jnp.arange(11.0), jnp.arange(11.0).astype(jnp.bfloat16)
    compiled(lambda: jnp.cosh(one))
    assert [each.cause.kind for each in compiled(lambda: jnp.cosh(other))] == ["dtype"]


def test_a_primitive_with_another_shape_has_it_as_its_cause() -> None:
    compiled(lambda: jnp.full((3, 31), 2.0))
    found = [each.cause for each in compiled(lambda: jnp.full((3, 32), 2.0)) if each.cause.kind == "shape"]
    assert [each.reason for each in found] == ["the result has a different shape: (3, 32) now, (3, 31) before"]
    assert found[0].remedy is None


def test_operations_that_run_while_a_function_is_traced_get_no_advice(x: Any) -> None:
    @jax.jit
    def f(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            table = jnp.sinh(jnp.arange(13.0)) * 2 + 1
        return x + table.sum()

    operations = [each for each in compiled(lambda: f(x)) if each.eager and each.compiled]
    assert len(operations) >= 3
    assert {each.cause.kind for each in operations} == {"while tracing"}
    assert all(
        (each.cause.reason.startswith("run while ") and each.cause.reason.endswith(".f was traced"))
        or each.cause.reason == "run while f was traced"
        for each in operations
    )
    assert {each.cause.remedy for each in operations} == {None}


def test_a_numpy_array_made_an_array_is_a_transfer() -> None:
    array = np.ones((7, 5))
    (found,) = compiled(lambda: jnp.array(array))
    assert (found.eager, found.cause.kind) == (True, "transfer")
    assert found.cause.reason == "values of the host copied to the device: f32[7,5]"
    assert found.cause.remedy is not None
    assert "jax.device_put" in found.cause.remedy


def test_one_eager_operation_beside_a_function_gets_no_advice() -> None:
    f = jax.jit(lambda x: x + 1)
    jnp.ones(2)  # compiles the conversion of the fill value, which all shapes share
    operation, function = compiled(lambda: f(jnp.ones((5, 3, 1, 17))))
    assert operation.eager
    assert operation.cause.remedy is None
    assert function.cause.kind == "first call"


def test_three_eager_operations_are_worth_one_program() -> None:
    x = jnp.arange(3.0 * 5 * 7 * 11).reshape(3, 5, 7, 11, 1, 1)
    found = [each for each in compiled(lambda: jnp.sin(jnp.exp(x)) / jnp.log(x)) if each.cause.kind == "eager"]
    assert len(found) >= 3
    assert {each.cause.remedy for each in found} == {"wrap the computation in jax.jit"}


@pytest.mark.parametrize("everywhere", [False, True])
def test_operations_of_a_jitted_function_say_that_jit_is_disabled(everywhere: bool) -> None:
    x = jnp.arange(3.0 * 5 * 7 * 13).reshape(3, 5, 7, 13, 1, 1, *(1,) * everywhere)
    f = jax.jit(lambda x: jnp.sin(jnp.exp(x)) / jnp.log(x))
    jax.config.update("jax_disable_jit", everywhere)
    try:
        with nullcontext() if everywhere else jax.disable_jit():
            found = [each.cause for each in compiled(lambda: f(x))]
    finally:
        jax.config.update("jax_disable_jit", False)
    assert {(each.kind, "jax_disable_jit" in (each.remedy or "")) for each in found} == {("eager", True)}


# --- arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strong", "weak", "type"),
    [
        (jnp.ones(3), jnp.repeat(1.0, 3), "f32[3]"),
        (jnp.float32(2), jnp.asarray(2.0), "f32[]"),
        (jnp.int32(2), jnp.asarray(3) * 2, "i32[]"),
    ],
)
def test_a_weakly_typed_array_is_no_python_number(strong: jax.Array, weak: jax.Array, type: str) -> None:
    f = jax.jit(lambda x: x * 2)
    cause(lambda: f(strong))
    found = cause(lambda: f(weak))
    assert (
        found.reason
        == f"argument x is a different kind of array: {type} (a weakly typed array) now, {type} (an array) before"
    )
    assert found.remedy == "pass the same dtype in every call, with jnp.asarray(value, dtype)"
    assert all(each.eager for each in compiled(lambda: f(jnp.asarray(weak, strong.dtype))))


def test_a_python_number_is_no_array() -> None:
    f, scalar = jax.jit(lambda x: x * 2), jnp.float32(2)
    cause(lambda: f(scalar))
    found = cause(lambda: f(2.0))
    assert "f32[] (a Python float) now, f32[] (an array) before" in found.reason
    assert found.remedy == "pass an array in every call, with jnp.asarray(value, dtype)"


def test_a_scalar_of_numpy_is_named() -> None:
    f = jax.jit(lambda x: x * 2)
    cause(lambda: f(2.0))
    assert "f32[] (a NumPy scalar) now, f32[] (a Python float) before" in cause(lambda: f(np.float32(2))).reason
    g = jax.jit(lambda x: x * 3)
    cause(lambda: g(np.float32(2)))
    assert "f32[] (a Python float) now, f32[] (a NumPy scalar) before" in cause(lambda: g(2.0)).reason


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_shapes_are_compared_with_the_closest(order: tuple[int, int]) -> None:
    f = jax.jit(lambda batch: batch + 1)
    earlier, now = (jnp.ones((5, 65)), jnp.ones((8, 65))), jnp.ones((8, 33))
    for place in order:
        cause(lambda place=place: f(earlier[place]))
    assert cause(lambda: f(now)).reason == "argument batch has a different shape: f32[8,33] now, f32[8,65] before"


def test_a_nearer_call_that_nobody_measured_is_compared_with() -> None:
    f = jax.jit(lambda x, y: x.sum() + y.sum())
    cause(lambda: f(jnp.ones(8), jnp.ones(8, int)))
    short, halves = jnp.ones(4), jnp.ones(4, jnp.bfloat16)
    f(short, jnp.ones(4, int))
    found = cause(lambda: f(short, halves))
    assert found.reason == "argument y has a different dtype: bf16[4] now, i32[4] before"


def test_the_nearest_of_all_calls_is_compared_with_also_of_those_that_nobody_measured() -> None:
    f = jax.jit(lambda w, x: w * 229 + x.sum())
    w = jnp.ones(4)
    for measured in ((8, 4), (5, 4)):
        cause(lambda shape=measured: f(w, jnp.ones(shape)))
    halves, scalar = jnp.ones((9, 4), jnp.bfloat16), jnp.float32(1)
    f(w, jnp.ones((9, 4)))
    found = cause(lambda: f(w, halves))
    assert found.reason == "argument x has a different dtype: bf16[9,4] now, f32[9,4] before"
    f(w, scalar)
    assert cause(lambda: f(w, 1.0)).reason.startswith("argument x is a different kind of number")


def in_one_block(*calls: Callable[[], Any]) -> list[str]:
    """Return the causes of the user functions that several calls compile."""
    return [each.cause.reason for each in compiled(lambda: [call() for call in calls]) if not each.eager]


def test_the_call_from_which_fewest_arguments_differ_is_compared_with() -> None:
    f = jax.jit(lambda w, obs: w * jnp.exp(-(obs**2)))
    w, half, obs = jnp.ones(101), jnp.ones(101, jnp.bfloat16), jnp.zeros(101)
    *_, last = in_one_block(lambda: f(w, 0.3), lambda: f(half, np.float32(1)), lambda: f(w, obs))
    assert last == "argument obs has a different shape: f32[101] now, f32[] (a Python float) before"


def test_of_static_values_dtypes_and_structures_the_fewest_are_named() -> None:
    @partial(jax.jit, static_argnames="mode")
    def g(p: Any, x: Any, mode: str = "a") -> Any:
        return jax.tree.map(lambda leaf: (leaf * x).sum(), p)

    x, whole = jnp.ones(6), jnp.ones(6, jnp.int32)
    *_, static, key = in_one_block(
        lambda: g({"a": x, "b": x}, whole),
        lambda: g((x, x), x),
        lambda: g({"a": x, "b": x}, x[:1], mode="b"),
        lambda: g({"a": x, "b": x}, whole, mode="b"),
        lambda: g({"a": x, "b": whole}, x[:1], mode="b"),
    )
    assert static == "static argument mode has a different value: 'b' now, 'a' before"
    assert key == "argument p['b'] has a different dtype: i32[6] now, f32[6] before"


def test_a_setting_alone_is_told_where_another_call_had_another_sharding_besides() -> None:
    f = jax.jit(lambda u: u - 0.1 * jnp.tanh(u))
    u = jnp.ones(66)
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    split = jax.device_put(u, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i")))

    def strictly() -> Any:
        with jax.numpy_rank_promotion("raise"):
            return f(u)

    *_, last = in_one_block(lambda: f(u), lambda: f(split), strictly)
    assert last.startswith("the setting jax_numpy_rank_promotion has a different value: raise now, allow before")
    assert "other differences" not in last


def test_a_replicated_argument_on_another_mesh_is_named_beside_a_sharded_one() -> None:
    f = jax.jit(lambda a, b: a @ b)
    x = jnp.ones((6, 6))
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))
    specs = (jax.sharding.PartitionSpec("i"), jax.sharding.PartitionSpec())
    split, whole = (jax.device_put(x, jax.sharding.NamedSharding(mesh, each)) for each in specs)
    *_, last = in_one_block(lambda: f(x, x), lambda: f(split, whole))
    on, off = "f32[6,6] on a mesh with explicit axis i now", "f32[6,6] on no mesh before"
    own = on.replace("[6", "[6@i")
    assert last == f"argument a has a different sharding: {own}, {off}; and other differences at b ({on}, {off})"


def test_x64_is_told_before_the_dtype_that_follows_from_it() -> None:
    f, array = jax.jit(lambda x: x * 1.25), np.ones((3, 4))

    def both() -> Any:
        f(array)
        with enabled_x64():
            return f(array)

    _, found = (each.cause for each in compiled(both) if not each.eager)
    assert (found.kind, found.argument) == ("context", "jax_enable_x64")
    assert found.reason == (
        "the setting jax_enable_x64 has a different value: True now, False before; and other differences at x "
        "(f64[3,4] now, f32[3,4] before)"
    )


def test_another_mesh_is_told_whatever_setting_was_used_meanwhile(x: Any) -> None:
    f = jax.jit(lambda x: x @ x)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("d",))
    cause(lambda: f(x))
    with jax.default_matmul_precision("highest"):
        assert cause(lambda: f(x)).argument == "jax_default_matmul_precision"
    with jax.set_mesh(mesh) if hasattr(jax, "set_mesh") else mesh:
        found = [each.cause for each in compiled(lambda: f(x))]
    assert [each.reason for each in found] in ([], ["the mesh differs: {'d': 1} now, none before"])


def test_a_list_where_a_tuple_was(x: Any) -> None:
    f = jax.jit(lambda tree: tree[0] + tree[1])
    cause(lambda: f((x, x)))
    assert cause(lambda: f([x, x])).reason == "argument tree has a different pytree structure: list now, tuple before"


@pytest.mark.parametrize(
    ("now", "before", "path", "words"),
    [
        ({"w": 1.0, "extra": 1.0}, {"w": 1.0}, "tree", "dict with keys 'extra', 'w' now, dict with key 'w' before"),
        ([1.0] * 300, [1.0] * 299, "tree", "list of length 300 now, list of length 299 before"),
        ([1.0, None], [1.0], "tree", "list of length 2 now, list of length 1 before"),
        (OrderedDict(a=1.0), OrderedDict(b=1.0),
         "tree", "OrderedDict with key 'a' now, OrderedDict with key 'b' before"),
        ({"a": [1.0]}, {"a": 1.0}, "tree['a']", "list of length 1 now, a single leaf before"),
        ({"a": [1.0]}, {"a": None}, "tree['a']", "list of length 1 now, None before"),
        ({(1, 2): 1.0}, {(1, 2): 1.0, (3, 4): 1.0}, "tree", "dict of 1 key now, dict of 2 keys before"),
        ({"a": ()}, {"a": []}, "tree['a']", "empty tuple now, empty list before"),
        (dict.fromkeys("abcdef", 1.0), dict.fromkeys("abcde", 1.0),
         "tree", "dict of 6 keys, with 'f' now, dict of 5 keys, without 'f' before"),
    ],
)  # fmt: skip
def test_a_container_with_other_elements_is_described(now: Any, before: Any, path: str, words: str) -> None:
    f = jax.jit(lambda tree: jnp.ones(3))
    cause(lambda: f(before))
    assert cause(lambda: f(now)).reason == f"argument {path} has a different pytree structure: {words}"


def test_keys_of_another_kind_are_to_be_made_in_the_same_way() -> None:
    f = jax.jit(lambda key: jax.random.normal(key, (2,)))
    typed, raw = jax.random.key(0), jax.random.PRNGKey(0)
    cause(lambda: f(typed))
    found = cause(lambda: f(raw))
    assert found.remedy is not None
    assert "jax.random.key" in found.remedy


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ((2, 3), (2, 4)), (None, 1)])
def test_a_static_value_that_is_no_number_has_no_remedy(x: Any, first: Any, second: Any) -> None:
    f = jax.jit(lambda x, mode: x + 1, static_argnames="mode")
    cause(lambda: f(x, mode=first))
    found = cause(lambda: f(x, mode=second))
    assert (found.kind, found.remedy) == ("static value", None)


# --- transformations, pmap, ahead of time ---------------------------------------------------------------------------


def test_a_function_under_vmap_has_its_own_causes(x: Any) -> None:
    f, other = jax.jit(lambda x: x * 2.25), jnp.ones((5, 9))
    first = cause(lambda: jax.vmap(f)(x))
    assert (first.kind, first.remedy) == ("transformation", None)  # jax.jit(jax.vmap(f)) compiles as well
    assert first.reason == "part of jax.vmap, around <lambda>"
    reason = cause(lambda: jax.vmap(f)(other)).reason
    assert reason == "argument x has a different shape: f32[5,9] now, f32[8,8] in an earlier measurement"


def test_both_passes_of_a_gradient_are_one_program_in_jit(x: Any) -> None:
    f = jax.jit(lambda x: x * 2.5)
    found = [each.cause for each in compiled(lambda: jax.grad(lambda x: f(x).sum())(x)) if not each.eager]
    assert [each.reason for each in found] == [
        "part of the forward pass of jax.grad or jax.vjp, around <lambda>",
        "part of the backward pass of jax.grad or jax.vjp, around <lambda>",
    ]
    assert all(each.remedy and each.remedy.startswith("jit the whole") for each in found)


@pytest.mark.skipif(jax.__version_info__ < (0, 8), reason="pmap of this JAX does not show its calls")
def test_pmap_has_the_name_and_the_arguments_of_its_function() -> None:
    def scaled(batch: Any) -> Any:
        return batch * 2

    f, one, other = jax.pmap(scaled), jnp.ones((1, 4)), jnp.ones((1, 6))
    first, second = (next(each for each in compiled(lambda x=x: f(x)) if not each.eager) for x in (one, other))
    assert (first.function, first.cause.reason) == ("scaled", "first call, as far as calls were measured")
    assert first.location is not None
    assert "test_causes_of_calls.py" in first.location
    assert second.cause.reason == "argument batch has a different shape: f32[1,6] now, f32[1,4] before"


def test_what_is_only_traced_says_so(x: Any) -> None:
    def f(x: Any) -> Any:
        return x + 71

    found = cause(lambda: jax.jit(f).lower(x))
    assert (found.kind, found.reason) == ("ahead of time", "traced by .lower(), .trace() or jax.eval_shape")


# --- in the report ------------------------------------------------------------------------------------------------


def test_the_report_tells_eager_operations_by_their_causes() -> None:
    one, other, array = jnp.arange(21.0), jnp.arange(22.0), np.ones((9, 5))
    compiled(lambda: jnp.tan(one))
    with jaxmagic.stopwatch() as watch:
        watch.result = jnp.tan(other), jnp.array(array)
    shape, transfer = words.about_compilations(watch.timing, 3)
    assert shape.startswith("1 eager operation compiled for a different shape, ")
    assert shape.endswith(
        "(tan: argument x has a different shape: f32[22] now, f32[21] before): "
        "pad to a few fixed shapes, or expect one compilation per shape."
    )
    assert transfer.startswith("1 eager operation compiled to create or move arrays, ")


@pytest.mark.parametrize("transform", [jax.grad, jax.value_and_grad, lambda loss: jax.vmap(loss, in_axes=(0, None))])
def test_what_jax_says_of_a_jitted_function_inside_is_not_said_of_the_next_call(x: Any, transform: Any) -> None:
    @jax.jit
    def loss(w: Any, scale: Any) -> Any:
        return scale * (w**2).sum()

    step = jax.jit(transform(loss))  # has the name of the function inside

    def both() -> Any:
        step(x, 1)
        return step(x, 1.0)

    first, second = (each.cause for each in compiled(both) if not each.eager)
    assert first.kind == "first call"
    assert (second.kind, second.argument) == ("weak type", "scale")
