"""Remedies that are tried: what they gain, what they leave alone, and how often the code runs for them."""

from __future__ import annotations

import functools
import gc
import math
import os
import re
import signal
import types
import weakref
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, count, repeat
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from shells import Session

import jaxmagic
from jaxmagic.doctor.capture import verify as verifying
from jaxmagic.doctor.capture.changes import Changed, Snapshot
from jaxmagic.doctor.capture.remedies.calls.jitted_function import Jitted
from jaxmagic.doctor.capture.remedies.effects import Effects
from jaxmagic.doctor.capture.remedies.measured_remedy import Measured, Run, measured
from jaxmagic.doctor.capture.remedies.remedy import Builds
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.capture.verify import Trial, verify
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.finding import RuleFinding, Verified
from jaxmagic.doctor.report.diagnosis import about_verified
from jaxmagic.doctor.rules import examine as applied
from jaxmagic.doctor.rules.rewriting.rewritten import in_loop
from jaxmagic.progress.record import SILENT
from jaxmagic.records.note import note

MS = 10**6


def finding(rule: str, **fields: Any) -> RuleFinding:
    return RuleFinding(
        **{"rule": rule, "found": note("doctor.cache_off"), "remedy": note("doctor.cache_on")} | fields
    )


def tried(
    rule: str,
    source: str,
    budget_s: float = 600,
    changed: tuple[str, ...] = (),
    clock: Any = None,
    draws: bool = False,
    longer: bool = True,
    **variables: Any,
) -> Verified:
    named = [
        name for name in ("applies_to", "code", "cost_bytes", "found", "line", "remedy") if f"_{name}" in variables
    ]
    fields = {name: variables.pop(f"_{name}") for name in named}
    effects = [Changed(each, by_function=" in " in each) for each in changed]
    trial = Trial(TriedCode(source, variables), effects, 10 * MS, MS, round(budget_s * 1e9), draws)
    given = () if clock is None else (clock,)
    (found,) = verify([finding(rule, **fields)], trial, SILENT, *given)
    assert found.verified is not None
    if "tried_too_few" in kinds(found.verified) and clock is None and longer:  # a run is longer beside other work
        slow = trial._replace(run_ns=round(found.verified.before_ns or MS))
        (found,) = verify([finding(rule, **fields)], slow, SILENT)
        assert found.verified is not None
    return found.verified


def kinds(verified: Verified) -> list[str]:
    return [each.kind.removeprefix("doctor.") for each in verified.notes]


def speedup(verified: Verified) -> float:
    """The estimate, which a busy machine moves less than the ends of its interval."""
    assert verified.speedup is not None
    assert verified.low is not None
    assert verified.high is not None
    assert verified.low <= verified.speedup <= verified.high
    return verified.speedup


def by_hand(before: Callable[[], Any], after: Callable[[], Any]) -> tuple[float, float]:
    """How many times as fast the code is when somebody takes the line away."""
    ratio = jaxmagic.compare({"before": before, "after": after}, budget_s=2, rtol=0.05)["after"].ratio
    assert ratio is not None
    return 1 / ratio.high, 1 / ratio.low


def copied_by_jax(*shape: int) -> Any:
    """Return an array of NumPy that does not begin at a multiple of 64 bytes: the CPU uses others where they are."""
    memory = np.ones(math.prod(shape) + 1, np.float32)
    return memory[int(memory.ctypes.data % 64 == 0) :][: math.prod(shape)].reshape(shape)


def overlap(verified: Verified, other: tuple[float, float], slack: float) -> bool:
    assert verified.low is not None
    assert verified.high is not None
    return verified.low <= other[1] * slack and other[0] <= verified.high * slack


def layer(x: Any) -> Any:
    for _ in range(30):
        x = jnp.tanh(x) * 2 + 1
    return x


def layers(x: Any) -> Any:
    return {"value": layer(x), "sum": layer(x).sum()}


def compiles_each_time(x: Any) -> Any:
    return jax.jit(lambda x: jnp.sin(x) + 1)(x)


def compiles_for_grad(w: Any) -> Any:
    return jax.jit(jax.grad(lambda w: jnp.sin(w).sum()))(w)


class Counting(types.ModuleType):
    """Counts in a module, whose attributes are no variables of the code."""

    runs: int = 0


@pytest.mark.clock
class TestGains:
    """The remedy is applied: code that compiles or dispatches in each call is several times slower than without."""

    def test_a_function_jitted_in_a_loop(self, x: Any) -> None:
        found = tried("recompile", "for _ in range(3):\n    y = jax.jit(lambda x: x * 2 + 1)(x)", jax=jax, x=x)
        assert speedup(found) > 5
        assert found.survives
        assert found.outputs_agree

    @pytest.mark.parametrize("function", [compiles_each_time, compiles_for_grad])
    def test_a_function_jitted_inside_another_one(self, x: Any, function: Any) -> None:
        found = tried("recompile", "function(x)", function=function, x=x)
        assert speedup(found) > 5
        assert found.outputs_agree

    def test_a_partial_function_jitted_by_its_imported_name(self, x: Any) -> None:
        code = "jit(partial(power, n=3))(x)"
        power = lambda x, n: x**n  # noqa: E731
        found = tried("recompile", code, jit=jax.jit, partial=functools.partial, power=power, x=x)
        assert speedup(found) > 5

    def test_an_eager_loss(self) -> None:
        x = jnp.ones((32, 32))
        found = tried("not-jitted", "layers(x)", layers=layers, x=x)
        assert speedup(found) > 5
        assert found.outputs_agree

    def test_an_eager_function_that_another_one_calls(self, x: Any) -> None:
        first = layer.__code__.co_firstlineno
        found = tried("not-jitted", "layers(x)", _line=f"{__file__}:{first + 2}", layers=layers, x=x)
        assert str(found.notes[0]).startswith("Tried with layer jitted")
        assert speedup(found) > 5
        found = tried("not-jitted", "layers(x)", _code="layer = jax.jit(layer)", layers=layers, x=x)
        assert str(found.notes[0]).startswith("Tried with layer jitted")

    def test_arguments_that_cannot_be_traced_are_static(self, x: Any) -> None:
        def repeated(x: Any, n: int, how: str) -> Any:
            for _ in range(n if n > 3 else 300):
                x = jnp.tanh(x) if how == "tanh" else x
            return x

        found = tried("not-jitted", "y = repeated(x, 400, how='tanh')", repeated=repeated, x=x)
        assert speedup(found) > 5
        assert found.outputs_agree

    def test_numpy_given_in_every_call(self) -> None:
        first = jax.jit(lambda a: a[::1000].sum())
        a = copied_by_jax(4000, 1000)
        found = tried("transfer", "first(a)", first=first, a=a)
        assert speedup(found) > 5
        assert found.outputs_agree

    def test_an_update_on_copies_of_what_it_donates(self) -> None:
        def update(state: Any) -> Any:
            return jax.jit(lambda state: {"w": state["w"] * 2}, donate_argnums=0)(state)

        state = {"w": jnp.ones(8)}
        found = tried("recompile", "state = update(state)", changed=("state['w']",), update=update, state=state)
        assert speedup(found) > 5
        assert found.outputs_agree
        assert "tried_on_copies" in kinds(found)
        assert not state["w"].is_deleted()


