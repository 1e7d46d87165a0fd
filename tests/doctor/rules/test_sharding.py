"""`sharding`: what moves or is replicated in vain is found, and parallel programs as people write them are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gathered_evidence import evidence_of
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxmagic
from jaxmagic.doctor.capture.remedies.remedy import NotTried
from jaxmagic.doctor.capture.remedies.sharding import propose
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.placement import DeviceArrays, Placement, UnevenShards
from jaxmagic.doctor.rules import sharding
from jaxmagic.profiling.record.communication import CollectiveTime
from jaxmagic.profiling.record.profile import DeviceUse

pytestmark = pytest.mark.skipif(jax.device_count() < 4, reason="needs four devices")

MIB = 2**20


def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:4]), ("data",))


def placed(array: jax.Array, *spec: Any) -> jax.Array:
    return jax.device_put(array, NamedSharding(mesh(), P(*spec)))


def found_in(function: Callable[..., Any], *args: Any) -> list[RuleFinding]:
    diagnosis = jaxmagic.diagnose(function, *args, only=["sharding"])
    assert diagnosis.looked == ("sharding",)
    return list(diagnosis.findings)


def batch(columns: int = 256) -> jax.Array:
    return jnp.ones((4096, columns))  # 4 MiB


def weights(columns: int = 8) -> jax.Array:
    return jnp.full((256, columns), 0.01)


@jax.jit
def forward(x: jax.Array, w: jax.Array) -> jax.Array:
    return (x @ w).sum()


def is_moved(function: Callable[..., Any], *args: Any) -> bool:
    """Return whether JAX itself says that a call moves arrays between devices."""
    function(*args)
    message = ""
    try:
        with jax.transfer_guard_device_to_device("disallow"):
            function(*args)
    except Exception as error:
        message = str(error)
    assert not message or "Disallowed device-to-device transfer" in message
    return bool(message)


def test_weights_on_one_device_move_to_all_others_in_each_run() -> None:
    x, w = placed(batch(), "data"), weights(2048)
    (found,) = found_in(forward, x, w)
    facts = dict(found.found.facts)
    assert (facts["array"], facts["function"]) == ("w", "forward")
    assert facts["moved_bytes"] == 3 * w.nbytes
    assert found.code == (
        "w = jax.device_put(w, jax.sharding.NamedSharding(x.sharding.mesh, jax.sharding.PartitionSpec()))"
    )
    assert is_moved(forward, x, w)
    names = {"jax": jax, "x": x, "w": w}
    exec(found.code, names)
    assert not is_moved(forward, x, names["w"])
    assert found_in(forward, x, names["w"]) == []


def test_remedy_is_applied_to_a_copy() -> None:
    x, w = placed(batch(), "data"), weights(2048)
    finding, code = found_in(forward, x, w)[0], TriedCode("forward(x, w)", {"forward": forward, "x": x, "w": w})
    (replaced,) = propose(finding, code).replacements.items()
    assert replaced[0] == id(w)
    assert replaced[1].sharding.is_equivalent_to(NamedSharding(mesh(), P()), 2)
    np.testing.assert_array_equal(replaced[1], w)
    assert len(w.sharding.device_set) == 1


def test_memory_is_not_tried() -> None:
    x, y = placed(batch(), "data"), placed(batch())
    (found,) = found_in(jax.jit(lambda x, y: (x + y).sum()), x, y)
    with pytest.raises(NotTried):
        propose(found, TriedCode("f(x, y)", {"x": x, "y": y}))


def test_batch_on_one_device_is_scattered_in_each_run() -> None:
    everywhere = placed(weights())
    step = jax.jit(lambda x, w: (x @ w).sum(), in_shardings=(NamedSharding(mesh(), P("data")), everywhere.sharding))
    x = batch()
    (found,) = found_in(step, x, everywhere)
    assert dict(found.found.facts)["moved_bytes"] == x.nbytes * 3 // 4
    names = {"jax": jax, "x": x, "w": everywhere}
    exec(found.code or "", names)
    assert {each.data.shape for each in names["x"].addressable_shards} == {(1024, 256)}
    assert found_in(step, names["x"], everywhere) == []


def put_in_each_step(x: jax.Array, w: jax.Array, where: NamedSharding) -> Any:
    return [forward(jax.device_put(x, where), w) for _ in range(4)]  # in a comprehension


def put_in_a_loop(w: jax.Array) -> Any:
    x, where, total = batch(), NamedSharding(mesh(), P("data")), 0.0
    for _ in range(4):
        total += forward(jax.device_put(x, where), w)
    return total


def put_in_a_comprehension(w: jax.Array) -> Any:
    x, where = batch(), NamedSharding(mesh(), P("data"))
    return [forward(jax.device_put(x, where), w) for _ in range(4)]


def two_in_a_line(w: jax.Array) -> Any:
    x, everywhere = batch(), NamedSharding(mesh(), P())
    return [jax.device_put(x, everywhere) + jax.device_put(w[0], everywhere)[0] for _ in range(3)]


def test_an_array_that_each_step_places_again_is_found_at_its_line() -> None:
    x, w, where = batch(), placed(weights()), NamedSharding(mesh(), P("data"))
    (found,) = found_in(put_in_each_step, x, w, where)
    facts = {"array": "x", "count": 4, "moved_bytes": x.nbytes * 3 // 4, "arrays": 1}
    assert dict(found.found.facts) == facts
    assert str(found.source).endswith("# in a comprehension")
    assert str(found.found) == "This line copies x to the same devices 4 times per run: 3.00 MiB each time."
    assert "lies on 1 device; this line copies it as PartitionSpec('data'), on 4 devices." in str(found.evidence[0])
    names = {"jax": jax, "x": x, "where": where}
    exec(found.code or "", names)
    assert found_in(put_in_each_step, names["x"], w, where) == []


@pytest.mark.parametrize("made", [np.asarray, jnp.asarray])
def test_the_remedy_for_placing_again_places_a_copy(made: Callable[..., Any]) -> None:
    x, w, where = made(batch()), placed(weights()), NamedSharding(mesh(), P("data"))
    finding = found_in(put_in_each_step, batch(), w, where)[0]
    code = TriedCode("f(x, w, where)", {"f": put_in_each_step, "x": x, "w": w, "where": where})
    (replaced,) = propose(finding, code).replacements.items()
    assert replaced[0] == id(x)
    assert replaced[1].sharding.is_equivalent_to(NamedSharding(mesh(), P("data")), 2)


@pytest.mark.parametrize("function", [put_in_a_loop, put_in_a_comprehension])
def test_an_array_without_a_name_outside_is_placed_before_the_loop(function: Any) -> None:
    (found,) = found_in(function, placed(weights()))
    assert found.code == "x = jax.device_put(x, where)  # before the loop"
    assert found.found.facts["count"] == 4


def test_two_arrays_in_a_line_are_told_together() -> None:
    (found,) = found_in(two_in_a_line, weights())
    assert found.found.facts["arrays"] == 1  # w[0] is a new array in each step
    assert found.found.facts["array"] == "float32[4096,256]"
    assert found.code is None


def donated_copies(w: jax.Array, gradient: jax.Array, where: NamedSharding) -> Any:
    update = jax.jit(lambda w, gradient: w - gradient, donate_argnums=0)
    for _ in range(4):
        last = update(jax.device_put(w, where), gradient)
    return last


def copies_on_two_devices(w: jax.Array) -> Any:
    devices = jax.devices()
    return [jax.device_put(w, devices[number % 2]) for number in range(6)]


def each_batch_in_each_epoch(batches: list[jax.Array], where: NamedSharding) -> Any:
    for _ in range(3):
        for one in batches:
            last = jax.device_put(one, where)
    return last


def one_of_two(w: jax.Array, v: jax.Array, where: NamedSharding) -> Any:
    return [jax.device_put(w if number % 2 else v, where) for number in range(6)]


@pytest.mark.parametrize(
    "make",
    [
        lambda where: (donated_copies, batch(), placed(batch(), "data"), where),
        lambda where: (copies_on_two_devices, batch()),
        lambda where: (each_batch_in_each_epoch, [batch(), batch() + 1], where),
        lambda where: (one_of_two, batch(), batch() + 1, where),
    ],
    ids=["donated", "two devices", "loop variable", "one of two"],
)
def test_copies_that_one_placement_cannot_replace_are_left_alone(make: Callable[[NamedSharding], Any]) -> None:
    function, *args = make(NamedSharding(mesh(), P("data")))
    assert found_in(function, *args) == []


OUTSIDE = batch()


def puts_a_global(where: NamedSharding) -> Any:
    return [jax.device_put(OUTSIDE, where) for _ in range(4)]


def puts_by_a_lambda(w: jax.Array, where: NamedSharding) -> Any:
    put = lambda each: jax.device_put(each, where)  # noqa: E731
    return [put(w) for _ in range(4)]


@pytest.mark.parametrize(
    ("function", "given", "code"),
    [(puts_a_global, (), None), (puts_by_a_lambda, (batch(),), "w = jax.device_put(w, where)")],
)
def test_advice_assigns_no_name_that_does_not_exist_there(function: Any, given: Any, code: str | None) -> None:
    where = NamedSharding(mesh(), P("data"))
    (found,) = found_in(function, *given, where)
    assert (found.found.facts["count"], found.code) == (4, code)


def test_other_batches_and_arrays_that_lie_there_are_placed_as_they_should_be() -> None:
    where, w = NamedSharding(mesh(), P("data")), placed(weights())

    def train(batches: Any) -> Any:
        return [forward(jax.device_put(each, where), w) for each in batches]

    assert found_in(train, [batch() + n for n in range(3)]) == []
    assert found_in(train, [placed(batch(), "data")] * 3) == []
    small = jnp.ones((256, 256))  # by hand: twice 192 KiB
    assert found_in(train, [small] * 3) == []


def test_calls_that_move_an_array_are_counted() -> None:
    everywhere = placed(weights())
    step = jax.jit(lambda x, w: (x @ w).sum(), in_shardings=(NamedSharding(mesh(), P("data")), everywhere.sharding))

    def train(x: Any, w: Any) -> Any:
        return [step(x, w) for _ in range(5)]

    (found,) = found_in(train, batch(), everywhere)
    assert (found.found.facts["count"], found.found.facts["array"]) == (5, "x")
    assert str(found.found).endswith("is called 5 times per run.")


def test_operand_of_an_eager_operation_is_found() -> None:
    def add(x: jax.Array, y: jax.Array) -> jax.Array:
        return x + y

    (found,) = found_in(add, placed(batch(), "data"), batch())
    assert found.code == "y = jax.device_put(y, x.sharding)"
    assert found.source == "return x + y"


def loss(params: dict[str, jax.Array], x: jax.Array, y: jax.Array) -> jax.Array:
    return ((jnp.tanh(x @ params["w"]) - y) ** 2).mean()


def need(function: Any, *args: Any) -> int:
    return int(function.lower(*args).compile().memory_analysis().argument_size_in_bytes)


def test_replicated_labels_are_found_and_the_cost_is_the_compilers() -> None:
    step = jax.jit(jax.value_and_grad(loss))
    params, x, y = {"w": placed(weights(512))}, placed(batch(), "data"), placed(batch(512))
    (found,) = found_in(step, params, x, y)
    assert dict(found.found.facts)["array"] == "y"
    assert found.cost_bytes == need(step, params, x, y) - need(step, params, x, placed(y, "data")) == 6 * MIB
    names: dict[str, Any] = {"jax": jax, "x": x, "y": y}
    exec(found.code or "", names)
    assert names["y"].sharding.is_equivalent_to(x.sharding, 2)
    assert found_in(step, params, x, names["y"]) == []


def test_replicated_labels_of_optax_are_found() -> None:
    optax = pytest.importorskip("optax")
    optimizer = optax.sgd(0.1)

    @jax.jit
    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    params = {"w": placed(weights(512))}
    (found,) = found_in(step, params, optimizer.init(params), placed(batch(), "data"), placed(batch(512)))
    assert dict(found.found.facts)["array"] == "y"


def _data_parallel() -> Any:
    return jax.jit(jax.grad(loss)), {"w": placed(weights(512))}, placed(batch(), "data"), placed(batch(512), "data")


def _square_weights() -> Any:  # the first axis of the weights is as long as that of the batch
    w, x = placed(jnp.ones((1024, 1024))), placed(jnp.ones((1024, 1024)), "data")
    return jax.jit(lambda w, x: jnp.tanh(x @ w)), w, x


def _tensor_parallel() -> Any:
    w, x = placed(jnp.ones((512, 1024)), None, "data"), placed(jnp.ones((1024, 512)))
    return jax.jit(lambda w, x: jnp.tanh(x @ w)), w, x


def _fully_sharded() -> Any:
    w, x = placed(jnp.ones((1024, 1024)), "data"), placed(jnp.ones((1024, 1024)), "data")
    return jax.jit(lambda w, x: jnp.tanh(x @ w)), w, x


def _one_device() -> Any:
    return jax.jit(lambda w, x: jnp.tanh(x @ w)), jnp.ones((1024, 1024)), jnp.ones((1024, 1024))


def _small() -> Any:  # 3/4 MiB in all
    return forward, placed(batch(), "data"), weights(256)


def _used_as_a_whole_too() -> Any:
    def step(x: jax.Array, y: jax.Array) -> tuple[jax.Array, jax.Array]:
        return (x + y).sum(), jnp.sort(y, 0)[0]

    return jax.jit(step), placed(batch(), "data"), placed(batch())


def _sharded_along_one_axis_of_the_mesh() -> Any:  # and along the other one, XLA chooses to read a part
    square = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))
    w = jax.device_put(jnp.ones((2, 1024, 1024)), NamedSharding(square, P(None, None, "model")))
    x = jax.device_put(jnp.ones((1024, 1024)), NamedSharding(square, P("data")))
    return jax.jit(lambda w, x: jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, w)[0].mean()), w, x


def _update_of_replicated_weights() -> Any:
    step = jax.jit(lambda w, x: w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w))
    return step, placed(jnp.ones((1024, 2048))), placed(jnp.ones((64, 1024)), "data")


def _nothing_is_split() -> Any:  # the devices do the same work, each on a copy that it reads as a whole
    return jax.jit(lambda x, w: jnp.tanh(x @ w)), placed(batch()), placed(weights())


def _small_part() -> Any:  # sharding saves 3/4 MiB on each device
    return jax.jit(lambda x, y: (x - y).sum()), placed(jnp.ones((1024, 256)), "data"), placed(jnp.ones((1024, 256)))


def _lookup() -> Any:  # a slice that begins where an argument says
    def look_up(table: jax.Array, x: jax.Array, start: jax.Array) -> jax.Array:
        return x + jax.lax.dynamic_slice(table, (start, 0), (1024, 256)).sum()

    return jax.jit(look_up), placed(batch()), placed(batch(), "data"), placed(jnp.array(5))


def _rebound_in_the_loop() -> Any:  # only the first call moves it
    step = jax.jit(lambda w, x: w + (x @ w).sum())

    def train(w: jax.Array, x: jax.Array) -> jax.Array:
        for _ in range(3):
            w = step(w, x)
        return w

    return train, weights(2048), placed(batch(), "data")


@pytest.mark.parametrize(
    "make",
    [
        _data_parallel,
        _square_weights,
        _tensor_parallel,
        _fully_sharded,
        _one_device,
        _small,
        _used_as_a_whole_too,
        _sharded_along_one_axis_of_the_mesh,
        _update_of_replicated_weights,
        _nothing_is_split,
        _small_part,
        _lookup,
        _rebound_in_the_loop,
    ],
)
def test_clean_programs_are_left_alone(make: Callable[[], Any]) -> None:
    function, *args = make()
    assert found_in(function, *args) == []


def test_array_that_another_program_reads_as_a_whole_is_left_alone() -> None:
    add = jax.jit(lambda x, y: (x + y).sum())
    sort = jax.jit(lambda x, y: x.sum() + jnp.sort(y, 0)[0])

    def run(x: jax.Array, y: jax.Array) -> Any:
        return add(x, y), sort(x, y)

    assert len(found_in(add, placed(batch(), "data"), placed(batch()))) == 1
    assert found_in(run, placed(batch(), "data"), placed(batch())) == []


def use(number: int, **times: int) -> DeviceUse:
    values = {"busy_ns": 0, "compute_ns": 0, "copy_ns": 0, "collective_ns": 0, "exposed_copy_ns": 0, "idle_ns": 0}
    return DeviceUse(device=f"GPU:{number}", **(values | {"exposed_collective_ns": 0} | times))


@pytest.fixture(scope="module")
def gathered() -> Evidence:
    return evidence_of(forward, jnp.ones((8, 256)), weights())


def on_gpus(gathered: Evidence, exposed: float, waited: float, backend: str = "gpu") -> Evidence:
    """Plant the shares of a run in which two devices communicate, and wait for each other."""
    assert gathered.profile is not None
    run_ns, runs = gathered.run_ns, gathered.profile.runs or 1
    exposed_ns = int(exposed * run_ns * runs)
    collective = CollectiveTime(
        name="all-reduce.3",
        kind="all-reduce",
        module="jit_step",
        devices=2,
        count=2,
        payload_bytes=8,
        total_ns=2 * exposed_ns,
        exposed_ns=2 * exposed_ns,
        wait_ns=int(2 * waited * run_ns * runs),
    )
    uses = tuple(use(each, exposed_collective_ns=exposed_ns) for each in range(2))
    profile = replace(gathered.profile, recorded_ns=10**12, device_uses=uses, collectives=(collective,))
    environment = replace(gathered.first.environment, backend=backend)
    return replace(gathered, profile=profile, first=replace(gathered.first, environment=environment))


@pytest.mark.parametrize(
    ("exposed", "waited", "kinds"),
    [
        (0.19, 0.0, []),
        (0.21, 0.0, ["doctor.exposed"]),
        (0.25, 0.09, []),  # neither of both parts is large
        (0.15, 0.11, ["doctor.straggler"]),
        (0.5, 0.2, ["doctor.straggler", "doctor.exposed"]),
    ],
)
def test_least_share_of_communication(gathered: Evidence, exposed: float, waited: float, kinds: list[str]) -> None:
    findings = list(sharding.look(on_gpus(gathered, exposed, waited)))
    assert [each.found.kind for each in findings] == kinds
    for each in findings:
        share = waited if each.found.kind == "doctor.straggler" else exposed - waited
        assert each.cost_ns == pytest.approx(share * gathered.run_ns, rel=1e-3)


def test_virtual_devices_of_a_cpu_have_no_exposed_communication(gathered: Evidence) -> None:
    assert list(sharding.look(on_gpus(gathered, 0.5, 0.2, "cpu"))) == []


def test_least_bytes(gathered: Evidence) -> None:
    evidence = replace(evidence_of_call(), profile=None)
    (program,) = evidence.programs or ()
    (moved,) = [each for each in program.placements if each.moved_bytes]

    def found(moved_bytes: int, argument_bytes: int) -> int:
        changed = replace(
            program,
            placements=(replace(moved, moved_bytes=moved_bytes),),
            executable=replace(program.executable, argument_bytes=argument_bytes),
        )
        return len(list(sharding.look(replace(evidence, programs=(changed,)))))

    assert (found(MIB - 1, 0), found(MIB, 0)) == (0, 1)
    assert (found(MIB, 13 * MIB), found(MIB, 12 * MIB)) == (0, 1)  # 2 % of what lies on four devices


def test_bytes_that_move_count_per_run() -> None:
    def train(x: Any, w: Any) -> Any:
        return [forward(x, w) for _ in range(4)]

    (found,) = found_in(train, placed(batch(256), "data"), weights(512))  # by hand: 3 x 512 KiB each time
    assert (found.found.facts["count"], found.found.facts["moved_bytes"]) == (4, 3 * MIB // 2)
    (found,) = found_in(train, placed(batch(128), "data"), jnp.ones((128, 512)))
    assert found.found.facts["moved_bytes"] == 3 * MIB // 4
    assert found_in(train, placed(batch(64), "data"), jnp.ones((64, 256))) == []  # 768 KiB in all four


def evidence_of_call() -> Evidence:
    x, w = placed(batch(), "data"), weights(2048)
    return evidence_of(partial(forward, x, w), names={"x": x, "w": w})


def constrained(columns: int, *spec: Any) -> Any:
    """Return a function that shards an intermediate array of 5 rows, and its argument of 20 bytes per column."""
    square = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("rows", "columns"))
    where = NamedSharding(square, P(*spec))

    @jax.jit
    def scaled(x: jax.Array) -> jax.Array:
        y = jax.lax.with_sharding_constraint(x * 2, where)  # uneven
        return (y * y).sum()

    return scaled, jax.device_put(jnp.ones((5, columns)), NamedSharding(square, P()))


def uneven_in(function: Callable[..., Any], *args: Any) -> list[RuleFinding]:
    return [each for each in found_in(function, *args) if each.found.kind == "doctor.uneven"]


@pytest.mark.parametrize(
    ("spec", "pieces", "rows", "share"),
    [((("rows", "columns"),), 4, 2, 1), (("rows", "columns"), 2, 3, 2)],
)
def test_an_axis_that_the_devices_do_not_divide_is_found(spec: Any, pieces: int, rows: int, share: int) -> None:
    function, x = constrained(2**20, *spec)
    (found,) = uneven_in(function, x)
    assert dict(found.found.facts) == {"type": "float32[5,1048576]", "axis": 0, "size": 5, "pieces": pieces}
    assert str(found.source).endswith("# uneven")
    assert found.evidence[0].facts["size_bytes"] == rows * 4 * MIB // share
    assert f"f32[{rows},{2**20 // share}]" in function.lower(x).compile().as_text()  # as XLA has it on each device
    assert found.cost_bytes == rows * 4 * MIB // share - 5 * 4 * MIB // share // pieces
    assert f"for example {rows * pieces} with padding" in str(found.remedy)


@pytest.mark.parametrize(
    ("columns", "spec"),
    [
        (2**20, (None, "columns")),  # divides
        (2**16, (("rows", "columns"),)),  # 192 KiB
        (2**20, ()),
    ],
)
def test_even_or_small_parts_are_left_alone(columns: int, spec: Any) -> None:
    function, x = constrained(columns, *spec)
    assert uneven_in(function, x) == []


def test_lengths_of_uneven_parts() -> None:
    uneven = UnevenShards(line=None, type="float32[5]", axis=0, size=5, pieces=4, size_bytes=20)
    assert (uneven.lengths, uneven.largest_bytes) == ((2, 2, 1, 0), 8)


OTHERS = tuple(DeviceArrays(device=f"gpu:{number}", size_bytes=10 * MIB) for number in (1, 2, 3))
FULL = DeviceArrays(device="gpu:0", size_bytes=50 * MIB, alone=(("table", 30 * MIB), ("labels", 10 * MIB)))
HOST = DeviceArrays(device="cpu:0", size_bytes=90 * MIB)
SHARDED = Placement(parameter=0, path="x", type="float32[4,4]", size_bytes=64, lies_on=4, devices=4)


def holding(gathered: Evidence, *devices: DeviceArrays, **changes: Any) -> list[RuleFinding]:
    """Return what is found if a program on four devices ran and these hold some arrays."""
    assert gathered.programs is not None
    placement = replace(SHARDED, **{name: each for name, each in changes.items() if name != "limit_bytes"})
    programs = (replace(gathered.programs[0], placements=(placement,), uneven=()),)
    limit_bytes = changes.get("limit_bytes", 400 * MIB)
    evidence = replace(gathered, programs=programs, devices=devices, limit_bytes=limit_bytes, inputs=())
    return list(sharding.RULE.look(evidence))


def test_a_device_that_holds_more_than_the_others_is_found(gathered: Evidence) -> None:
    (found,) = holding(gathered, FULL, *OTHERS, HOST)
    assert str(found.found) == "gpu:0 alone holds table, labels (40.0 MiB), while a program runs on 4 devices."
    assert "take 50.0 MiB of the 400 MiB of gpu:0, and at most 10.0 MiB on each other" in str(found.evidence[0])
    assert (found.cost_bytes, found.basis) == (30 * MIB, "estimated")


@pytest.mark.parametrize(
    ("devices", "changes"),
    [
        ((FULL, *OTHERS), {"limit_bytes": None}),
        ((FULL, *OTHERS), {"limit_bytes": 401 * MIB}),  # 40 MiB are less than a tenth
        ((FULL, *OTHERS), {"devices": 1}),  # the code uses one device only
        ((FULL, *OTHERS[:2]), {}),  # or not all
        ((FULL, replace(OTHERS[0], size_bytes=11 * MIB), *OTHERS[1:]), {}),  # as much elsewhere, but for 39 MiB
        ((replace(FULL, alone=FULL.alone[:1]), *OTHERS), {}),  # the others have no name
        ((FULL, *OTHERS), {"path": "table", "moved_bytes": 1}),  # another finding
        ((), {}),
    ],
)
def test_devices_that_hold_about_as_much_are_left_alone(gathered: Evidence, devices: Any, changes: Any) -> None:
    assert holding(gathered, *devices, **changes) == []


def test_a_table_on_one_device_is_named() -> None:
    def step(x: jax.Array, w: jax.Array, table: jax.Array) -> Any:
        return forward(x, w), table[0, 0]

    x, w, table = placed(batch(), "data"), placed(weights()), jnp.ones((2048, 1024))
    (found,) = jaxmagic.diagnose(step, x, w, table, only=["sharding"], memory_bytes=60 * MIB).findings
    device = next(iter(table.devices()))
    assert found.found.facts["device"] == f"cpu:{device.id}"
    assert "table" in str(found.found.facts["arrays"])
    assert jaxmagic.diagnose(step, x, w, table, only=["sharding"]).findings == ()
