"""Arrays of NumPy inside of what a call passes whole are found, if the loop leaves them where they are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate import hlo

import jaxmagic
from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.copies.passed_whole import Passed, may_change, passed_whole, put_once
from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.hlo import Sharded

WIDE = np.ones((1024, 1024))  # JAX converts its float64 in each call


class Batch(NamedTuple):
    x: Any
    y: Any


@jax.jit
def total(batch: Any) -> Any:
    return sum(each.sum() for each in map(jnp.asarray, jax.tree.leaves(batch)))


@jax.jit
def of_parts(*parts: Any, **named: Any) -> Any:
    return total((parts, named))


def with_batch(batch: Any) -> Any:
    return [total(batch) for _ in range(10)]


def with_size(batch: Any) -> Any:
    return [total(batch) / batch["x"].mean() for _ in range(10)]


def with_params(state: Any) -> Any:
    out = None
    for _ in range(10):
        out = total(state["params"])
    return out


def with_attribute(data: Any) -> Any:
    out = None
    for _ in range(10):
        out = total(batch=data.batch)
    return out


def with_names(batch: Any) -> Any:
    return [of_parts(**batch) for _ in range(10)]


def with_parts(batch: Any) -> Any:
    return [of_parts(*batch) for _ in range(10)]


def found(run: Callable[..., Any], *args: Any, **options: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(run, *args, only=["transfer"], **options).findings)


@pytest.mark.clock
@pytest.mark.usefixtures("at_any_cost")
class TestPrograms:
    @pytest.mark.parametrize(
        ("run", "value", "path"),
        [
            (with_batch, {"x": WIDE, "y": np.ones(5), "none": None, "scale": 2.0}, "batch"),
            (with_batch, (WIDE, np.ones(5)), "batch"),
            (with_batch, {"layers": [{"w": WIDE}, {"w": jnp.ones(5)}]}, "batch"),
            (with_batch, Batch(WIDE, 1.0), "batch"),
            (with_params, {"params": {"w": WIDE}, "step": 1}, "state['params']"),
            (with_attribute, SimpleNamespace(batch={"x": WIDE}), "data.batch"),
            (with_names, {"x": WIDE}, "batch"),
            (with_parts, (WIDE, np.ones(5)), "batch"),
        ],
    )
    def test_arrays_inside_are_found(self, run: Callable[..., Any], value: Any, path: str) -> None:
        (one,) = found(run, value)
        assert one.code == f"{path} = jax.device_put({path})"
        assert one.found.facts["names"] == path
        assert one.found.facts["size_bytes"] == pytest.approx(10 * 2**22, rel=1e-4)

    def test_the_code_is_tried_and_its_outputs_are_compared(self) -> None:
        (one,) = found(with_batch, {"x": WIDE, "y": np.ones(5)}, verify=True)
        assert one.verified is not None
        assert one.verified.outputs_agree
        assert [each.facts["names"] for each in one.verified.notes if each.kind == "doctor.put"] == ["batch"]

    def test_what_numpy_reads_as_well_stays_one_of_numpy(self) -> None:
        (one,) = found(with_size, {"x": WIDE})
        assert one.remedy is not None
        assert one.remedy.kind == "doctor.transfer_beside"
        assert one.code is None

    def test_what_is_donated_needs_a_copy_in_each_call(self) -> None:
        doubled = jax.jit(lambda batch: {"x": batch["x"] * 2}, donate_argnums=0)
        whole = jax.jit(lambda x: x * 2, donate_argnums=0)
        assert not found(lambda batch: [doubled(batch) for _ in range(10)], {"x": WIDE})
        assert not found(lambda x: [whole(x) for _ in range(10)], WIDE)

    def test_arrays_of_jax_are_there_already(self) -> None:
        assert not found(with_batch, jax.device_put({"x": WIDE, "y": np.ones(5)}))


def array(path: str, shape: str = "[8,4]") -> Input:
    return Input(path=path, kind="numpy array", type=f"float32{shape}", size_bytes=128)


@pytest.mark.parametrize(
    ("call", "taken", "paths"),
    [
        ("f(b)", ["p['x']", "p['y']"], {"b": ["b['x']", "b['y']"]}),
        ("f(b)", ["p['x']"], {"b": ["b['x']"]}),  # the other one is not used, and so not copied
        ("f(b['x'])", ["p"], {"b['x']": ["b['x']"]}),
        ("f(batch=b)", ["batch['y']"], {"b": ["b['y']"]}),
        ("f(**b)", ["x"], {"b": ["b['x']"]}),
        ("f(**b)", ["named['y']"], {"b": ["b['y']"]}),
        ("f(*bs)", ["args[0]"], {"bs": ["bs[0]"]}),
        ("f(bs)", ["args[0][0]"], {"bs": ["bs[0]"]}),
        ("f(bs[0], d)", ["p", "d.z"], {"bs[0]": ["bs[0]"], "d": ["d.z"]}),
        ("f(b, *[b])", ["p['x']"], {"b": ["b['x']"]}),
        ("f(b)", ["p.x", "x"], {}),
        ("f(b)", ["p['q']['x']"], {}),
        ("f(dict(b), [b])", ["p['x']"], {}),
        ("f(c)", ["p['x']"], {}),  # b is another variable
    ],
)
def test_an_array_inside_is_passed_if_a_program_takes_one_at_its_place(
    executable: Any, call: str, taken: list[str], paths: dict[str, list[str]]
) -> None:
    (node,) = (each for each in ast.walk(ast.parse(call)) if isinstance(each, ast.Call) and "f(" in ast.unparse(each))
    module = hlo.module(
        name="jit_f", inputs=tuple(Sharded(name=each, shape="f32[8,4]", pieces=None) for each in taken)
    )
    program = Program(executable=executable(), module=module, function="f")
    arrays = {each: array(each) for each in ("b['x']", "b['y']", "bs[0]", "d.z", "cc['x']")}
    arrays["b['w']"] = array("b['w']", "[4]")
    passed = list(passed_whole([node], arrays, [program]))
    assert {each.name: list(each.arrays) for each in passed} == paths
    assert all(each.path == each.name for each in passed)


LOOP = """
import jax, numpy as np

