"""`layout` and `gather`: what reorders arrays, reads or writes by index for much of a run is found, with its line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from gathered_evidence import evidence_of

from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules import sort
from jaxmagic.doctor.rules.device import gather, layout

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA reorders other arrays on other devices")


def found_in(rule: Any, function: Callable[..., Any], *args: Any, share: float = 0.5) -> list[RuleFinding]:
    """Apply a rule to a call whose operations of the rule's category together take a share of its run."""
    return found_at(evidence_of(function, *args), rule, share)


def found_at(evidence: Evidence, rule: Any, share: float, longer: float = 0, **changes: Any) -> list[RuleFinding]:
    """Apply a rule to evidence with times that do not depend on the machine.

    Of a run of 8 ms, the operations of the rule's category take a share, and all others nothing; with `changes`, the
    longest operation, of its category if there is one, with these alone. The recorded run takes longer by a share.
    """
    profile, times = evidence.profile, {"dispatch_ns": 8_000_000, "wait_ns": 0, "cpu_user_ns": 8_000_000}
    timed = replace(evidence.typical, **times, cpu_system_ns=0, code_wait_ns=None, compilations=())
    assert profile is not None
    runs = profile.runs or 1
    operations = sorted(profile.operation_times, key=lambda each: -each.time_ns)
    if changes:
        own = [each for each in operations if each.category in CATEGORIES[rule][:1]]
        operations = [replace((own or operations)[0], **changes)]
    by_category = ([each for each in operations if each.category == category] for category in CATEGORIES[rule])
    counted = next(filter(None, by_category), [])
    each_ns = round(share * timed.wall_ns) * runs // max(len(counted), 1)
    profile = replace(
        profile,
        operation_times=tuple(replace(each, time_ns=each_ns) for each in counted),
        device_uses=(),
        recorded_ns=round(timed.wall_ns * runs * (1 + longer)),
    )
    return list(rule.look(replace(evidence, observed=timed, timed=(timed,), profile=profile)))


def values(*shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(0), shape)


def indices(count: int, below: int) -> jax.Array:
    return jax.random.randint(jax.random.key(1), (count,), 0, below)


#: The category of the operations that a rule is about, or else of the fusion that checks indices in `jnp.take`.
CATEGORIES = {layout: ("layout change",), gather: ("gather", "elementwise fusion"), sort: ("sort",)}


@jax.jit
def attend(query: jax.Array, keys: jax.Array) -> jax.Array:
    scores = jnp.einsum("bhd,bthd->bht", query, keys)
    return jax.nn.softmax(scores)