@pytest.mark.skipif("JAXMAGIC_DIAGNOSED" not in os.environ, reason="a suite: needs a quiet machine")
class TestByHand:
    """The speed-up is that which taking the line away by hand has."""

    def test_a_function_jitted_in_a_loop(self, x: Any) -> None:
        hoisted = jax.jit(lambda x: x * 2 + 1)

        def loop() -> Any:
            for _ in range(3):
                y = jax.jit(lambda x: x * 2 + 1)(x)
            return y

        found = tried("recompile", "for _ in range(3):\n    y = jax.jit(lambda x: x * 2 + 1)(x)", jax=jax, x=x)
        assert overlap(found, by_hand(loop, lambda: [hoisted(x) for _ in range(3)][-1]), slack=5)

    def test_an_eager_loss(self) -> None:
        x, jitted = jnp.ones((32, 32)), jax.jit(layers)
        found = tried("not-jitted", "layers(x)", layers=layers, x=x)
        assert overlap(found, by_hand(lambda: layers(x), lambda: jitted(x)), slack=2)

    def test_numpy_given_in_every_call(self) -> None:
        first, a = jax.jit(lambda a: a[::1000].sum()), copied_by_jax(4000, 1000)
        there = jax.device_put(a)
        found = tried("transfer", "first(a)", first=first, a=a)
        assert overlap(found, by_hand(lambda: first(a), lambda: first(there)), slack=3)