class Data:
    def refill(self):
        self.b = self.b[1:]

    def tell(self):
        return len(self.b)

for i in range(10):
    y = f(b, d.b)
    {}
"""


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("b.update(x=i)", True),
        ("b['s'].append(i)", True),
        ("augment(b)", True),
        ("augment(other=b)", True),
        ("augment(b, f(b))", True),
        ("d.b = b", True),
        ("d.refill()", True),
        ("d.unknown()", True),
        ("next(b)", True),
        ("z = b.get('y'), list(b), len(b), [*b.items()]", False),
        ("z = f(b, i)", False),
        ("d.tell()", False),
        ("d.c = i", False),
        ("z = b['s']['x'].sum() + np.sum(b['s']['x'])", False),
        ("bb.update(x=i)", False),
        ("z = jax.tree.map(len, b), np.size(b)", False),
    ],
)
def test_a_loop_may_change_what_it_passes(
    tmp_path: Path, timing: Any, executable: Any, statement: str, changes: bool
) -> None:
    file = tmp_path / "train.py"
    file.write_text(LOOP.format(statement))
    line = Frame(function="<module>", file=str(file), line=12)
    program = Program(executable=executable(), module=None, function="f")
    evidence = Evidence(code=None, first=timing(), observed=timing(), programs=(program,))
    passed = [
        Passed(name, name, {f"{name}{inner}": array(f"{name}{inner}")})
        for name, inner in (("b", "['s']['x']"), ("d.b", ""))
    ]
    assert any(may_change(each, line, evidence) for each in passed) is changes


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("x", "x = jax.device_put(x)"),
        ("batch['x']", "batch['x'] = jax.device_put(batch['x'])"),
        ("parts[0]", "parts[0] = jax.device_put(parts[0])"),
        ("state['params']['w']", "state['params']['w'] = jax.device_put(state['params']['w'])"),
        ("data.x", "data.x = jax.device_put(data.x)"),
        ("pair[0]", None),
        ("frozen.x", None),
        ("state['pair'][0]", None),
        ("data.part.x", None),
    ],
)
def test_what_cannot_be_assigned_has_no_code(timing: Any, path: str, code: str | None) -> None:
    kinds = {"batch": "dict", "parts": "list", "state": "dict", "data": "Data", "pair": "tuple", "frozen": "Frozen"}
    inputs = tuple(
        Input(path=name, kind="other", type=kind, can_change=name == "data") for name, kind in kinds.items()
    )
    evidence = Evidence(code=None, first=timing(), observed=timing(), inputs=inputs)
    anywhere = Frame(function="<module>", file="nowhere.py", line=1)
    assert put_once([path], anywhere, evidence) == code
    assert put_once(["x", path], anywhere, evidence) == (None if code is None else f"x = jax.device_put(x)\n{code}")


def test_a_variable_from_outside_of_the_function_is_put_on_the_device_there(timing: Any, tmp_path: Path) -> None:
    """A function that assigns it would have a variable of its own, without a value."""
    file = tmp_path / "program.py"
    file.write_text(
        "def train(x, state):\n    y = load()\n    for _ in range(9):\n        step(x, y, z, ts, state)\n"
    )
    line = Frame(function="train", file=str(file), line=4)
    evidence = Evidence(code=None, first=timing(), observed=timing())
    inside = ["x = jax.device_put(x)", "y = jax.device_put(y)", "state['w'] = jax.device_put(state['w'])"]
    outside = ["# outside of train:", "z = jax.device_put(z)", "ts = jax.device_put(ts)"]
    code = put_once(["z", "x", "ts", "y", "state['w']"], line, evidence)
    assert code is not None
    assert code.splitlines() == [*inside, *outside]
