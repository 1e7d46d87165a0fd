"""Code that jits a transformed function declares the static arguments that the function needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.doctor.capture.jitted import static_parameters
from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.record.jitted_names import StaticParameters
from jaxmagic.doctor.rules.host.jitting.transformed_calls import jitted, made_of
from jaxmagic.records.call_stack import Frame

LOSS = """
def loss(w, x, train, mode="mean"):
    y = w * x if train else w
    return jnp.mean(y) if mode == "mean" else jnp.sum(y)
"""
RUN = """
def run(w, x, flag, flags):
    {loop}:
        value = {call}
    return value
"""


@pytest.fixture
def evidence(timing: Any) -> Evidence:
    flag = Input(path="flag", kind="number", type="bool")
    return Evidence(code="run", first=timing(), observed=timing(), inputs=(flag,))


def code(
    path: Path, evidence: Evidence, call: str, loop: str = "for _ in range(20)", before: str = "", loss: str = LOSS
) -> str | None:
    """Return the code that is advised for the only transformed function of a file."""
    file = path / f"train_{len([*path.iterdir()])}.py"
    source = f"{loss}\n{before}\n{RUN.format(loop=loop, call=call)}"
    file.write_text(source)
    at = source[: source.index("value = ")].count("\n") + 1
    line = Frame(function="run", file=str(file), line=at)
    ((target, made),) = made_of("loss", line.file, evidence)
    found = jitted(target, made, line.file, evidence)
    return None if found is None else found[0]


GRAD = "loss_value_and_grad = jax.jit(jax.value_and_grad(loss), static_argnames="


@pytest.mark.parametrize(
    ("call", "static"),
    [
        ("jax.value_and_grad(loss)(w, x, True)", '"train"'),
        ("jax.value_and_grad(loss)(w, x, flag)", '"train"'),
        ("jax.value_and_grad(loss)(w, x, train=flag)", '"train"'),
    ],
)
def test_flags_of_the_call_are_static(tmp_path: Path, evidence: Evidence, call: str, static: str) -> None:
    advised = code(tmp_path, evidence, call)
    assert advised == f"{GRAD}{static})"
    names: dict[str, Any] = {"jax": jax, "jnp": jnp}
    exec(f"{LOSS}\n{advised}", names)  # mode= keeps its default
    assert names["loss_value_and_grad"](2.0, 3.0, True)[0] == 6.0
    assert names["loss_value_and_grad"](2.0, 3.0, train=False)[0] == 2.0


def test_a_name_for_the_transformed_function_is_kept(tmp_path: Path, evidence: Evidence) -> None:
    advised = code(tmp_path, evidence, "grads(w, x, True, mode='sum')", before="grads = jax.grad(loss)")
    assert advised == 'grads = jax.jit(jax.grad(loss), static_argnames=("mode", "train"))'
    mapped = "jax.vmap(jax.grad(loss), (0, 0, None))(w, x, True, 'sum')"
    assert code(tmp_path, evidence, mapped) is not None


def test_what_jit_would_have_to_decide_gets_no_code(tmp_path: Path, evidence: Evidence) -> None:
    assert code(tmp_path, evidence, "jax.grad(loss)(w, x, each, 'sum')", loop="for each in flags") is None
    assert code(tmp_path, evidence, "jax.grad(loss)(w, x, True, lambda: 1)") is None
    assert code(tmp_path, evidence, "jax.grad(loss)(w, x, True, kind)") is None


@pytest.mark.parametrize(("eps", "is_code"), [("1e-10", False), ("0.5", True)])
def test_arithmetic_of_numbers_that_jit_rounds_to_another_one_gets_no_code(
    tmp_path: Path, evidence: Evidence, eps: str, is_code: bool
) -> None:
    loss = "def loss(w, eps):\n    return jnp.sum(w / (1 + eps - 1))\n"
    assert (code(tmp_path, evidence, f"jax.grad(loss)(w, {eps})", loss=loss) is not None) == is_code


def test_what_changes_in_each_round_is_not_static(tmp_path: Path, evidence: Evidence) -> None:
    plain = "def loss(w, x):\n    return w * x\n"
    assert code(tmp_path, evidence, "jax.grad(loss)(w, x)", loss=plain) == "loss_grad = jax.jit(jax.grad(loss))"
    assert code(tmp_path, evidence, "jax.grad(loss)(w, i)", loop="for i in range(20)", loss=plain) is None


def test_a_jitted_function_tells_its_static_arguments_itself(tmp_path: Path, evidence: Evidence) -> None:
    known = replace(evidence, static=(StaticParameters(function="loss", names=("train", "mode")),))
    advised = code(tmp_path, known, "jax.value_and_grad(loss)(w, x, each)", loop="for each in flags")
    assert advised == f'{GRAD}("mode", "train"))'


def test_modules_are_not_taken_by_jit(tmp_path: Path, evidence: Evidence) -> None:
    model = Input(path="w", kind="function", type="MLP", library="equinox")
    known = replace(evidence, inputs=(*evidence.inputs, model))
    assert code(tmp_path, known, "jax.grad(loss)(w, x, True, 'sum')") is None


def test_static_parameters_are_read_from_jitted_functions() -> None:
    def reduced(x: Any, axis: int, keep: bool = False) -> Any:
        return x.sum(axis, keepdims=keep)

    by_name = jax.jit(reduced, static_argnames=("axis", "keep"))
    plain = jax.jit(lambda x: x)

    def leads(x: Any) -> Any:
        return plain(by_name(x, 0))

    assert static_parameters({"leads": leads, "x": 1}) == (
        StaticParameters(function="reduced", names=("axis", "keep")),
    )
    by_number = jax.jit(reduced, static_argnums=1)
    assert static_parameters({"f": by_number}) == (StaticParameters(function="reduced", names=("axis",)),)


def test_definitions_elsewhere_leave_keywords(tmp_path: Path, evidence: Evidence) -> None:
    advised = code(tmp_path, evidence, "jax.grad(loss)(w, train=flag)", loss="from other import loss")
    assert advised == 'loss_grad = jax.jit(jax.grad(loss), static_argnames="train")'
