"""Meshes that do not fit the devices."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import jax
import pytest
from failing_cells import Cell, fails_in_callback, sentence

from jaxmagic.doctor.analysis.failures.explanation import explanation
from jaxmagic.doctor.analysis.failures.wrong_arguments.all import read
from jaxmagic.doctor.capture.failures import named_causes as reading
from jaxmagic.doctor.capture.failures import recognize as recognizing
from jaxmagic.doctor.capture.failures.operands import allowed_platforms
from jaxmagic.doctor.capture.failures.recognize import recognize
from jaxmagic.doctor.record.failing_code import Operand
from jaxmagic.doctor.record.failure import Failure

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


@pytest.mark.parametrize(
    ("backend", "allowed", "told"),
    [
        ("gpu", ("cpu", True), "The environment variable JAX_PLATFORMS=cpu lets JAX use no other platform."),
        ("cuda", ("cpu,tpu", True), "or add the platform (JAX_PLATFORMS=cuda,cpu,tpu), in a new process"),
        ("tpu", ("cpu", False), "The option jax_platforms, which is cpu, lets JAX use no other platform."),
        ("gpu", ("cuda,cpu", True), "lists the devices that JAX found"),
        ("rocm", ("", False), "lists the devices that JAX found"),
    ],
)
def test_a_setting_that_leaves_a_platform_out_is_named(
    backend: str, allowed: tuple[str, bool], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "allowed_platforms", lambda: allowed)
    monkeypatch.setattr(recognizing, "read", lambda types, text: ("backend", {"backend": backend, "present": "cpu"}))
    cell = Cell("jax.devices('nonesuch')  # here")
    assert told in cell.said
    assert ("JAX_PLATFORMS" in cell.said) == ("JAX_PLATFORMS" in told)


def test_platforms_are_restricted_by_the_variable_or_by_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    config = SimpleNamespace(config=SimpleNamespace(jax_platforms="cpu"))
    monkeypatch.setitem(sys.modules, "jax", config)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert allowed_platforms() == ("cpu", True)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu,cuda")  # JAX had been imported before
    assert allowed_platforms() == ("cpu", False)
    config.config.jax_platforms = None
    assert allowed_platforms() == ("", False)


MESH = "mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ('data',)); P = jax.sharding.PartitionSpec"


def sharded(in_specs: str, out_specs: str, x: str, body: str = "x * 2") -> Cell:
    call = f"jax.shard_map(lambda x: {body}, mesh=mesh, in_specs={in_specs}, out_specs={out_specs})({x})"
    return Cell(f"{MESH}\ny = {call}  # here")


@pytest.mark.parametrize(
    ("in_specs", "out_specs", "body", "told"),
    [
        (
            "P('data', None)",
            "P('data')",
            "x * 2",
            "The spec P('data', None) has 2 entries, but the argument x has 1 axis.\nA spec has at most one "
            "entry per "
            "axis: the name of an axis of the mesh, or None for an axis that stays whole. Here, P('data') means the "
            "same.",
        ),
        ("P(None, 'data')", "P('data')", "x * 2", "but the argument x has 1 axis.\nA spec has at most one entry"),
        (
            "P('data')",
            "P('data')",
            "x.sum()",
            "The spec P('data') has 1 entry, but the result has no axis.\nA scalar cannot be split.",
        ),
        (
            "P('batch')",
            "P('data')",
            "x * 2",
            "in_specs names the axis batch, but the only axis of the mesh is data.\nWrite data in the spec",
        ),
        (
            "P('data')",
            "P('batch')",
            "x * 2",
            "out_specs names the axis batch, but the only axis of the mesh is data.",
        ),
        (
            "P('data')",
            "P()",
            "x.sum()",
            "The spec P() in out_specs says that all devices along data have the same result, but shard_map "
            "cannot tell",
        ),
    ],
)
def test_specs_of_shard_map(in_specs: str, out_specs: str, body: str, told: str) -> None:
    cell = sharded(in_specs, out_specs, "jnp.ones(8)", body)
    assert cell.finding.line == cell.here
    assert told in cell.said


def test_another_number_of_specs_than_arguments() -> None:
    cell = sharded("(P('data'), P())", "P('data')", "jnp.ones(8)")
    assert cell.finding.line == cell.here
    assert "in_specs needs one spec for each argument" in cell.said


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("P('data', None)", "The spec P('data', None) has 2 entries, but the array has 1 axis."),
        ("P('batch')", "The spec names the axis batch, but the only axis of the mesh is data."),
    ],
)
def test_specs_of_a_sharding(spec: str, told: str) -> None:
    cell = Cell(f"{MESH}\njax.device_put(jnp.ones(8), jax.sharding.NamedSharding(mesh, {spec}))  # here")
    assert cell.finding.line == cell.here
    assert told in cell.said


_DIVIDED = (
    "shard_map applied to the function 'f' was given argument arrays with axis sizes that are not evenly "
    "divisible by "
    "the corresponding mesh axis sizes:\n\nThe mesh given has shape (2, 2) with corresponding axis names ('data', "
    "'model').\n\nthe passed args[1] of shape float32[6,3], where args[1] is bound to f's parameter 'y', "
    "corresponds to "
    "in_specs[1] of value P(('data', 'model'),), which maps array axis 0 (of size 6) to mesh axes ('data', "
    "'model') (of "
    "total size 4), but 4 does not evenly divide 6"
)
_PARTITIONED = (
    "One of device_put args was given the sharding NamedSharding(mesh=Mesh('data': 4, axis_types=(Auto,)), "
    "spec=P('data',), memory_kind=device) implies that array axis 0 is partitioned 4 times, but the "
    "dimension size is 6 "
    "(full shape: (6,), per-dimension tiling factors: (4,) should evenly divide the shape)."
)
_GLOBAL = (
    "One of device_put args was given the sharding of NamedSharding(mesh=Mesh('data': 4), "
    "spec=PartitionSpec('data',), "
    "memory_kind=device), which implies that the global size of its dimension 0 should be divisible by 4, but it is "
    "equal to 6 (full shape: (6,))"
)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("ValueError", _DIVIDED, "The spec P(('data', 'model')) splits axis 0 of the argument y into 4 equal parts"),
        ("IndivisibleError", _PARTITIONED, "The spec P('data') splits axis 0 of the array into 4 equal parts"),
        (
            "ValueError",
            _GLOBAL,
            "The spec P('data') splits axis 0 of the array into 4 equal parts, but its size is 6",
        ),
    ],
)
def test_an_axis_that_devices_cannot_share(name: str, text: str, told: str) -> None:
    kind, said = read([name], text) or ("", {})
    assert kind == "spec division"
    finding = explanation(Failure(kind=kind, error=name, said=tuple(said.items())))
    assert told in str(finding.found)
    assert str(finding.remedy).startswith("Pad the axis to 8 and mask the rest")


_LEAF = _DIVIDED.replace("the passed args[1] of", "* the passed args[1]['w'].scale of")
_OLDER_LEAF = _LEAF.replace("the passed ", "")
_KEY_PATH = "One of pjit arguments with pytree key path p['b']" + _PARTITIONED.removeprefix("One of device_put args")


@pytest.mark.parametrize(
    ("text", "argument"), [(_LEAF, "y['w'].scale"), (_OLDER_LEAF, "y['w'].scale"), (_KEY_PATH, "p['b']")]
)
def test_the_leaf_that_devices_cannot_share_is_named(text: str, argument: str) -> None:
    kind, said = read(["ValueError"], text) or ("", {})
    finding = explanation(Failure(kind=kind, error="ValueError", said=tuple(said.items())))
    assert f" splits axis 0 of the argument {argument} into 4 equal parts" in str(finding.found)
    assert str(finding.remedy).endswith("in the containers of the arrays, gives each leaf its own.")


@pytest.mark.parametrize("kind", ["", "axis_types=(jax.sharding.AxisType.Explicit,)"])
def test_the_leaf_that_a_sharding_does_not_fit_is_named(kind: str) -> None:
    cell = Cell(f"""
        {MESH}
        mesh = jax.make_mesh((1,), ("data",), {kind or "devices=jax.devices()[:1]"})
        sharding = jax.sharding.NamedSharding(mesh, P("data"))
        params = {{"w": jnp.ones((8, 2)), "scale": jnp.ones(())}}
        jax.device_put(params, sharding)  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The spec P('data') has 1 entry, but the argument params['scale'] has no axis.")
    apart = "{'w': sharding, 'scale': jax.sharding.NamedSharding(mesh, P())}"
    assert cell.rewritten(f"jax.device_put(params, {apart})").error is None


