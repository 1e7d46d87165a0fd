"""`sort`: sorts of which few elements are used, or of one array in a loop, are found; others are left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gathered_evidence import evidence_of
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.report.elements import NOTES
from jaxmagic.doctor.rules import sort
from jaxmagic.doctor.rules.rewriting.top_k import top_k_of, with_top_k

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="other devices sort in other ways")


def found_in(function: Callable[..., Any], *args: Any) -> list[RuleFinding]:
    """Return the sorts that could be cheaper; a long one that may be needed is told as well."""
    return [each for each in told_of(function, *args) if each.found.kind != "doctor.sort"]


def told_of(function: Callable[..., Any], *args: Any) -> list[RuleFinding]:
    diagnosis = jaxmagic.diagnose(function, *args, only=["sort"], repeat=True)
    assert diagnosis.looked == ("sort",)
    return list(diagnosis.findings)


def values(*shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(0), shape)


def rows() -> jax.Array:
    return values(20, 1000)


def computed(code: str | None, x: jax.Array) -> Any:
    """Run ``return ...`` or ``best = ...`` as the advice says."""
    names: dict[str, Any] = {"jax": jax, "x": x}
    exec((code or "").replace("return ", "best = "), names)
    return names["best"]


def test_largest_values_are_found() -> None:
    def largest(x: jax.Array) -> jax.Array:
        return jnp.sort(x)[:, -5:]

    (found,) = found_in(jax.jit(largest), rows())
    assert str(found.found) == "1000 elements are sorted, of which only the 5 largest are used."
    assert found.code == "return jax.lax.top_k(x, 5)[0][..., ::-1]"
    assert found.basis == "estimated"
    np.testing.assert_array_equal(computed(found.code, rows()), largest(rows()))


@pytest.mark.parametrize(
    ("function", "used"),
    [
        (lambda x: (jnp.sort(x)[:, -3:], jnp.sort(x)[:, 0]), "the 3 largest and the 1 smallest are"),
        (lambda x: (jnp.sort(x)[:, -3:], jnp.sort(x * x)[:, -5:]), "the 5 largest are"),
    ],
)
def test_sorts_of_which_different_parts_are_used_are_told_together(function: Any, used: str) -> None:
    """Their times cannot be told apart, and the advice for one of them would not spare the others."""
    (found,) = found_in(jax.jit(function), rows())
    assert str(found.found).startswith(f"1000 elements are sorted, of which only {used} used, in several sorts")
    assert found.remedy is not None
    assert str(found.remedy).startswith("Replace each of these 2 sorts: jax.lax.top_k(x, k) for the k largest")
    assert ("smallest" in str(found.remedy)) == ("smallest" in used)
    assert found.code is None


def test_indices_of_the_smallest_are_found() -> None:
    def nearest(x: jax.Array) -> jax.Array:
        best = jnp.argsort(x)[..., :8]
        return best.sum(-1)

    (found,) = found_in(jax.jit(nearest), rows())
    assert found.code == "best = jax.lax.top_k(-x, 8)[1]"
    np.testing.assert_array_equal(computed(found.code, rows()), jnp.argsort(rows())[..., :8])


ORDERS = [
    "jnp.argsort(x)",
    "jnp.argsort(-x)",
    "jnp.argsort(x, descending=True)",
    "jnp.argsort(x * 2 - 1, axis=-1)",
    "jnp.sort(x)",
    "jnp.sort(-x)",
    "jnp.sort(x, descending=True)",
    "jnp.sort(-(x + 1))",
]


@pytest.mark.parametrize("part", ["ordered[..., :5]", "ordered[..., -5:]", "ordered[..., ::-1][..., :5]"])
@pytest.mark.parametrize("order", ORDERS)
def test_what_is_said_without_code_selects_the_same_elements(order: str, part: str, tmp_path: Path) -> None:
    file = tmp_path / "ranked.py"
    file.write_text(f"def ranked(x):\n    ordered = {order}\n    return {part}\n")
    names: dict[str, Any] = {"jnp": jnp, "jax": jax, "x": rows()}
    exec(compile(file.read_text(), str(file), "exec"), names)
    (found,) = found_in(jax.jit(names["ranked"]), rows())
    assert found.code is None
    said = str(found.remedy)
    written = said[len("Use ") : said.index(". It does not")]
    assert "x" in written
    selected = eval(written, names)
    np.testing.assert_array_equal(np.sort(selected, -1), np.sort(names["ranked"](rows()), -1))


@pytest.mark.parametrize(
    ("statement", "indices"),
    [
        ("y = x.argsort()", True),
        ("y = jnp.sort(x), jnp.sort(z)", False),
        ("y = jnp.sort(x, axis=0)", False),
        ("y = jnp.sort(x)", True),
        ("y = ranks(x)", True),
        ("y = (", True),
        ("", False),
    ],
)
def test_an_unclear_sort_is_described_without_names(statement: str, indices: bool) -> None:
    assert top_k_of(statement, "smallest", 5, indices=indices) == ""
    said = NOTES["partial_sort_remedy"](used=5, end="smallest", indices=indices)
    assert "-(…), 5)" in said
    assert re.search(r"\bx\b", said) is None


def test_vmapped_function_is_found() -> None:
    def best(x: jax.Array) -> jax.Array:
        return jnp.argsort(-x)[:3]

    (found,) = found_in(jax.jit(jax.vmap(best)), rows())
    assert found.code == "return jax.lax.top_k(x, 3)[1]"
    np.testing.assert_array_equal(jax.vmap(lambda x: computed(found.code, x))(rows()), jax.vmap(best)(rows()))


def test_sort_in_a_flax_module_is_found() -> None:
    nn = pytest.importorskip("flax.linen")

    class Router(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> jax.Array:
            scores = nn.Dense(512)(x)
            return jnp.argsort(scores, descending=True)[:, :4]

    router, x = Router(), values(64, 8)
    (found,) = found_in(jax.jit(router.apply), router.init(jax.random.key(0), x), x)
    assert found.source == "return jnp.argsort(scores, descending=True)[:, :4]"
    assert found.code is None


@jax.jit
def quantiles(w: jax.Array, data: jax.Array) -> jax.Array:
    ordered = jnp.sort(data)
    return w + ordered[:, ::100].sum()


def _looped(w: jax.Array, data: jax.Array) -> jax.Array:
    for _ in range(6):
        w = quantiles(w, data)
    return w


def _comprehended(w: jax.Array, data: jax.Array) -> Any:
    return [quantiles(w, data) for _ in range(6)]


def _mapped(w: jax.Array, data: jax.Array) -> Any:
    return list(map(lambda w: quantiles(w, data), [w] * 6))


@pytest.mark.parametrize("train", [_looped, _comprehended, _mapped])
def test_sort_of_the_same_array_in_a_loop_is_found(train: Callable[..., Any]) -> None:
    (found,) = found_in(train, values(3), rows())
    assert str(found.found) == "quantiles sorts data in each of 6 calls, and it is the same in all of them."
    sources = ["ordered = jnp.sort(data)"]
    if jax.__version_info__ < (0, 8):  # XLA may keep JAX's own line only
        sources += ["w = quantiles(w, data)", "return [quantiles(w, data) for _ in range(6)]"]
        sources.append("return list(map(lambda w: quantiles(w, data), [w] * 6))")
    assert found.source in sources
    assert found.basis == "measured"
    assert found.applies_to == "data"
    assert str(found.remedy).endswith("take the sort out of quantiles, which would sort the result again.")


def test_a_function_of_jax_that_sorts_by_itself_is_named() -> None:
    @jax.jit
    def spread(w: jax.Array, data: jax.Array) -> jax.Array:
        return w + jnp.quantile(data, w)

    def train(w: jax.Array, data: jax.Array) -> Any:
        return [spread(w, data) for _ in range(4)]

    (found,) = found_in(train, values(1)[0], rows().ravel())
    if jax.__version_info__ >= (0, 8):  # else XLA may keep JAX's own line only
        assert "by index, what jnp.quantile does, which sorts again." in str(found.remedy)


def test_sort_of_a_keyword_argument_after_arithmetic_is_found() -> None:
    @jax.jit
    def named(w: jax.Array, scores: jax.Array) -> jax.Array:
        return w + jnp.argsort(-scores * 2)[:, ::9].sum()

    def trained(w: jax.Array, table: jax.Array) -> jax.Array:
        for _ in range(4):
            w = named(w, scores=table)
        return w

    (found,) = found_in(trained, values(3), rows())
    assert (found.found.facts["array"], found.applies_to) == ("table", "scores")


@pytest.mark.parametrize("other", ["", "larger = jax.jit(lambda w, data: w + data.max())"])
def test_a_lambda_of_an_earlier_cell_is_found_by_its_variable(session: Session, other: str) -> None:
    session.run(
        "import jax, jax.numpy as jnp\nw = jnp.ones(8)\ndata = jax.random.normal(jax.random.key(0), (50, 1000))"
    )
    session.run(f"{other}\ns = jax.jit(lambda w, data: w + jnp.sort(data)[:, ::100].mean())")
    (found,) = session.run("%%jaxdoctor -o --only sort\nfor _ in range(5):\n    w = s(w, data)").findings
    assert found.found.kind == "doctor.repeated_sort"
    assert found.found.facts["array"] == "data"


def _everything(x: jax.Array) -> jax.Array:
    return jnp.sort(x)


def _both(x: jax.Array) -> jax.Array:
    s = jnp.sort(x)
    return s[:, -5:].sum() + s.sum()


def _many(x: jax.Array) -> jax.Array:
    return jnp.sort(x)[:, :63]  # more than one of 16


def _middle(x: jax.Array) -> jax.Array:
    return jnp.sort(x)[:, 490:510]


def _other_axis(x: jax.Array) -> jax.Array:
    return jnp.sort(x, 0)[:1]


def _both_ends(x: jax.Array) -> jax.Array:
    s = jnp.sort(x)
    return s[:, -5:] - s[:, :5]


def _payload(x: jax.Array) -> jax.Array:
    return jax.lax.sort((x, x * x), num_keys=1)[1][:, :3]


def _dynamic(x: jax.Array) -> jax.Array:
    return jax.lax.fori_loop(0, 3, lambda i, y: y + jnp.sort(x)[:, i], x[:, 0])


@pytest.mark.parametrize(
    "function",
    [
        *(_everything, _both, _many, _middle, _other_axis, _both_ends, _payload, _dynamic),
        lambda x: jax.lax.top_k(x, 5)[0],
        lambda x: jnp.median(x, axis=-1),
        lambda x: jnp.argsort(jnp.argsort(x)),
        lambda x: jnp.sort(x.astype(jnp.bfloat16))[:, :3],
        lambda x: jnp.argsort((1000 * x).astype(int))[:, :3],  # sorted by top_k as well
        jax.grad(lambda x: jnp.sort(x)[:, -5:].sum()),
    ],
)
def test_other_sorts_are_left_alone(function: Callable[..., Any]) -> None:
    assert found_in(jax.jit(function), rows()) == []


def _other_data(w: jax.Array, data: jax.Array) -> jax.Array:
    for number in range(4):
        w = quantiles(w, data + number)
    return w


def _data_changes(w: jax.Array, data: jax.Array) -> jax.Array:
    for _ in range(4):
        w = quantiles(w, data)
        data = data * 2
    return w


def _batches(w: jax.Array, data: jax.Array) -> jax.Array:
    for x in (data, data + 1, data + 2):
        w = quantiles(w, x)
    return w


def _twice(w: jax.Array, data: jax.Array) -> jax.Array:
    return quantiles(quantiles(w, data), data)


@jax.jit
def ranked(w: jax.Array, data: jax.Array) -> jax.Array:
    return w + jnp.sort(data * w[0])[:, ::100].sum()


def _depends_on_the_state(w: jax.Array, data: jax.Array) -> jax.Array:
    for _ in range(4):
        w = ranked(w, data)
    return w


@jax.jit
def ranked_otherwise(w: jax.Array, data: jax.Array) -> jax.Array:
    return w + jax.lax.sort((w[0] + 0 * data, data), num_keys=2)[1].mean()


def _depends_on_the_state_as_well(w: jax.Array, data: jax.Array) -> jax.Array:
    for _ in range(4):
        w = ranked_otherwise(w, data)
    return w


def _others_mapped(w: jax.Array, data: jax.Array) -> Any:
    return list(map(lambda data: quantiles(w, data), [data + number for number in range(4)]))


def _others_comprehended(w: jax.Array, data: jax.Array) -> Any:
    return [quantiles(w, data) for data in [data + number for number in range(4)]]


@pytest.mark.parametrize(
    "train",
    [
        *(_others_mapped, _others_comprehended),
        *(_other_data, _data_changes, _batches, _twice),
        *(_depends_on_the_state, _depends_on_the_state_as_well),
    ],
)
def test_sorts_of_other_arrays_in_each_call_are_left_alone(train: Callable[..., Any]) -> None:
    assert found_in(train, values(3), rows()) == []


def test_arrays_of_numpy_may_change_in_place() -> None:
    def train(w: jax.Array, data: Any) -> jax.Array:
        for _ in range(4):
            w = quantiles(w, data)
            data[0] += 1
        return w

    assert found_in(train, values(3), np.array(rows())) == []


def _key(x: jax.Array) -> jax.Array:
    """Return a key that XLA does not know while it compiles, so that it computes nothing from it by then."""
    return jax.random.fold_in(jax.random.key(0), x[0, 0].astype(int))


def _permuted(key: jax.Array) -> jax.Array:
    return jax.random.permutation(key, 300_000)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x: jnp.sort(x) * 2, ["doctor.sort"]),
        (lambda x: jnp.argsort(x, axis=0), ["doctor.sort"]),
        (lambda x: jnp.median(x), []),  # which sorts for another purpose
        (lambda x: x[0, jax.random.choice(_key(x), 300_000, (8,), replace=False)], ["doctor.shuffle"]),
        (lambda x: x[0, jax.jit(_permuted)(_key(x))[:8]], ["doctor.shuffle"]),
        (lambda x: x[0, jax.random.choice(_key(x), 300_000, (8,))], []),  # with replacement
        (lambda x: jnp.sort(x)[:, -5:], ["doctor.partial_sort"]),  # once
    ],
)
def test_a_sort_that_dominates_is_told(function: Any, told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort, "_LEAST_DOMINANT", 0.0)  # beside other work, a run takes longer than its operations
    found = told_of(jax.jit(function), values(300, 1000))
    assert [each.found.kind for each in found] == told
    assert all(each.cost_ns is None for each in found if each.found.kind == "doctor.sort")


def test_least_time_and_length_that_count() -> None:
    evidence = evidence_of(jax.jit(lambda x: jnp.sort(x)[:, -5:]), rows())
    assert evidence.profile is not None
    assert evidence.programs is not None
    (program,) = evidence.programs
    module = program.module
    assert module is not None
    (sorts,) = [
        each
        for each in evidence.profile.operation_times
        if each.name in module.instruction_ids
        and module.instructions[module.instruction_ids[each.name]].opcode == "sort"
    ]

    def found(share: float, used: int = 5, backend: str = "cpu") -> list[RuleFinding]:
        assert evidence.profile is not None
        time_ns = int(share * evidence.run_ns * (evidence.profile.runs or 1))
        recorded_ns = evidence.run_ns * (evidence.profile.runs or 1)
        timed = (replace(sorts, time_ns=time_ns, count=40 * (evidence.profile.runs or 1)),)
        profile = replace(evidence.profile, operation_times=timed, device_uses=(), recorded_ns=recorded_ns)
        partial = (replace(program.partial_sorts[0], used=used),)
        environment = replace(evidence.first.environment, backend=backend)
        changed = replace(
            evidence,
            profile=profile,
            programs=(replace(program, partial_sorts=partial),),
            first=replace(evidence.first, environment=environment),
        )
        return [each for each in sort.look(changed) if each.found.kind != "doctor.sort"]

    assert found(0.024) == []
    (finding,) = found(0.026)
    assert finding.cost_ns == pytest.approx(0.8 * 0.026 * evidence.run_ns, rel=1e-3)
    assert str(finding.evidence[0]).startswith("40 sorts of f32[")  # of one instruction, in 40 calls
    assert (len(found(0.5, used=62)), found(0.5, used=63)) == (1, [])
    assert found(0.5, backend="gpu") == []


@pytest.mark.parametrize(
    ("statement", "end", "expected"),
    [
        ("y = jnp.sort(x)[:k]", "smallest", "y = -jax.lax.top_k(-x, k)[0]"),
        ("y = jnp.argsort(x)[..., -k:]", "largest", "y = jax.lax.top_k(x, k)[1][..., ::-1]"),
        ("y = jnp.sort(x)[0]", "smallest", None),
        ("y = jnp.sort(x, axis=0)[:3]", "smallest", None),
        ("y = jnp.sort(x)[::-1][:3]", "largest", None),
        ("y = jnp.sort(x)[:-3]", "smallest", None),
        ("y = np.sort(x)[:3]", "smallest", None),
        ("y = jnp.sort(x)[:3] + jnp.sort(z)[:3]", "smallest", None),
        ("for x in (", "smallest", None),
    ],
)
def test_statements_are_rewritten_where_that_is_sure(statement: str, end: str, expected: str | None) -> None:
    assert with_top_k(statement, end) == expected