class TestMemory:
    """Bytes are the compiler's, and nothing runs."""

    step = staticmethod(jax.jit(lambda state, batch: (state * 2 + batch.sum(), batch.sum())))

    @pytest.mark.parametrize("hint", [{"_applies_to": "state"}, {"_code": "step = jax.jit(step, donate_argnums=0)"}])
    def test_donating_saves_the_size_of_the_state(self, hint: Any) -> None:
        state, batch = jnp.ones((500, 500)), jnp.ones(8)
        found = tried("donation", "state, s = step(state, batch)", step=self.step, state=state, batch=batch, **hint)
        assert found.before_bytes is not None
        assert found.after_bytes is not None
        assert found.before_bytes - found.after_bytes == state.nbytes
        assert found.survives
        donating = jax.jit(self.step.__wrapped__, donate_argnums=0).lower(state, batch).compile().memory_analysis()
        assert donating.alias_size_in_bytes == state.nbytes
        assert [each for each in kinds(found) if not each.startswith("outputs")] == ["donated", "programs_ran"]
        assert (found.outputs_agree, found.speedup) == (True, None)  # that of the code is not known
        assert not state.is_deleted()

    def test_a_donation_is_timed_only_where_its_program_can_run(self) -> None:
        def told(x: Any) -> Any:
            jax.debug.print("ran")
            return x + 1

        state = jnp.ones((500, 500))
        printing = tried("donation", "state = told(state)", told=jax.jit(told), state=state, _applies_to="x")
        assert kinds(printing) == ["donated", "tried_compiled"]
        large = jnp.ones(2**25 + 1)  # its program needs more than 256 MiB
        shift = jax.jit(lambda x: x + 1)
        assert kinds(tried("donation", "y = f(y)", f=shift, y=large, _applies_to="x")) == [
            "donated",
            "tried_compiled",
        ]

    @pytest.mark.parametrize("given", ["p, m", "p=p, m=m", "m=m, p=p", "p, m=m"])
    @pytest.mark.parametrize("donated", [("p",), ("m",), ("p", "m")])
    def test_donated_arrays_meet_the_results_that_they_meet_in_the_call(
        self, given: str, donated: tuple[str, ...]
    ) -> None:
        """XLA gives a donated array to the first result of its size, so that the order of the arguments matters."""

        def both(p: Any, m: Any) -> Any:
            return p * 2, m * 3

        p, m = jnp.ones((500, 500)), jnp.ones((500, 500))
        code = f"both = jax.jit(both, donate_argnames={donated})"
        found = tried("donation", f"both({given})", both=jax.jit(both), p=p, m=m, _code=code)

        def need_bytes(**options: Any) -> int:
            lowered = eval(f"lower({given})", {"lower": jax.jit(both, **options).lower, "p": p, "m": m})
            of = lowered.compile().memory_analysis()
            return (
                of.argument_size_in_bytes + of.output_size_in_bytes + of.temp_size_in_bytes - of.alias_size_in_bytes
            )

        assert (found.before_bytes, found.after_bytes) == pytest.approx(
            (need_bytes(), need_bytes(donate_argnames=donated)), abs=64
        )

    def test_donating_what_cannot_be_used_does_not_survive(self) -> None:
        state, batch = jnp.ones((500, 500)), jnp.ones(8)
        found = tried("donation", "step(state, batch)", step=self.step, state=state, batch=batch, _applies_to="batch")
        assert found.before_bytes == found.after_bytes
        assert found.survives is False

    def test_a_deleted_state_is_described_as_it_was(self) -> None:
        state, batch = jnp.ones((500, 500)), jnp.ones(8)
        state.delete()
        found = tried("donation", "step(state, batch)", step=self.step, state=state, batch=batch, _applies_to="state")
        assert found.survives

    def test_arguments_that_are_computed_are_not(self) -> None:
        found = tried("donation", "step(make(), batch)", step=self.step, make=None, batch=None, _applies_to="state")
        assert kinds(found) == ["not_mechanical"]

    def test_a_checkpointed_function_is_measured_in_bytes_and_time(self) -> None:
        def block(x: Any, w: Any) -> Any:
            return jnp.sin(jnp.tanh(x @ w) * 2)

        def loss(w: Any, x: Any) -> Any:
            return jax.lax.scan(lambda x, _: (block(x, w), None), x, None, length=30)[0].sum()

        w, x = jnp.ones((8, 8)), jnp.ones((2000, 8))
        grad = jax.jit(jax.grad(loss))
        found = tried("rematerialise", "grad(w, x)", grad=grad, w=w, x=x, _applies_to="block", budget_s=600)
        assert found.before_bytes is not None
        assert found.after_bytes is not None
        changed = jax.checkpoint(block)
        by_hand = jax.jit(
            jax.grad(lambda w, x: jax.lax.scan(lambda x, _: (changed(x, w), None), x, None, length=30)[0].sum())
        )
        sizes = []
        for each in (grad, by_hand):
            plan = each.lower(w, x).compile().memory_analysis()
            sizes.append(plan.argument_size_in_bytes + plan.output_size_in_bytes + plan.temp_size_in_bytes)
        assert [found.before_bytes, found.after_bytes] == pytest.approx(sizes, rel=0.02)
        assert found.survives
        assert found.outputs_agree

    def test_captured_arrays_as_arguments_are_compiled_and_both_programs_run(self, x: Any) -> None:
        table = jnp.arange(90_000.0).reshape(300, 300)
        f = jax.jit(lambda x: x.sum() + table[:8, :8] @ x)
        found = tried("captured-constant", "f(x)", budget_s=600, f=f, x=x)
        assert {"constants_passed", "tried_compile_time", "programs_ran"} <= {*kinds(found)}
        assert found.before_ns is not None
        assert found.outputs_agree
        assert kinds(tried("captured-constant", "f(x)", f=jax.jit(lambda x: x + 1), x=x)) == ["not_mechanical"]

    @pytest.mark.parametrize("programs", [1, 2])
    def test_an_array_that_is_there_twice_is_counted_with_its_copy(self, programs: int) -> None:
        table = jnp.arange(90_000.0).reshape(300, 300)
        f = jax.jit(lambda row: table @ row)
        about = {"_found": note("text", programs=programs), "_cost_bytes": table.nbytes}
        found = tried("captured-constant", "f(row)", budget_s=600, f=f, row=table[0], **about)
        if programs > 1:  # of which this is one
            assert found.before_bytes is None
            return
        assert found.before_bytes is not None
        assert found.after_bytes is not None
        assert found.before_bytes - found.after_bytes == pytest.approx(table.nbytes, rel=0.05)
        assert found.outputs_agree

    def test_what_xla_folds_is_compiled_with_arguments_instead(self, x: Any) -> None:
        table = np.linspace(0, 1, 1_200, dtype="f4").reshape(40, 30)
        f = jax.jit(lambda x: x.sum() + jnp.sort(table, axis=0)[0])
        remedy = note("doctor.compile_time_folded", function="f")
        found = tried("compile-time", "f(x)", budget_s=600, f=f, x=x, _remedy=remedy)
        assert {"constants_passed", "tried_compile_time", "programs_ran"} <= {*kinds(found)}
        assert kinds(tried("compile-time", "f(x)", f=f, x=x)) == ["not_tried_first_run"]

    @pytest.mark.clock
    def test_a_run_that_repeats_what_xla_had_folded_is_told_to_be_slower(self, x: Any) -> None:
        table = np.random.default_rng(0).random((50, 80), np.float32)
        f = jax.jit(lambda x: x.sum() + jnp.sort(jnp.sort(table, axis=0), axis=1)[0])
        found = tried("captured-constant", "f(x)", budget_s=600, f=f, x=x)
        ran = next(each for each in found.notes if each.kind == "doctor.programs_ran")
        passed = jax.jit(lambda x, table: x.sum() + jnp.sort(jnp.sort(table, axis=0), axis=1)[0])
        _, high = by_hand(lambda: f(x), lambda: passed(x, jnp.asarray(table)))
        assert high < 0.5
        assert float(ran.facts["high"]) < 0.5
        assert "folded_then_runs" not in kinds(found)
        assert "slower (95 % interval" in str(ran)

    def test_a_program_that_prints_is_compiled_and_does_not_run(
        self, x: Any, capfd: pytest.CaptureFixture[str]
    ) -> None:
        table = jnp.arange(90_000.0).reshape(300, 300)

        def noisy(x: Any) -> Any:
            jax.debug.print("ran {}", x[0, 0])
            return x.sum() + table[:8, :8] @ x

        found = tried("captured-constant", "f(x)", f=jax.jit(noisy), x=x)
        assert kinds(found)[:2] == ["constants_passed", "tried_compile_time"]
        assert "programs_ran" not in kinds(found)
        assert "ran" not in capfd.readouterr().out

    def test_a_program_whose_array_was_donated_is_compiled_and_does_not_run(self) -> None:
        table, x = jnp.arange(90_000.0).reshape(300, 300), jnp.ones((8, 8))
        x.delete()
        found = tried("captured-constant", "f(x)", f=jax.jit(lambda x: x.sum() + table[:8, :8] @ x), x=x)
        assert "programs_ran" not in kinds(found)
        assert found.before_ns is not None

    def test_jit_that_saves_compilations_of_the_first_run_is_not_measured(self, x: Any) -> None:
        remedy = note("doctor.not_jitted_remedy", way="group", function="", outer="")
        assert kinds(tried("compile-time", "layer(x)", layer=layer, x=x, _remedy=remedy)) == ["not_tried_first_run"]