def test_a_spec_where_no_mesh_is_set_names_no_other_axis() -> None:
    kind, said = read(["ValueError"], "Resource axis: sites of P('sites',) is not found in mesh: ().") or ("", {})
    finding = explanation(Failure(kind=kind, error="ValueError", said=tuple(said.items())))
    assert str(finding.found) == "A spec names the axis sites, but no mesh is set here."
    assert "axis_types=(jax.sharding.AxisType.Auto,)" in str(finding.remedy)


def test_an_array_of_the_same_shape_is_not_taken_for_a_result() -> None:
    text, call = _PARTITIONED.replace("One of device_put args was given the sharding", "Sharding"), "f(x)"
    kind, said = read(["IndivisibleError"], text) or ("", {})
    facts = {"kind": kind, "said": tuple(said.items()), "operands": (Operand(text="x", type="f32[6]"),), "node": 1}
    finding = explanation(Failure(error="IndivisibleError", statement=call, **facts))
    assert "axis 0 of the array" in str(finding.found)
    finding = explanation(Failure(error="IndivisibleError", statement="jax.device_put(x, s)", **facts))
    assert "axis 0 of the argument x" in str(finding.found)


def test_an_axis_that_a_spec_names_twice() -> None:
    cell = Cell(f"{MESH}\njax.sharding.NamedSharding(mesh, P('data', 'data'))  # here")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("The spec P('data', 'data') names the axis data more than once.")
    assert cell.rewritten("jax.sharding.NamedSharding(mesh, P('data', None))").error is None


