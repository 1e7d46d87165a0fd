"""Meshes that do not fit the devices."""

from __future__ import annotations

import subprocess
import sys

import jax
import pytest
from failing_cells import Cell

from jaxmagic.doctor.capture.failures import failure as reading
from jaxmagic.doctor.capture.failures.recognize import recognize

N = len(jax.devices())
FLAG = "--xla_force_host_platform_device_count"


@pytest.mark.parametrize(
    "call",
    [
        f'jax.make_mesh(({4 * N}, 2), ("x", "y"))',
        f"__import__('jax.experimental.mesh_utils').experimental.mesh_utils.create_device_mesh(({4 * N}, 2))",
    ],
)
def test_too_few_devices(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "default_devices", lambda: ("cpu", N))
    cell = Cell(f"{call}  # here")
    assert cell.finding.line == cell.here
    assert (
        f"A mesh of shape ({4 * N}, 2) has {8 * N} devices, but there {'is' if N == 1 else 'are'} {N}." in cell.said
    )
    assert f"XLA_FLAGS={FLAG}={8 * N}" in cell.said
    assert cell.finding.code == f'jax.config.update("jax_num_cpu_devices", {8 * N})'
    monkeypatch.setattr(reading, "default_devices", lambda: ("gpu", N))
    assert FLAG not in cell.said
    assert cell.finding.code is None


def test_devices_that_are_passed() -> None:
    cell = Cell('jax.make_mesh((4,), ("x",), devices=jax.devices()[:1])  # here')
    assert "A mesh of shape (4,) has 4 devices, but it gets 1." in cell.said
    assert FLAG not in cell.said


def test_more_devices_than_the_mesh_has() -> None:
    cell = Cell(
        "from jax.experimental import mesh_utils\nmesh_utils.create_device_mesh((1,), jax.devices() * 2)  # here"
    )
    assert f"but it gets {2 * N}." in cell.said
    assert "devices=jax.devices()[:1]" in cell.said


def test_another_number_of_names() -> None:
    cell = Cell('jax.sharding.Mesh(np.array(jax.devices()), ("x", "y"))  # here')
    assert "The array of devices has 1 axis, but the mesh gets 2 names." in cell.said


@pytest.mark.parametrize("code", ['jax.config.update("jax_num_cpu_devices", 8)', None])
def test_both_ways_to_more_devices_of_the_cpu_work_in_a_new_process(code: str | None) -> None:
    begin = code or f'import os; os.environ["XLA_FLAGS"] = "{FLAG}=8"'
    text = f'import jax; {begin}; jax.config.update("jax_platforms", "cpu"); jax.make_mesh((8,), ("x",))'
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


@pytest.mark.parametrize(
    ("line", "function"),
    [
        ("jax.lax.psum(jnp.ones(2), 'i')", "jax.lax.psum"),
        ("jax.jit(lambda x: lax.pmean(x, 'i'))(1.0)", "lax.pmean"),
        ("jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='j')(jnp.ones(2))", "lax.psum"),
        ("lax.axis_index('i')", "lax.axis_index"),
    ],
)
def test_an_axis_name_that_is_not_bound(line: str, function: str) -> None:
    cell = Cell(f"result = {line}  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{function} uses the axis name i, but no function around it")
    assert 'jax.vmap(f, axis_name="i")' in cell.said


def test_the_advice_on_axis_names_works() -> None:
    assert Cell("jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='i')(jnp.ones(2))").error is None


def test_a_name_that_python_does_not_know_is_not_explained() -> None:
    error = Cell("jnp.ones(unknown_name)").error
    assert error is not None
    assert recognize(error) is None


def test_a_platform_without_devices() -> None:
    cell = Cell("jax.devices('nonesuch')  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("JAX has no backend nonesuch in this process: its platforms are ")
    assert "['" not in cell.said