class TestThatDoNotHelp:
    """A remedy that changes outputs, does not help or cannot be applied is told as such."""

    def test_other_outputs(self, x: Any) -> None:
        ready: list[int] = []

        def depends(x: Any) -> Any:
            return layer(x) + isinstance(x, jax.core.Tracer)

        found = tried("not-jitted", "depends(x)", depends=depends, x=x, ready=ready)
        assert found.outputs_agree is False
        assert found.survives is False
        assert "outputs_error" in kinds(found)

    def test_the_largest_difference_is_the_largest_share_of_all_outputs(self, x: Any) -> None:
        """The first output is a million times larger: it differs by more, but by a smaller share."""

        def depends(x: Any) -> Any:
            off = isinstance(x, jax.core.Tracer)
            return 1e6 + 10.0 * off + 0 * layer(x), 1 + 2e-4 * off + 0 * layer(x)

        found = tried("not-jitted", "depends(x)", depends=depends, x=x)
        (about,) = [str(each) for each in found.notes if each.kind == "doctor.outputs_error"]
        assert re.fullmatch(
            r"The outputs agree: they differ by up to 0\.02\d* % of the largest value at \[1\], and up to 0\.035 % "
            r"counts as rounding of float32\.",
            about,
        )
        assert about_verified(found).count(about) == 1
        assert "The outputs agree." not in about_verified(found)

    def test_outputs_of_another_structure(self, x: Any) -> None:
        def depends(x: Any) -> Any:
            return (layer(x), x) if isinstance(x, jax.core.Tracer) else layer(x)

        found = tried("not-jitted", "depends(x)", depends=depends, x=x)
        assert found.outputs_agree is False
        assert "The output: different structure" in " ".join(map(str, found.notes))

    def test_no_gain(self) -> None:
        product = jax.jit(lambda x: x @ x)
        code = 'jax.config.update("jax_default_matmul_precision", "highest")'
        found = tried("precision", "product(x)", product=product, x=jnp.ones((200, 200)), _code=code)
        assert found.survives is False
        assert found.outputs_agree

    @pytest.mark.parametrize(
        ("option", "bits", "least", "allowed"),
        [("BF16_BF16_F32", 7, 0.0005, 0.0884), ("tensorfloat32", 10, 0.00005, 0.03125)],
    )
    def test_outputs_may_differ_by_the_rounding_that_the_remedy_asks_for(
        self, option: str, bits: int, least: float, allowed: float
    ) -> None:
        """What a GPU does, done by hand: factors are rounded where the option says so."""

        @jax.jit
        def product(x: Any, w: Any) -> Any:
            if jax.config.jax_default_matmul_precision == option:
                rounded = (lax.reduce_precision(each, 8, bits) for each in (x, w))
                return jnp.matmul(*rounded, precision="highest")
            return jnp.matmul(x, w, precision="highest")

        keys = jax.random.split(jax.random.key(0))
        x, w = (jax.random.normal(each, (256, 256)) for each in keys)
        code = f'jax.config.update("jax_default_matmul_precision", "{option}")'
        found = tried("precision", "product(x, w)", product=product, x=x, w=w, _code=code)
        assert found.outputs_agree
        (about,) = [each for each in found.notes if each.kind == "doctor.outputs_rounded"]
        exact = product(x, w)
        with jax.default_matmul_precision(option):
            error = abs(product(x, w) - exact).max() / abs(exact).max()
        assert about.facts["share"] == pytest.approx(float(error), rel=1e-4)
        assert about.facts["share"] > least
        assert about.facts["allowed"] == pytest.approx(allowed, rel=1e-3)
        assert "The outputs agree." not in about_verified(found)
        assert "of the largest value, where up to" in str(about)

    def test_outputs_that_differ_by_more_than_the_rounding_are_told(self) -> None:
        @jax.jit
        def amplified(x: Any) -> Any:
            if jax.config.jax_default_matmul_precision == "BF16_BF16_F32":
                return 1.2 * (x @ x)
            return x @ x

        code = 'jax.config.update("jax_default_matmul_precision", "BF16_BF16_F32")'
        found = tried("precision", "amplified(x)", amplified=amplified, x=jnp.ones((64, 64)), _code=code)
        assert (found.outputs_agree, found.survives) == (False, False)
        assert "by up to 20 % of the largest value, more than the 8.8 % that counts" in str(found.notes[1])

    def test_x64_is_left_as_it_was(self, x: Any) -> None:
        before = jax.config.jax_enable_x64
        found = tried("precision", "y = x * 2", x=x, _code='jax.config.update("jax_enable_x64", False)')
        assert kinds(found)[0] == "precision_set"
        assert jax.config.jax_enable_x64 == before

    def test_a_function_without_arrays_that_jit_would_compute_once(self) -> None:
        def table() -> Any:
            return jnp.concatenate([jnp.ones(3) * number for number in range(9)])

        assert kinds(tried("not-jitted", "table()", table=table)) == ["jit_of_constants", "tried_runs"]

    @pytest.mark.parametrize("drawn", [lambda: np.random.normal(), lambda: np.random.normal(size=4)])
    def test_a_function_that_jit_would_freeze(self, drawn: Any) -> None:
        def noisy(x: Any) -> Any:
            return x + drawn()

        assert kinds(tried("not-jitted", "noisy(x)", noisy=noisy, x=jnp.ones(4))) == ["jit_freezes", "tried_runs"]

    def test_constants_and_functions_of_jax_are_no_reason_not_to_jit(self) -> None:
        table = np.arange(4.0)

        def steady(x: Any) -> Any:
            key = jax.random.key(0)
            return jax.nn.relu(x * table) + jax.random.normal(key, x.shape)

        steadied = Jitted(steady)
        np.testing.assert_allclose(steadied.call(jnp.ones(4)), steady(jnp.ones(4)), rtol=1e-5)
        assert steadied.called

    def test_a_function_that_cannot_be_jitted(self, x: Any) -> None:
        found = tried("not-jitted", "branches(x)", branches=lambda x: x + 1 if x.sum() > 0 else x, x=x)
        assert kinds(found) == ["cannot_be_jitted", "tried_runs"]
        assert str(found.notes[0].facts["source"]).startswith('found = tried("not-jitted"')
        assert found.notes[0].facts["line"]
        assert found.survives is None

    def test_a_trial_that_fails_changes_the_advice(self, x: Any) -> None:
        advised = finding("not-jitted", code="branches = jax.jit(branches)")
        code = TriedCode("branches(x)", {"branches": lambda x: x + 1 if x.sum() > 0 else x, "x": x})
        (found,) = verify([advised], Trial(code, [], 10 * MS, MS, 4 * 10**9), SILENT)
        assert found.code is None
        assert "cannot be jitted as it is" in str(found.remedy)

    def test_remedies_tried_in_vain_come_last_and_are_not_advised(self, x: Any) -> None:
        def depends(x: Any) -> Any:
            return layer(x) + isinstance(x, jax.core.Tracer)

        jit = finding("not-jitted", code="depends = jax.jit(depends)")
        code = TriedCode("depends(x)", {"depends": depends, "x": x})
        other = finding("host-waits")
        first, last = verify([jit, other], Trial(code, [], 10 * MS, MS, 8 * 10**9), SILENT)
        assert (first.rule, first.remedy) == ("host-waits", other.remedy)
        assert (last.rule, last.remedy, last.code) == ("not-jitted", None, None)
        assert (last.verified.remedy, last.verified.code) == (jit.remedy, jit.code)

    @pytest.mark.parametrize(("failing", "kind"), [("after", "not_tried_failed"), ("before", "not_tried_code")])
    def test_a_failure_is_the_remedys_only_if_the_code_fails_with_it(self, failing: str, kind: str) -> None:
        def fails() -> None:
            raise ValueError("no")

        runs = {"before": Run(lambda: 1.0), "after": Run(lambda: 1.0), failing: Run(fails)}
        found = measured(**runs, budget_ns=10 * MS, deadline_ns=10**9, clock=lambda: 0).verified
        assert kinds(found)[0] == kind
        assert found.failed == (failing == "after")
        assert found.survives is (False if found.failed else None)

    @pytest.mark.parametrize("read", [float, np.float64, lambda loss: np.array([float(loss)])])
    @pytest.mark.parametrize(("after", "agree"), [(1.0 + 1e-6, True), (1.1, False)])
    def test_losses_that_the_host_reads_agree_as_float32_does(
        self, read: Callable[[Any], Any], after: float, agree: bool
    ) -> None:
        runs = {"before": Run(lambda: read(jnp.float32(1.0))), "after": Run(lambda: read(jnp.float32(after)))}
        found = measured(**runs, budget_ns=10 * MS, deadline_ns=10**9, clock=lambda: 0).verified
        assert found.outputs_agree is agree

    @pytest.mark.parametrize(
        ("rule", "kind"),
        [("recompile", "not_mechanical"), ("host-waits", "not_mechanical"), ("compile-time", "not_tried_first_run")],
    )
    def test_what_is_not_mechanical(self, x: Any, rule: str, kind: str) -> None:
        assert kinds(tried(rule, "y = x * 2", x=x)) == [kind]

    def test_a_memo_without_hits_is_no_remedy(self, x: Any) -> None:
        found = tried("recompile", "scale = x * 2\njax.jit(lambda x: x * scale)(x)", jax=jax, x=x, budget_s=600)
        assert kinds(found) == ["not_used", "tried_runs"]

    def test_a_remedy_that_does_not_meet_the_code_was_not_tried(self, x: Any) -> None:
        found = tried("recompile", "jax.lax.fori_loop(0, 9, lambda i, x: x * i, x)", jax=jax, x=x, budget_s=600)
        assert kinds(found) == ["not_met", "tried_runs"]

    def test_a_variable_that_the_code_assigns_and_a_function_reads_is_not_seen_in_a_copy(self, x: Any) -> None:
        """Both versions would compute with the value that the session happens to have."""
        names: dict[str, Any] = {"jax": jax, "jnp": jnp, "x": x, "rate": 1.0, "sin": 0, "__name__": "cell"}
        source = "def inner(x):\n    return jnp.sin(x) * rate\n\ndef outer(x):\n    return inner(x)\n"
        exec(compile(source, "cell.py", "exec"), names)
        for code, hidden in (
            ("for rate in (1, 2): y = outer(x)", True),
            ("for other in (1, 2): y = outer(x)", False),
            ("for sin in (1, 2): y = outer(x)", False),  # which inner() reads as an attribute
        ):
            trial = Trial(TriedCode(code, names), [], 10 * MS, MS, 10**9)
            (found,) = verify([finding("not-jitted", applies_to="outer")], trial, SILENT)
            assert found.verified is not None
            assert ("not_tried_hidden" in kinds(found.verified)) is hidden
        told = str(note("doctor.not_tried_hidden", name="rate", function="inner"))
        assert "the code assigns rate, which inner reads from outside" in told

    def test_outputs_that_vary_without_the_remedy(self, x: Any) -> None:
        def noisy(x: Any) -> Any:
            return jax.jit(lambda x: x * 2)(x) + np.random.default_rng().random()

        assert kinds(tried("recompile", "noisy(x)", noisy=noisy, x=x))[:2] == ["made_once", "outputs_vary"]

    def test_outputs_of_numbers_that_are_drawn_anew_are_compared(self, x: Any) -> None:
        def drawing(x: Any) -> Any:
            return jax.jit(lambda x: x * 2)(x) + np.random.random()

        state = np.random.get_state()[2]
        assert tried("recompile", "drawing(x)", drawing=drawing, x=x, draws=True).outputs_agree
        assert np.random.get_state()[2] == state

    def test_a_remedy_that_keeps_drawn_numbers_never_agrees(self, x: Any) -> None:
        def keeping(x: Any) -> Any:
            return jax.jit(lambda x: x * np.random.random())(x)

        assert not tried("recompile", "keeping(x)", keeping=keeping, x=x, draws=True).outputs_agree

    def test_code_without_outputs(self, x: Any) -> None:
        def silent(x: Any) -> None:
            print(jax.jit(lambda x: x * 2)(x))

        found = tried("recompile", "silent(x)", silent=silent, x=x)
        assert found.outputs_agree is None
        assert kinds(found)[:2] == ["made_once", "no_outputs"]

    def test_another_cause_than_a_new_function(self, x: Any) -> None:
        shapes = replace(finding("recompile"), found=note("doctor.recompile", cause="shape"))
        trial = Trial(TriedCode("f(x)", {"f": compiles_each_time, "x": x}), [], MS, MS, 10**9)
        (found,) = verify([shapes], trial, SILENT)
        assert found.verified is not None
        assert kinds(found.verified) == ["not_mechanical"]

    def test_a_donated_array_is_no_output(self) -> None:
        def update(state: Any) -> Any:
            return jax.jit(lambda state: state * 2, donate_argnums=0)(state)

        code = "for _ in range(2):\n    old = state\n    state = update(state)"
        found = tried("recompile", code, changed=("state",), update=update, state=jnp.ones(8), budget_s=600)
        assert found.outputs_agree

    @pytest.mark.parametrize("source", ["await jax.jit(f)(x)", "%time f(x)"])
    def test_code_that_cannot_be_repeated(self, source: str) -> None:
        assert kinds(tried("recompile", source, jax=jax))[0] == "not_tried_code"