class TestLayout:
    def test_cached_keys_that_each_step_reorders(self) -> None:
        (found,) = found_in(layout, attend, values(2, 8, 64), values(2, 64, 8, 64))
        assert found.source == 'scores = jnp.einsum("bhd,bthd->bht", query, keys)'
        assert str(found.remedy).startswith("Pass keys as jnp.transpose(keys, (0, 2, 3, 1)): XLA stores it so here.")
        assert (found.code, found.applies_to) == ("keys = jnp.transpose(keys, (0, 2, 3, 1))", "attend")
        assert found.basis == "estimated"
        assert found.cost_ns is not None

    def test_the_remedy_leaves_nothing_to_reorder(self) -> None:
        @jax.jit
        def attend(query: jax.Array, keys: jax.Array) -> jax.Array:
            return jax.nn.softmax(jnp.einsum("bhd,bhtd->bht", query, keys))

        assert found_in(layout, attend, values(2, 8, 64), values(2, 8, 64, 64)) == []

    def test_each_argument_has_an_order_of_its_own(self) -> None:
        @jax.jit
        def attend(query: jax.Array, keys: jax.Array) -> jax.Array:
            return jnp.einsum("bqhd,bkhd->bhqk", query, keys)

        (found,) = found_in(layout, attend, values(2, 32, 8, 64), values(2, 64, 8, 64))
        assert found.code is not None
        assert sorted(found.code.splitlines()) == [
            "keys = jnp.transpose(keys, (0, 2, 3, 1))",
            "query = jnp.transpose(query, (0, 2, 1, 3))",
        ]
        assert "XLA stores them so here" in str(found.remedy)

    def test_arguments_inside_a_pytree_have_an_order_and_no_code(self) -> None:
        @jax.jit
        def attend(query: jax.Array, cache: dict[str, jax.Array]) -> jax.Array:
            return jnp.einsum("bhd,bthd->bht", query, cache["keys"])

        (found,) = found_in(layout, attend, values(2, 8, 64), {"keys": values(2, 64, 8, 64)})
        assert str(found.remedy).startswith("Pass cache['keys'] as jnp.transpose(cache['keys'], (0, 2, 3, 1)):")
        assert found.code is None

    def test_a_program_that_is_transformed_outside_of_jit_has_other_axes_than_the_function(self) -> None:
        (found,) = found_in(layout, jax.vmap(attend), values(3, 2, 8, 64), values(3, 2, 64, 8, 64))
        assert found.code is None
        assert str(found.remedy).startswith("Pass keys in the order of axes that this line needs: create it so")

    def test_an_argument_that_two_lines_need_in_different_orders_has_none(self) -> None:
        @jax.jit
        def attend(query: jax.Array, last: jax.Array, keys: jax.Array) -> Any:
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, keys)
            return scores, jnp.einsum("bhd,bthd->tbh", last, keys)

        arrays = values(2, 32, 8, 64), values(2, 8, 64), values(2, 64, 8, 64)
        findings = found_in(layout, attend, *arrays, share=0.9)
        assert any("keys" in str(found.remedy) for found in findings)
        for found in findings:
            assert found.code is None
            assert "(0, 2" not in str(found.remedy)

    def test_an_array_that_the_program_makes_has_no_known_cost(self) -> None:
        @jax.jit
        def attend(query: jax.Array, keys: jax.Array) -> jax.Array:
            keys = jnp.sort(keys, axis=-1)
            return jnp.einsum("bhd,bthd->bht", query, keys)

        evidence = evidence_of(attend, values(2, 2, 8), values(2, 64, 2, 8))
        assert found_at(evidence, layout, 0.499) == []
        (found,) = found_at(evidence, layout, 0.501)
        assert str(found.remedy).startswith("Keep one order of axes")
        assert (found.cost_ns, found.basis) == (None, None)

    def test_images_whose_channels_move(self) -> None:
        @jax.jit
        def channels_first(images: jax.Array) -> jax.Array:
            return jnp.transpose(images, (0, 3, 1, 2))

        (found,) = found_in(layout, channels_first, values(2, 128, 128, 3))
        assert found.source == "return jnp.transpose(images, (0, 3, 1, 2))"

    @pytest.mark.parametrize(
        "function",
        [lambda x: (x + x.T) / 2, lambda x: jnp.maximum(x, x.T), lambda x: x.T + 1, lambda x: (x.T, x + 1)],
    )
    def test_arrays_that_are_used_in_both_orders_or_computed_with_are_left_alone(self, function: Any) -> None:
        assert found_in(layout, jax.jit(function), values(600, 600)) == []

    def test_inside_a_flax_module(self) -> None:
        nn = pytest.importorskip("flax.linen")

        class Decoder(nn.Module):
            @nn.compact
            def __call__(self, x: jax.Array, keys: jax.Array) -> jax.Array:
                query = nn.DenseGeneral((8, 64))(x)
                return jnp.einsum("bhd,bthd->bht", query, keys)

        decoder, x, keys = Decoder(), values(4, 16), values(4, 64, 8, 64)
        (found,) = found_in(layout, jax.jit(decoder.apply), decoder.init(jax.random.key(0), x, keys), x, keys)
        assert found.source == 'return jnp.einsum("bhd,bthd->bht", query, keys)'

    @pytest.mark.parametrize(
        ("function", "shapes"),
        [
            (lambda x, w: jnp.tanh(x @ w), [(256, 256), (256, 256)]),
            (lambda x, w: jnp.tanh(x @ w.T), [(256, 256), (256, 256)]),
            (lambda x: x.reshape(-1) * 2, [(300, 400)]),
        ],
    )
    def test_products_and_sums_over_other_axes_are_left_alone(self, function: Any, shapes: Any) -> None:
        assert found_in(layout, jax.jit(function), *(values(*shape) for shape in shapes)) == []


