"""The jit of a library is tried as it is advised, with its modules as arguments."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmagic.doctor.capture.remedies import not_jitted
from jaxmagic.doctor.capture.remedies.remedy import NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.cell_names import known_as
from jaxmagic.records.note import note

X = jnp.ones(3)
traced: list[str] = []


def applied(model: Any, x: Any) -> Any:
    traced.append("applied")
    return model(x)


def updated(model: Any, x: Any) -> Any:
    model.kernel[...] = model.kernel[...] + 1
    return model(x)


def noisy(model: Any, x: Any) -> Any:
    return model(x) + np.random.normal()


def flagged(model: Any, x: Any, double: bool) -> Any:
    return model(x) * 2 if double else model(x)


def remedy(library: str, code: str) -> RuleFinding:
    advice = note("doctor.not_jitted_remedy", way="function", function="f", library=library)
    return RuleFinding(rule="not-jitted", found=note("text"), remedy=advice, code=code)


def tried(function: Any, library: str, code: str, *args: Any) -> Any:
    """Call what the remedy puts in place of the function."""
    change = not_jitted.propose(remedy(library, code), TriedCode.of_call(function, args, {}))
    value = change.replacements[id(function)](*args)
    assert change.used()
    return value


def equinox_model() -> Any:
    eqx = pytest.importorskip("equinox")
    return eqx.nn.MLP(3, 3, 4, 1, key=jax.random.key(0))


def nnx_model() -> Any:
    nnx = pytest.importorskip("flax.nnx")
    return nnx.Linear(3, 3, rngs=nnx.Rngs(0))


def test_filter_jit_takes_a_module_of_equinox() -> None:
    model = equinox_model()
    traced.clear()
    value = tried(applied, "equinox", "applied = eqx.filter_jit(applied)", model, X)
    assert len(traced) == 3  # two traces are compared, and one is compiled
    np.testing.assert_allclose(value, model(X), rtol=1e-5)
    with pytest.raises(NotTried, match="jit"):
        tried(applied, "", "applied = jax.jit(applied)", model, X)


def test_filter_jit_keeps_flags_static() -> None:
    model = equinox_model()
    value = tried(flagged, "equinox", "import equinox as eqx\nflagged = eqx.filter_jit(flagged)", model, X, True)
    np.testing.assert_allclose(value, model(X) * 2, rtol=1e-5)


def test_nnx_jit_keeps_changes_of_a_module() -> None:
    model = nnx_model()
    before = np.asarray(model.kernel[...])
    tried(updated, "nnx", "updated = nnx.jit(updated)", model, X)
    np.testing.assert_allclose(model.kernel[...], before + 1)


def test_nnx_jit_gets_the_static_arguments_of_the_advice() -> None:
    model = nnx_model()
    code = 'flagged = nnx.jit(flagged, static_argnames="double")'
    np.testing.assert_allclose(tried(flagged, "nnx", code, model, X, True), model(X) * 2, rtol=1e-5)


@pytest.mark.parametrize(("library", "make"), [("equinox", equinox_model), ("nnx", nnx_model)])
def test_what_a_library_would_trace_once_is_seen(library: str, make: Any) -> None:
    with pytest.raises(NotTried, match="only once|call to call"):
        tried(noisy, library, "noisy = lib.jit(noisy)", make(), X)


def doubled(x: Any, times: int, mode: str = "twice") -> Any:
    return x * times if mode else x


def nested() -> Any:
    def inner(x: Any) -> Any:
        return x * 2

    return inner


def found_by(function: Any, *args: Any, jit: str = "", line: str | None = None, **kwargs: Any) -> Any:
    """Return what the trial of a finding without code says about it."""
    remedy = note("doctor.not_jitted_remedy", **{"way": "group"} | ({"jit": jit} if jit else {}))
    finding = RuleFinding(rule="not-jitted", found=note("text"), remedy=remedy, line=line)
    change = not_jitted.propose(finding, TriedCode.of_call(function, args, kwargs))
    change.replacements[id(function)](*args, **kwargs)
    assert change.found is not None
    return change.found().facts


def code_of(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the code that does what was tried, of a finding without code."""
    return found_by(function, *args, **kwargs)["code"]