class Holder:
    """An object with data and code."""

    def __init__(self, f: Any) -> None:
        self.w, self.f = jnp.ones(8), f
        self.lines: list[int] = []


class TestSideEffects:
    """Nothing of the user's changes, and the code runs as often as is told."""

    def test_runs_are_counted(self, x: Any) -> None:
        counting = Counting("counting")

        def counted(x: Any) -> Any:
            counting.runs += 1
            return jax.jit(lambda x: x + 1)(x)

        found = tried("recompile", "counted(x)", longer=False, counted=counted, x=x)
        runs = found.notes[-1].facts
        assert counting.runs == runs["before_runs"] + runs["after_runs"]  # type: ignore[operator]

    def test_runs_are_counted_if_the_remedy_fails(self, x: Any) -> None:
        counting = Counting("counting")

        def counted(x: Any) -> Any:
            counting.runs += 1
            return layer(x) if float(x.sum()) else x

        found = tried("not-jitted", "counted(x)", counted=counted, x=x)
        assert kinds(found)[-1] == "tried_runs"
        assert found.notes[-1].facts == {"before_runs": 1, "after_runs": 1, "stopped": 1}
        assert counting.runs == 1 + 2  # and traced twice: with numbers traced, and static

    def test_variables_and_jax_stay_as_they_are(self, x: Any) -> None:
        jit, variables = jax.jit, {"jax": jax, "x": x, "f": compiles_each_time, "y": 1}
        tried("recompile", "y = f(x)\nz = jax.jit(lambda x: x + 1)(x)", **variables)
        assert jax.jit is jit
        assert variables == {"jax": jax, "x": x, "f": compiles_each_time, "y": 1}
        assert compiles_each_time.__globals__["jax"] is jax

    def test_what_a_run_prints_is_not_shown(self, x: Any, capsys: Any) -> None:
        def prints(x: Any) -> Any:
            print("printed")
            return layer(x)

        assert tried("not-jitted", "prints(x)", prints=prints, x=x).speedup
        assert "printed" not in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("changed", "kind"),
        [("log", "not_tried_uncopied"), ("n in f()", "not_tried_effect"), ("state", "not_tried_uncopied")],
    )
    def test_what_cannot_be_copied_is_not_tried(self, x: Any, changed: str, kind: str) -> None:
        counting = Counting("counting")

        def f(x: Any, *_: Any) -> Any:
            counting.runs += 1
            return x

        state = jnp.ones(3)
        state.delete()
        found = tried("not-jitted", "f(x, log, state)", changed=(changed,), f=f, x=x, log=[object()], state=state)
        assert kinds(found) == [kind]
        assert counting.runs == 0

    @pytest.mark.parametrize("forgets", [False, True])
    def test_each_run_has_its_own_object_and_what_it_changes_is_compared(self, forgets: bool) -> None:
        class Trainer:
            def __init__(self) -> None:
                self.w = jnp.ones(8)

            def fit(self, x: Any) -> None:
                for _ in range(3):
                    self.w = layer(self.w) + x

        trainer = Trainer()
        number = Trainer.fit.__code__.co_firstlineno + 2
        code = f"{in_loop(number, number)}\n{'w' if forgets else 'self.w'} = jax.jit(layer)(self.w) + x"
        variables = {"trainer": trainer, "x": jnp.ones(8), "_line": f"{__file__}:{number}", "_code": code}
        found = tried("not-jitted", "trainer.fit(x)", changed=("trainer.w",), **variables)
        assert found.outputs_agree is not forgets
        assert trainer.w.tolist() == [1] * 8

    @pytest.mark.parametrize(
        ("changed", "tries"), [("it.w", True), ("it.f (closure: lines)", False), ("it.lines", False)]
    )
    def test_what_a_function_in_an_object_changes_is_not_tried(self, changed: str, tries: bool) -> None:
        """Two objects of a class share nothing but code; a copy of one shares its functions."""
        lines: list[int] = []
        it, other = Holder(lambda x: lines.append(1)), Holder(layer)
        if changed == "it.lines":
            it.lines = other.lines
        variables = {"f": compiles_each_time, "x": jnp.ones(8), "it": it, "other": other}
        found = tried("recompile", "f(x) + it.w + other.w", changed=(changed,), **variables)
        assert (kinds(found) != ["not_tried_effect"]) is tries
        assert lines == []

    def test_what_a_function_changes_by_itself_is_not_tried(self, x: Any) -> None:
        log = [0.0]

        def f(x: Any, log: Any = log) -> Any:
            log.append(1.0)
            return x

        found = tried("not-jitted", "f(x, log)", changed=("log",), f=f, x=x, log=log)
        assert kinds(found) == ["not_tried_effect"]
        assert log == [0.0]

    def test_changes_are_seen(self) -> None:
        log: list[int] = []
        numbers = np.zeros(3)
        state = jnp.ones(3)
        held = {"log": log, "numbers": numbers, "state": state, "f": layer}
        effects = Effects(held, Snapshot(held))
        assert effects.changed() == []
        log.append(1)
        numbers[0] = 1
        state.delete()
        assert effects.changed() == [Changed("state"), Changed("log"), Changed("numbers")]

    def test_functions_that_assign_variables_outside_are_seen(self) -> None:
        n = 0

        def counts() -> None:
            nonlocal n
            n += 1

        held = {"f": counts}
        assert Effects(held, Snapshot(held)).changed() == [Changed("n in counts()", by_function=True)]


