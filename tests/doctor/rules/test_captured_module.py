"""A jitted function that captures a module gets it as its first argument, under the jit of the module's library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.record.library_use import ModuleLibrary
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.captured_module import code_with_module, module_with
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.timing.record import Timing

SOURCE = "{}\n\n\n{}\ndef f({}):\n    return {}\n"


@pytest.fixture
def evidence(timing: Callable[..., Timing]) -> Evidence:
    inputs = (
        Input(path="model", kind="other", type="Model", library="nnx"),
        Input(path="w", kind="jax array", type="f32[8]"),
    )
    return Evidence(code="f(x)", first=timing(), observed=timing(), inputs=inputs)


@pytest.mark.parametrize(
    ("names", "module"),
    [
        (["model.a.kernel._raw_value", "model.layers[0].bias"], ("model", "nnx")),
        (["model.a.kernel", "w"], None),
        (["w"], None),
        ([], None),
    ],
)
def test_the_module_of_captured_arrays(
    evidence: Evidence, names: list[str], module: tuple[str, ModuleLibrary] | None
) -> None:
    assert module_with(names, evidence) == module


@pytest.mark.parametrize(
    ("first", "jit", "taken", "returned", "library", "code"),
    [
        (
            "from flax import nnx",
            "@jax.jit",
            "x",
            "model(x)",
            "nnx",
            "@nnx.jit\ndef f(model, x):\n    return model(x)\n\n\n# Call it as f(model, x).",
        ),
        (
            "import jax",
            "@jax.jit",
            "x, y=2",
            "model(x) * y",
            "equinox",
            "import equinox as eqx\n\n\n@eqx.filter_jit\ndef f(model, x, y=2):\n    return model(x) * y\n\n\n"
            "# Call it as f(model, x, y).",
        ),
        (
            "import jax",
            "@jax.jit",
            "",
            "model(1)",
            "nnx",
            "from flax import nnx\n\n\n@nnx.jit\ndef f(model):\n    return model(1)\n\n\n# Call it as f(model).",
        ),
        ("import jax", "@jax.jit(static_argnums=0)", "x", "model(x)", "nnx", None),
        ("import jax", "@jax.jit", "*x", "model(x)", "nnx", None),
        ("import jax", "@jax.jit", "model", "model(1)", "nnx", None),
        ("import jax", "@jax.jit", "x", "apply(x)", "nnx", None),
        ("import jax", "", "x", "model(x)", "nnx", None),
    ],
)
def test_the_function_with_its_module(
    evidence: Evidence,
    executable: Callable[..., Executable],
    tmp_path: Path,
    first: str,
    jit: str,
    taken: str,
    returned: str,
    library: ModuleLibrary,
    code: str | None,
) -> None:
    file = tmp_path / "model.py"
    file.write_text(SOURCE.format(first, jit, taken, returned))
    program = Program(executable=executable(name="jit_f"), module=None, function="f", location=f"{file}:4")
    assert code_with_module("model", library, program, evidence) == code