def test_the_code_of_a_trial_declares_what_was_static() -> None:
    assert code_of(doubled, X, 2) == "doubled = jax.jit(doubled)"
    assert code_of(doubled, X, 2, "twice") == 'doubled = jax.jit(doubled, static_argnames="mode")'
    assert code_of(doubled, X, 2, mode="twice") == 'doubled = jax.jit(doubled, static_argnames="mode")'


def test_a_trial_names_the_function_if_the_finding_names_another_line() -> None:
    file, first = known_as(__file__), doubled.__code__.co_firstlineno
    assert found_by(doubled, X, 2, line=f"{file}:{first + 1}")["line"] == ""
    facts = found_by(doubled, X, 2, line=f"{file}:1")
    assert facts["line"] == f"{file}:{first}"
    assert facts["source"].startswith("def doubled(x: Any")


def test_a_static_argument_with_many_values_is_no_remedy() -> None:
    remedy = note("doctor.not_jitted_remedy", way="group")
    finding = RuleFinding(rule="not-jitted", found=note("text"), remedy=remedy)
    change = not_jitted.propose(finding, TriedCode.of_call(waved, (X, 0.0, 2.0), {}))
    call = change.replacements[id(waved)]
    for each in range(4):
        call(X, float(each), 2.0)
        call(X, float(each), 2.0)
    with pytest.raises(NotTried, match="waved needs t while JAX traces it"):
        call(X, 4.0, 2.0)


def waved(x: Any, t: float, rate: float) -> Any:
    return x * math.sin(t) * math.sin(rate)


def repeated(model: Any, x: Any, n: int) -> Any:
    for _ in range(n):
        x = model(x)
    return x


@pytest.mark.parametrize(
    ("library", "module", "jit", "static"),
    [
        ("equinox", "equinox", "filter_jit", ""),
        ("nnx", "flax.nnx", "jit", ', static_argnames="n"'),
    ],
)
def test_without_code_the_jit_of_the_modules_that_are_passed_is_tried(
    library: str, module: str, jit: str, static: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "lib", pytest.importorskip(module))
    model = equinox_model() if library == "equinox" else nnx_model()
    code = f"repeated = lib.{jit}(repeated{static})"
    found = dict(found_by(repeated, model, X, 2, jit=f"lib.{jit}"))
    assert (found["name"], found["code"], found["library"]) == ("repeated", code, library)
    assert code_of(repeated, {"model": model}, X, 0, jit=f"unknown.{jit}") == ""  # needs an import
    assert code_of(repeated, [model], X, 0) == ""  # the advice does not write this jit


def decided(model: Any, x: Any) -> Any:
    return model(x) if x.sum() > 0 else x


@pytest.mark.parametrize(("library", "jit"), [("", "jax.jit"), ("equinox", "eqx.filter_jit"), ("nnx", "nnx.jit")])
def test_a_failure_names_the_jit_that_was_tried(library: str, jit: str) -> None:
    model = {"": lambda: jax.nn.relu, "equinox": equinox_model, "nnx": nnx_model}[library]()
    with pytest.raises(NotTried) as error:
        code_of(decided, model, X)
    (told,) = error.value.notes
    assert (told.kind, told.facts["jit"]) == ("doctor.cannot_be_jitted", jit)


def labelled(config: Any, x: Any) -> Any:
    return x * config["rate"]


def test_an_argument_that_is_neither_traced_nor_static_is_no_failure_of_the_function() -> None:
    with pytest.raises(NotTried) as error:
        code_of(labelled, {"rate": 2.0, "name": "adam"}, X)
    assert [each.kind for each in error.value.notes] == ["doctor.not_tried_argument"]
    assert "neither be traced by jit nor be static" in str(error.value)