class TestLimits:
    """The time limit holds, and Ctrl-C keeps what there is."""

    def test_without_time_nothing_is_tried(self, x: Any) -> None:
        found = tried("recompile", "f(x)", budget_s=0.001, f=compiles_each_time, x=x)
        assert kinds(found) == ["not_tried_budget"]

    @pytest.mark.parametrize("spent_ns", [0, 7 * MS])
    def test_the_budget_that_a_trial_needs_is_told(self, x: Any, spent_ns: int) -> None:
        """By hand: a first run of 10 ms, and 14 runs of 1 ms, beside what other trials have taken."""
        budgets = [10 * MS, 24 * MS + spent_ns - 1000]
        for budget_ns in budgets:
            times = chain([0], repeat(spent_ns))
            found = tried(
                "recompile",
                "f(x)",
                budget_s=budget_ns / 1e9,
                clock=lambda t=times: next(t),
                f=compiles_each_time,
                x=x,
            )
            assert [each.facts for each in found.notes] == [{"first_ns": 10 * MS, "budget_ns": 24 * MS + spent_ns}]

    @pytest.mark.parametrize("rules", [["compile-time"], ["recompile", "compile-time"], ["unrolled-loop"] * 3])
    @pytest.mark.parametrize("budget_ns", [1, 9 * MS, 25 * MS, 95 * MS])
    def test_the_budget_that_is_told_lets_a_trial_begin(
        self, rules: list[str], budget_ns: int, x: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each trial takes all the time that it may. First runs take 10 ms, and proposals compile."""
        now = [0]

        def proposing(times: int) -> Callable[[RuleFinding, TriedCode], Builds]:
            def propose(finding: RuleFinding, code: TriedCode) -> Builds:
                now[0] += times * 10 * MS
                return Builds(lambda: None, lambda: None, ((), ()))

            return propose

        def taking(least_ns: int) -> Callable[..., Measured]:
            def take(*_: Any, budget_ns: int, **__: Any) -> Measured:
                now[0] += least_ns + budget_ns
                runs = note("doctor.tried_runs", before_runs=7, after_runs=7)
                return Measured(Verified(before_ns=1.0, after_ns=1.0, notes=(runs,)), interrupted=False)

            return take

        def budgets(budget_ns: int) -> list[int | None]:
            now[0] = 0
            code = TriedCode("f(x)", {"f": compiles_each_time, "x": x})
            findings = [finding(each, line=f"{number}") for number, each in enumerate(rules)]
            found = verify(findings, Trial(code, [], 10 * MS, MS, budget_ns), SILENT, lambda: now[0])
            in_order = sorted(found, key=lambda each: str(each.line))
            notes = [each.verified.notes for each in in_order if each.verified is not None]
            told = [{one.kind: one.facts for one in each}.get("doctor.not_tried_budget") for each in notes]
            return [None if each is None else int(each["budget_ns"]) for each in told]

        monkeypatch.setitem(verifying.REMEDIES, "compile-time", proposing(1))
        monkeypatch.setitem(verifying.REMEDIES, "unrolled-loop", proposing(3))
        monkeypatch.setattr(verifying, "timed_builds", taking(20 * MS))
        monkeypatch.setattr(verifying, "measured", taking(10 * MS))
        for place, told_ns in enumerate(budgets(budget_ns)):
            if told_ns is not None:
                assert told_ns > budget_ns
                assert budgets(told_ns)[place] is None

    def test_no_run_begins_after_the_limit(self, x: Any) -> None:
        ticks = count(step=20 * MS)  # each look at this clock takes 20 ms, and there is one before each run
        found = tried("recompile", "f(x)", budget_s=1, clock=lambda: next(ticks), f=compiles_each_time, x=x)
        runs = found.notes[-1].facts
        assert 0 < runs["before_runs"] + runs["after_runs"] <= 50  # type: ignore[operator]

    @pytest.mark.parametrize(("after", "agree"), [(1.0, True), (2.0, False)])
    def test_outputs_are_compared_if_the_limit_cuts_the_rounds_short(self, after: float, agree: bool) -> None:
        looks = count()  # each look at this clock precedes a run, and the rounds would take many more than 1000
        runs = {"before": Run(lambda: jnp.float32(1.0)), "after": Run(lambda: jnp.float32(after))}
        found = measured(**runs, budget_ns=10**9, deadline_ns=1000, clock=lambda: next(looks)).verified
        assert found.before_ns is not None
        assert "no_outputs" not in kinds(found)
        assert found.outputs_agree is agree

    @pytest.mark.parametrize("at", [1, 2, 9])
    def test_an_interrupt_keeps_what_was_tried(self, x: Any, at: int) -> None:
        calls = count(1)
        counting = Counting("counting")

        def interrupts(x: Any) -> Any:
            counting.runs = next(calls)
            if counting.runs == at:
                signal.raise_signal(signal.SIGINT)
            return layer(x)

        donated = finding("donation", applies_to="state")
        slow = finding("not-jitted", applies_to="interrupts")
        variables = {"interrupts": interrupts, "x": x, "step": jax.jit(lambda state: state * 2)}
        code = TriedCode("interrupts(step(x))\nstep(x)", variables)
        first, second, third = verify([donated, slow, donated], Trial(code, [], MS, MS, 4 * 10**9), SILENT)
        assert first.verified is not None
        assert first.verified.survives
        assert second.verified is not None
        assert third.verified is not None
        assert kinds(third.verified) == ["not_tried_interrupt"]
        assert kinds(second.verified)[-1] == "tried_runs"


class TestEndToEnd:
    """``diagnose(verify=True)`` and the magic."""

    @pytest.mark.clock
    def test_a_call(self, x: Any) -> None:
        diagnosis = jaxmagic.diagnose(compiles_each_time, x, verify=True, budget_s=600)
        (found,) = [each for each in diagnosis.findings if each.rule == "recompile"]
        assert found.verified is not None
        assert found.verified.survives
        assert diagnosis.to_frame()["survives"].tolist() == [True]
        assert "times as fast" in str(diagnosis)

    def test_nothing_is_tried_unasked(self, x: Any) -> None:
        assert jaxmagic.diagnose(compiles_each_time, x).findings[0].verified is None

    def test_wrong_budgets(self) -> None:
        with pytest.raises(ValueError, match="budget_s: expected a positive number, got 0"):
            jaxmagic.diagnose(len, [], verify=True, budget_s=0)

    @pytest.mark.clock
    @pytest.mark.parametrize(
        "cell",
        [
            "%jaxdoctor --verify --budget 600s -v d for _ in range(3): y = jax.jit(lambda x: x * 2 + 1)(x)",
            "%%jaxdoctor --verify --budget 600s -v d\nfor _ in range(3):\n    y = jax.jit(lambda x: x * 2 + 1)(x)",
            "%jaxdoctor --verify -v d y = made_again(y)",
        ],
    )
    def test_a_statement_in_the_shell(self, session: Any, cell: str) -> None:
        session.run("y = x\ndef made_again(x):\n    return jax.jit(lambda x: x * 3 + 1)(x)")
        session.run(cell)
        diagnosis = session.shell.user_ns["d"]
        if "made_again" in cell:  # ran once, so that what recurs is not known
            assert diagnosis.notes[0].kind == "doctor.once_rebound"
            assert float(session.shell.user_ns["y"][0, 0]) == 4
            return
        (found,) = diagnosis.findings
        assert found.verified.survives
        assert found.verified.outputs_agree
        assert "95 % interval" in session.report
        assert not [name for name in session.shell.user_ns if "jaxmagic" in name]


class TestWithPlantedFindings:
    """Findings that no rule of today has made, in a real session."""

    @pytest.fixture
    def plant(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
        def planted(*findings: RuleFinding) -> None:
            rule = applied.RULES[0]._replace(look=lambda _: findings)
            monkeypatch.setattr(applied, "RULES", (rule,))

        return planted

    def test_a_training_step_that_donates(self, session: Any, plant: Any) -> None:
        plant(finding("not-jitted", applies_to="train"), finding("donation", applies_to="w"))
        session.run(
            "update = jax.jit(lambda s: jax.tree.map(lambda w: w + 1, s), donate_argnums=0)\n"
            "def train(s):\n    s = update(s)\n    for _ in range(20):\n        s = {'w': jnp.tanh(s['w']) + 1}\n"
            "    return s\n"
            "state = {'w': jnp.zeros((8, 8))}"
        )
        session.run("%jaxdoctor --verify -v d state = train(state)")
        jitted, donated = session.shell.user_ns["d"].findings
        assert jitted.verified.outputs_agree
        assert jitted.verified.survives
        assert "tried_on_copies" in kinds(jitted.verified)
        assert kinds(donated.verified) == ["not_mechanical"]
        once = session.run("update = jax.jit(update.__wrapped__)\nstate, train({'w': jnp.zeros((8, 8))})")
        assert (once[0]["w"] == once[1]["w"]).all()

    def test_functions_append_to_a_list_of_their_own(self, session: Any, plant: Any) -> None:
        plant(finding("not-jitted", applies_to="layer"))
        session.run(
            "log = [jnp.ones(3)]\n"
            "def layer(x):\n    return jnp.tanh(x) + 1\n"
            "def train(x):\n    x = layer(x)\n    log.append(x)\n    return x * 2"
        )
        session.run("%jaxdoctor --verify -v d train(x)")
        (found,) = session.shell.user_ns["d"].findings
        assert found.verified.outputs_agree
        (told,) = [each for each in found.verified.notes if each.kind == "doctor.tried_on_copies"]
        assert told.facts == {"names": "log"}
        assert len(session.shell.user_ns["log"]) == 2

    def test_what_the_code_appends_to_is_left_alone(self, session: Any, plant: Any) -> None:
        plant(finding("not-jitted", applies_to="train"))
        session.run("log = [object()]\ndef train(x):\n    log.append(x.sum())\n    return x * 2")
        session.run("%jaxdoctor --verify -v d train(x)")
        (found,) = session.shell.user_ns["d"].findings
        assert kinds(found.verified) == ["jit_reads_log"]
        assert len(session.shell.user_ns["log"]) == 2

    def test_ctrl_c_keeps_the_diagnosis(self, session: Any, plant: Any) -> None:
        plant(finding("not-jitted", applies_to="train"), finding("donation", applies_to="w"))
        counting = Counting("counting")
        counting.at = 9  # type: ignore[attr-defined]
        counting.__file__ = "site-packages/counting.py"  # what a library counts is not the user's
        session.shell.user_ns["counting"] = counting
        session.run(
            "import signal\ndef train(x):\n    counting.runs += 1\n    if counting.runs == counting.at:\n"
            "        signal.raise_signal(signal.SIGINT)\n"
            "    for _ in range(20):\n        x = jnp.tanh(x)\n    return x"
        )
        session.run("%jaxdoctor --verify -v d train(x)")
        first, second = session.shell.user_ns["d"].findings
        assert kinds(first.verified)[-1] == "tried_runs"
        assert kinds(second.verified) == ["not_tried_interrupt"]
        assert jaxmagic.history()[-1] is session.shell.user_ns["d"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    @pytest.mark.clock
    def test_an_eager_step_with_optax(self) -> None:
        optax = pytest.importorskip("optax")
        tx = optax.adam(1e-2)

        def loss(w: Any, x: Any) -> Any:
            return (jnp.tanh(x @ w["w"]) ** 2).sum()

        def train(w: Any, state: Any, x: Any) -> Any:
            updates, state = tx.update(jax.grad(loss)(w, x), state)
            return optax.apply_updates(w, updates), state

        w, x = {"w": jnp.full((8, 8), 0.1)}, jnp.ones((8, 8))  # tanh is not saturated: Adam divides by the gradient
        found = tried("not-jitted", "w, state = train(w, state, x)", train=train, w=w, state=tx.init(w), x=x)
        assert speedup(found) > 5
        assert found.outputs_agree

    def test_a_call_keeps_no_array_alive(self, plant: Any) -> None:
        plant(finding("not-jitted", applies_to="layers"), finding("transfer"), finding("recompile"))
        x = jnp.ones(16)
        alive = weakref.ref(x)
        found = jaxmagic.diagnose(layers, x, verify=True, budget_s=5)
        assert found.findings[0].verified is not None
        arrays = {id(each) for each in jax.live_arrays()}
        del x
        gc.collect()
        assert alive() is None
        assert len({id(each) for each in jax.live_arrays()} - arrays) == 0


#: A function that needs one program, and one with a static argument that has two values.
TRACED = [
    ("f(x)", "def f(x):\n    counted(x)\n    for i in range(40): x = jnp.sin(x) * i\n    return x"),
    (
        "y = f(x, flag=True) + f(x, flag=False)",
        "def f(x, flag):\n    counted(x)\n    for i in range(40):\n        x = jnp.sin(x) * i if flag else x + i\n"
        "    return x",
    ),
]


@pytest.mark.parametrize(("code", "source"), TRACED)
def test_each_call_by_which_jax_traces_is_counted(session: Session, code: str, source: str) -> None:
    setup = "counts = {True: ctypes.c_int(0), False: ctypes.c_int(0)}  # a trial makes no copies of these"
    counted = "def counted(x):\n    counts[isinstance(x, jax.core.Tracer)].value += 1"
    session.run(f"import ctypes, jax, jax.numpy as jnp\nx = jnp.ones(10)\n{setup}\n{counted}\n{source}")
    session.run(f"%jaxdoctor --only not-jitted --verify --budget 10s {code}")
    diagnosis = jaxmagic.history()[-1]
    assert isinstance(diagnosis, Diagnosis)
    (finding,) = diagnosis.findings
    assert finding.verified is not None
    told = {each.kind: each.facts for each in finding.verified.notes}
    assert told["doctor.jitted"]["traces"] == session.shell.user_ns["counts"][True].value