class TestGather:
    def test_rows_of_a_table(self) -> None:
        @jax.jit
        def embed(table: jax.Array, tokens: jax.Array) -> jax.Array:
            return table[tokens]

        (found,) = found_in(gather, embed, values(5000, 64), indices(1000, 5000))
        assert found.source == "return table[tokens]"
        assert str(found.found).startswith("embed reads elements by index (gather) for ")
        assert (found.cost_ns, found.basis) == (None, None)

    def test_outside_of_jit_it_is_another_rules_matter(self) -> None:
        def embed(table: jax.Array, tokens: jax.Array) -> jax.Array:
            return table[tokens]

        assert found_in(gather, embed, values(5000, 64), indices(1000, 5000)) == []

    def test_gradients_that_are_added_at_indices(self) -> None:
        @jax.jit
        def count(weights: jax.Array, tokens: jax.Array) -> jax.Array:
            return jnp.zeros((1000, 64)).at[tokens].add(weights)

        (found,) = found_in(gather, count, values(1000, 64), indices(1000, 1000))
        assert str(found.found).startswith("count writes elements by index (scatter) for ")
        assert found.source == "return jnp.zeros((1000, 64)).at[tokens].add(weights)"
        assert str(found.remedy).startswith("If they can be fewer and larger, write them so: whole rows")

    def test_inside_a_flax_module(self) -> None:
        nn = pytest.importorskip("flax.linen")
        model, tokens = nn.Embed(5000, 64), indices(1000, 5000)
        (found,) = found_in(gather, jax.jit(model.apply), model.init(jax.random.key(0), tokens), tokens)
        assert found.found.kind == "doctor.gather"

    def test_a_fusion_that_replaces_what_is_out_of_bounds(self) -> None:
        @jax.jit
        def embed(table: jax.Array, tokens: jax.Array) -> jax.Array:
            return jnp.take(table, tokens, axis=0)

        (found,) = found_in(gather, embed, values(5000, 64), indices(1000, 5000))
        if jax.__version_info__ >= (0, 10):  # before, operations inside of JAX's own jitted functions have no line
            assert found.source == "return jnp.take(table, tokens, axis=0)"
        assert found.found.facts["function"] == "embed"

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: jnp.tanh(jnp.take(x, jnp.argsort(x[:, 0]), axis=0)),
            lambda x: x[3:200] * 2,
            lambda x: jnp.interp(x, x[0], x[1]),
            lambda x: jax.lax.dynamic_slice(x, (x[0, 0].astype(int), 0), (100, 400)) * 2,
            lambda x: jax.lax.scan(lambda carry, row: (carry + row, carry * row), x[0], x)[1],
        ],
    )
    def test_slices_and_loops_are_left_alone(self, function: Any) -> None:
        assert found_in(gather, jax.jit(function), values(300, 400)) == []


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return evidence_of(attend, values(2, 2, 8), values(2, 64, 2, 8))


@pytest.mark.parametrize(
    ("rule", "least", "changes"),
    [
        (layout, 0.2, {"category": "layout change"}),
        (gather, 0.3, {"category": "gather", "scope": "jit(attend)/gather"}),
        (gather, 0.3, {"category": "gather", "scope": "jit(attend)/scatter-add"}),
        (sort, 0.3, {"category": "sort", "scope": "jit(attend)/jit(argsort)/sort"}),
    ],
)
def test_least_share_that_counts(evidence: Evidence, rule: Any, least: float, changes: dict[str, str]) -> None:
    assert found_at(evidence, rule, least - 0.001, **changes) == []
    (found,) = found_at(evidence, rule, least + 0.001, **changes)
    assert f"for {100 * least:.0f} % of the run" in str(found.found)


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        (layout, {"category": "layout change"}),
        (gather, {"category": "gather", "scope": "jit(attend)/gather"}),
        (gather, {"category": "gather", "scope": "jit(attend)/scatter-add"}),
    ],
)
def test_one_execution_that_a_busy_machine_disturbed_is_no_finding(
    evidence: Evidence, rule: Any, changes: dict[str, str]
) -> None:
    assert len(found_at(evidence, rule, 0.9, longer=0.5, **changes)) == 1
    assert found_at(evidence, rule, 0.9, longer=0.75, **changes) == []
    several = {"count": 4, "total_ns": 4_000_000, "median_ns": 1e6}
    assert len(found_at(evidence, rule, 0.9, longer=0.75, **changes, **several)) == 1
    assert found_at(evidence, rule, 0.9, **changes, **several | {"median_ns": 0.2e6}) == []


def test_operations_of_other_categories_and_primitives_do_not_count(evidence: Evidence) -> None:
    assert found_at(evidence, layout, 0.9, category="matmul") == []
    assert found_at(evidence, gather, 0.9, category="gather", scope="jit(attend)/dynamic_slice") == []
    assert found_at(evidence, gather, 0.9, category="gather", module="jit_other", scope="jit(attend)/gather") == []


def test_promises_about_indices_are_advised_where_they_may_help(evidence: Evidence) -> None:
    on_gpu = replace(evidence.first, environment=replace(evidence.first.environment, backend="gpu"))
    evidence = replace(evidence, first=on_gpu)
    (found,) = found_at(evidence, gather, 0.5, category="gather", scope="jit(attend)/scatter-add")
    assert "unique_indices=True" in str(found.remedy)