def test_an_error_of_the_function_is_told_where_a_list_cannot_be_static() -> None:
    with pytest.raises(NotTried) as error:
        code_of(repeated, np.negative, X, [2])  # traced, range() gets a list; static, it is not hashable
    assert [each.kind for each in error.value.notes] == ["doctor.cannot_be_jitted"]
    assert "range" in str(error.value) or "list" in str(error.value)


def test_a_function_inside_another_has_no_code_to_paste() -> None:
    assert code_of(nested(), X) == ""


def long_loop(x: Any) -> Any:
    for n in [1, 2]:
        x = x * n
    return x + 1


@pytest.mark.parametrize(
    ("count", "line", "facts", "kind"),
    [
        (200, 1, {}, ""),
        (201, 1, {}, "doctor.not_tried_unrolled"),
        (201, 3, {}, ""),
        (201, 3, {"way": "loop"}, "doctor.not_tried_unrolled"),
        (200, 3, {"way": "loop"}, ""),
        (201, 3, {"way": "loop", "function": "another"}, ""),
        (201, 1, {"decides": 1}, "doctor.not_tried_blocked"),
        (201, 1, {"way": "until"}, "doctor.not_tried_blocked"),
        (201, 1, {"decides": 1, "function": "another"}, "doctor.not_tried_unrolled"),
    ],
)
def test_a_loop_that_jit_would_unroll_or_not_compile_is_not_tried(
    count: int, line: int, facts: dict[str, Any], kind: str
) -> None:
    first = long_loop.__code__.co_firstlineno + 1
    finding = RuleFinding(
        rule="not-jitted",
        found=note("doctor.not_jitted", count=count, names="multiply", kinds=1),
        line=f"{known_as(__file__)}:{first + line - 1 + (line == 1)}",
        remedy=note("doctor.not_jitted_remedy", **{"way": "group", "function": "long_loop"} | facts),
    )
    code = TriedCode.of_call(long_loop, (X,), {})
    if not kind:
        assert not_jitted.propose(finding, code).replacements
    else:
        with pytest.raises(NotTried) as error:
            not_jitted.propose(finding, code)
        assert [each.kind for each in error.value.notes] == [kind]


KEPT: dict[str, Any] = {}


def stored_in_argument(x: Any, kept: Any = KEPT) -> Any:
    kept["x"] = x * 2
    return x + 1


def stored_in_attribute(x: Any, kept: Any = KEPT) -> Any:
    kept.x = x * 2
    return x + 1


def stored_by_another(x: Any) -> Any:
    return stored_in_argument(x, KEPT) * 2


def stored_in_its_own(x: Any) -> Any:
    made = {}
    made["x"] = x * 2
    return made


@pytest.mark.parametrize(
    ("function", "tried"),
    [
        (stored_in_argument, False),
        (stored_in_attribute, False),
        (stored_by_another, False),
        (stored_in_its_own, True),
    ],
)
def test_what_changes_its_arguments_is_not_tried(function: Any, tried: bool) -> None:
    """A second run that stores the same tells nothing of what jit would lose."""
    code = TriedCode.of_call(function, (X,), {})
    if tried:
        assert not_jitted.propose(remedy("", ""), code).replacements
    else:
        with pytest.raises(NotTried, match="changes its arguments, of which jit makes copies"):
            not_jitted.propose(remedy("", ""), code)


def test_a_generator_is_not_tried() -> None:
    def halves(x: Any) -> Any:
        yield x / 2

    with pytest.raises(NotTried) as raised:
        not_jitted.propose(remedy("", ""), TriedCode.of_call(halves, (X,), {}))
    (told,) = raised.value.notes
    assert str(told).startswith("Not tried: halves contains yield, so jit cannot compile it")