EXPLICIT = (
    'mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.{},)); P = jax.sharding.PartitionSpec'
)
MAP = "y = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P('x'), out_specs=P('x'))(x)"


def test_an_argument_of_shard_map_on_a_mesh_with_explicit_axes() -> None:
    values = f"{EXPLICIT}\nx = jnp.ones(4)\n{{}}{MAP}  # here"
    cell = Cell(values.format("Explicit", ""))
    if cell.error is None:
        pytest.skip("this JAX shards the argument itself")
    assert cell.finding.line == cell.here
    assert cell.said.startswith("in_specs says P('x'), but an argument of type float32[4] has the sharding P(None).")
    placed = "jax.device_put(x, jax.sharding.NamedSharding(mesh, P('x')))"
    assert placed in cell.said
    assert Cell(values.format("Explicit", f"x = {placed}\n")).error is None
    assert Cell(values.format("Auto", "")).error is None


def test_a_constraint_on_a_mesh_with_explicit_axes() -> None:
    cell = Cell(f"""
        {EXPLICIT.format("Explicit")}
        sharding = jax.sharding.NamedSharding(mesh, P("x"))
        @jax.jit
        def f(x):
            return lax.with_sharding_constraint(x * 2, sharding)  # here
        f(jnp.ones(4))
    """)
    if cell.error is None:
        pytest.skip("this JAX changes the sharding")
    assert cell.finding.line == cell.here
    assert cell.finding.code == "return jax.sharding.reshard(x * 2, sharding)"
    assert cell.rewritten(cell.finding.code).error is None


@pytest.mark.parametrize("with_ids", ["with device ids", "device ids"])
def test_arrays_on_different_devices(with_ids: str) -> None:
    text = (
        "Received incompatible devices for jitted computation. Got argument x of add with shape float32[3] and "
        f"{with_ids} [0] on platform CPU and argument y of add with shape float32[3] and {with_ids} [1, 2] on "
        "platform CPU"
    )
    kind, said = read(["ValueError"], text) or ("", {})
    facts = {"kind": kind, "said": tuple(said.items()), "statement": "c = a + b", "node": 2}
    finding = explanation(Failure(error="ValueError", **facts))
    assert sentence(finding.found) == "The computation gets one array on the devices [0], and another one on [1, 2]."
    assert finding.code == "c = a + jax.device_put(b, a.sharding)"
    assert Cell(f"a, b = jnp.ones(3), jnp.ones(3)\n{finding.code}").error is None


def test_a_call_without_a_mesh() -> None:
    call = "jax.shard_map(lambda x: x * 2, {}in_specs=P('data'), out_specs=P('data'))(jnp.ones(8))"
    cell = Cell(f"{MESH}\ny = {call.format('')}  # here")
    assert cell.finding.line == cell.here
    assert "Pass mesh=mesh, or call it below `with jax.set_mesh(mesh):`." in cell.said
    assert cell.rewritten(f"with jax.set_mesh(mesh): y = {call.format('')}").error is None
    assert cell.rewritten(f"y = {call.format('mesh=mesh, ')}").error is None


CALLBACK = "jax.pure_callback({function}, jax.ShapeDtypeStruct((4,), jnp.float32), jnp.ones(4))"


@fails_in_callback
@pytest.mark.parametrize(
    ("function", "told"),
    [
        (
            "lambda x: np.asarray(x)[:2]",
            "The Python function of a callback returns shape (2,), but (4,) is declared.\nLet the function return an "
            "array of shape (4,); or declare what it returns, jax.ShapeDtypeStruct((2,), dtype).",
        ),
        (
            "lambda x: np.asarray(x, np.int32)",
            "returns dtype int32, but float32 is declared.\nConvert the result in the function, np.asarray(result, "
            "np.float32)",
        ),
        ("lambda x: (x, x)", "returns 2 arrays, but 1 is declared."),
        ("lambda x: None", "returns 0 arrays, but 1 is declared."),
    ],
)
def test_a_callback_that_returns_something_else_than_declared(function: str, told: str) -> None:
    cell = Cell(f"jax.block_until_ready({CALLBACK.format(function=function)})  # here")
    assert cell.finding.line == cell.here
    assert told in cell.said


@fails_in_callback
def test_a_callback_in_a_program_is_not_on_the_line_that_runs_it() -> None:
    body = CALLBACK.format(function="lambda x: np.asarray(x)[:2]")
    cell = Cell(f"f = jax.jit(lambda: {body})\njax.block_until_ready(f())  # here")
    assert cell.finding.line == cell.here
    assert "In the program that this line runs or waits for, the Python function of a callback returns" in cell.said


@pytest.mark.parametrize(
    "call", ["lax.psum(x, 'batch')", "lax.pmax(x, axis_name=axis)", "lax.ppermute(x, axis, [(0, 0)])"]
)
def test_a_collective_along_an_axis_that_the_mesh_lacks(call: str) -> None:
    cell = Cell(f"""
        axis, P = "batch", jax.sharding.PartitionSpec
        mesh = jax.sharding.Mesh(jax.devices()[:1], ("data",))
        @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
        def f(x):
            return x + {call}  # here
        f(jnp.ones(4))
    """)
    assert cell.finding.line == cell.here
    function = call.partition("(")[0]
    assert f"{function} uses the axis name batch, but no function around it has bound this name." in cell.said


@pytest.mark.parametrize("line", ["assert not x", "x['batch']", "lax.psum(names['batch'], 'batch')", "g('batch')"])
def test_an_assertion_or_a_key_of_the_user_is_no_axis_name(line: str) -> None:
    code = f"names, x = {{}}, {{1: 2}}\ndef g(axis_name): return x[axis_name]\n{line}"
    assert recognize(Cell(code).error) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "function"),
    [
        ("lax.with_sharding_constraint(x, P('data'))", "with_sharding_constraint"),
        ("jax.jit(lambda x: lax.with_sharding_constraint(x, P('data')))(x)", "with_sharding_constraint"),
        ("jax.device_put(x, P('data'))", "device_put"),
        ("jax.jit(jnp.sin, in_shardings=P('data'))(x)", "jit gets a partition spec in in_shardings="),
    ],
)
def test_a_spec_without_a_mesh(call: str, function: str) -> None:
    cell = Cell(f"x, P = jnp.ones(4), jax.sharding.PartitionSpec\ny = {call}  # here")
    assert cell.finding.line == cell.here
    assert function in cell.said
    assert "but no mesh is set." in cell.said
    mesh = "jax.sharding.Mesh(jax.devices()[:1], ('data',))"
    if "jit(" in call:
        assert cell.rewritten(f"with jax.set_mesh({mesh}): y = {call}").error is None
    sharding = call.replace("P('data')", f"jax.sharding.NamedSharding({mesh}, P('data'))")
    assert cell.rewritten(f"y = {sharding}").error is None
