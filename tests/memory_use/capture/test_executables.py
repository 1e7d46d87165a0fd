"""The memory that programs need, read from real programs."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from programs import PROGRAMS, deep
from recordings import serialized

import jaxmagic
from jaxmagic.memory_use.analysis.buffer_map import live_bytes, planned
from jaxmagic.memory_use.capture.executables import describe, requirement, watch
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.runtime import executed_programs
from jaxmagic.xla.read_hlo import read_module


@cache
def compiled(name: str) -> tuple[Any, Any]:
    function, arguments = PROGRAMS[name]()
    made = function.lower(*arguments).compile()
    return made, made.runtime_executable()


def total(executable: Executable, kind: str) -> int:
    assert executable.allocations is not None
    return sum(each.size_bytes for each in executable.allocations if each.kind == kind)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_allocations_add_up_to_what_the_compiler_says(name: str) -> None:
    made, program = compiled(name)
    found, said = requirement(program), made.memory_analysis()
    assert {each.kind for each in found.notes} <= {"memory_use.uncounted"}  # in calls of a library
    assert found.allocations is not None
    assert not found.estimated
    alias = sum(each.size_bytes for each in found.allocations if each.aliased)
    assert total(found, "argument") == found.argument_bytes == said.argument_size_in_bytes
    assert alias == found.alias_bytes == said.alias_size_in_bytes
    assert total(found, "output") + alias == found.output_bytes == said.output_size_in_bytes
    assert total(found, "temporary") == found.temporary_bytes == said.temp_size_in_bytes
    assert sum(each.size_bytes for each in planned(found.allocations)) == found.peak_bytes


@pytest.mark.parametrize("name", PROGRAMS)
def test_buffers_lie_inside_their_allocation_and_the_schedule(name: str) -> None:
    found = requirement(compiled(name)[1])
    assert found.allocations is not None
    assert found.steps is not None
    for allocation in found.allocations:
        for buffer in allocation.buffers:
            assert buffer.offset_bytes >= 0
            assert buffer.offset_bytes + buffer.size_bytes <= allocation.size_bytes
            assert 0 <= buffer.first <= buffer.last < found.steps


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_peak_lies_between_what_one_instruction_takes_and_all_that_is_allocated(name: str) -> None:
    made, program = compiled(name)
    found = requirement(program)
    assert found.allocations is not None
    assert found.steps is not None
    assert found.peak_bytes is not None
    peak = max(live_bytes(found.allocations, found.steps))
    assert largest_operands(made) <= peak <= found.peak_bytes


def largest_operands(made: Any) -> int:
    """Bytes of the operands of the instruction that reads most in the entry computation."""
    module = read_module(serialized(made))
    sizes = []
    for number in module.computations[module.entry_computation_id]:
        instruction = module.instructions[number]
        if instruction.opcode in ("fusion", "dot", "convolution", "sort", "fft", "custom-call", "copy"):
            taken = {operand: module.instructions[operand] for operand in instruction.operand_ids}
            sizes.append(sum(each.subshapes[0].size_bytes for each in taken.values() if each.opcode != "constant"))
    return max(sizes)


def test_remat_needs_less_and_the_map_says_so_too() -> None:
    plain, remat = (requirement(make_deep(remat)) for remat in (False, True))
    assert plain.peak_bytes is not None
    assert remat.peak_bytes is not None
    assert remat.peak_bytes < plain.peak_bytes / 2
    assert total(plain, "temporary") - total(remat, "temporary") == plain.peak_bytes - remat.peak_bytes


def make_deep(remat: bool) -> Any:
    function, arguments = deep(remat=remat)
    return function.lower(*arguments).compile().runtime_executable()


def test_a_donated_argument_is_memory_of_the_output() -> None:
    found = requirement(compiled("donation")[1])
    assert found.allocations is not None
    aliased = [each for each in found.allocations if each.aliased]
    assert len(aliased) == 6
    for allocation in aliased:
        first, *others = allocation.buffers
        assert (first.instruction.startswith("weights"), first.first) == (True, 0)
        assert others


def test_buffers_name_their_operation_and_their_line() -> None:
    def f(x: Any) -> Any:
        return jax.lax.sort(x) @ x  # the line to find

    here = Path(__file__)
    line = next(
        number for number, text in enumerate(here.read_text().splitlines(), 1) if text.endswith("# the line to find")
    )
    found = requirement(jax.jit(f).lower(jnp.ones(300)).compile().runtime_executable())
    assert found.allocations is not None
    sorted_ = [
        buffer
        for allocation in found.allocations
        for buffer in allocation.buffers
        if "sort" in buffer.op_name and buffer.shape == "f32[300]"
    ]
    assert sorted_
    assert {each.source for each in sorted_} == {f"{here}:{line}"}
    arguments = [each.buffers[0].op_name for each in found.allocations if each.kind == "argument"]
    assert arguments == ["x"]


def sources(executable: Executable) -> set[str | None]:
    """Return the lines of the results of a program."""
    outputs = (each for each in executable.allocations or () if each.kind == "output")
    return {buffer.source for allocation in outputs for buffer in allocation.buffers}


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="this JAX records lines without their functions")
def test_a_program_that_an_earlier_call_compiled_has_no_line_of_that_call() -> None:
    def earlier(x: Any) -> Any:
        return x @ x

    jitted = jax.jit(lambda x: jnp.sin(x) @ x)
    x = jnp.ones((211, 211))
    for compiles in (True, False):
        with watch() as watched:
            jax.block_until_ready((earlier(x), jitted(x)))
        found = {each.name: each for each in describe(watched)}
        assert found["jit_matmul"].compiled is compiles
        lines = sources(found["jit_matmul"])
        assert lines == {f"{__file__}:{earlier.__code__.co_firstlineno + 1}"} if compiles else lines <= {None}
        (own,) = (executable for name, executable in found.items() if "lambda" in name)
        assert sources(own) == {f"{__file__}:{earlier.__code__.co_firstlineno + 3}"}


def test_what_is_built_in_has_the_line_that_uses_it() -> None:
    table = jnp.arange(40_000.0).reshape(200, 200)
    found = requirement(jax.jit(lambda x: x @ table).lower(jnp.ones((200, 200))).compile().runtime_executable())
    assert found.allocations is not None
    (constant,) = (each for each in found.allocations if each.kind == "constant" and each.size_bytes == 160_000)
    assert constant.buffers[0].source is not None
    assert constant.buffers[0].source.startswith(__file__)
    assert found.constant_bytes is not None
    assert found.constant_bytes >= 160_000
    assert found.peak_bytes == 320_000  # the formula has no constants in it


def test_every_program_that_runs_is_noticed_though_it_ran_before() -> None:
    x = jnp.ones(10)
    f, g = jax.jit(lambda x: x * 3), jax.jit(lambda x: x * 5)
    ahead = jax.jit(lambda x: x * 7).lower(x).compile()
    jax.block_until_ready([f(x), g(x), ahead(x), x + 1])
    with watch() as watched:
        f(x)
        f(x)
        ahead(x)
        x + 1
    assert sorted((each.name, each.ran, each.compiled) for each in describe(watched)) == [
        ("jit__lambda", True, False),
        ("jit__lambda", True, False),
        ("jit_add", True, False),
    ]


def test_to_be_noticed_costs_no_compilation_and_leaves_nothing_behind() -> None:
    traced = []

    @jax.jit
    def f(x: Any) -> Any:
        traced.append(1)
        return x + 2

    x = jnp.ones(10)
    f(x)
    from jax._src.interpreters import pxla

    before = pxla.ExecuteReplicated.__call__
    with pytest.raises(ZeroDivisionError), watch() as watched:
        f(x)
        1 / 0  # noqa: B018
    assert len(traced) == 1
    assert pxla.ExecuteReplicated.__call__ is before
    assert [each.name for each in describe(watched)] == ["jit_f"]


def test_what_compiles_without_running_is_listed() -> None:
    x = jnp.ones(11)
    with watch() as watched:
        made = jax.jit(lambda x: jnp.cos(x) * 2).lower(x).compile()
    (found,) = describe(watched)
    assert (found.ran, found.compiled) == (False, True)
    del made


def test_where_jax_cannot_be_watched_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executed_programs, "observe_executions", lambda _: None)
    with watch() as watched:
        made = jax.jit(lambda x: jnp.sin(x) * 2).lower(jnp.ones(12)).compile()
    assert watched.ran is None
    assert [each.ran for each in describe(watched)][:1] == [None]
    del made


def test_a_jax_without_these_insides_cannot_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src.interpreters import pxla

    monkeypatch.delattr(pxla, "ExecuteReplicated")
    assert executed_programs.observe_executions(print) is None


def test_no_program_and_no_array_is_kept_alive() -> None:
    x = jnp.ones(13)

    def unique_name(x: Any) -> Any:
        return x * 11

    f = jax.jit(unique_name)
    with watch() as watched:
        y = f(x)
    found = describe(watched)
    there = weakref.ref(y)
    assert loaded("jit_unique_name") == 1
    del watched, y, f
    jax.clear_caches()
    gc.collect()
    assert there() is None
    assert loaded("jit_unique_name") == 0
    assert found


def loaded(name: str) -> int:
    return sum(each.hlo_modules()[0].name == name for each in executed_programs.executables())


class Fake:
    """A backend that reports only a part."""

    def __init__(self, real: Any, **instead: Any) -> None:
        self._real, self._instead = real, instead

    def __getattr__(self, name: str) -> Any:
        found = self._instead.get(name, None)
        if isinstance(found, Exception):

            def fail() -> None:
                raise found

            return fail
        return found if found is not None else getattr(self._real, name)


def test_where_the_buffers_are_not_written_down_the_map_is_an_estimate() -> None:
    program = compiled("mlp")[1]
    real = program.get_compiled_memory_stats()
    fake = Fake(program, get_compiled_memory_stats=lambda: Fake(real, serialized_buffer_assignment_proto=b""))
    found, exact = requirement(fake), requirement(program)
    assert found.estimated
    assert found.allocations is not None
    assert exact.temporary_bytes is not None
    assert total(found, "argument") == exact.argument_bytes
    assert 0.8 * exact.temporary_bytes <= total(found, "temporary") <= 1.5 * exact.temporary_bytes


def test_a_damaged_assignment_becomes_a_note_and_an_estimate() -> None:
    program = compiled("sort")[1]
    real = program.get_compiled_memory_stats()
    fake = Fake(program, get_compiled_memory_stats=lambda: Fake(real, serialized_buffer_assignment_proto=b"\xff\xff"))
    found = requirement(fake)
    assert found.estimated
    assert str(found.notes[0]).startswith("Could not read the buffer assignment (DecodeError: ")
    assert found.peak_bytes == requirement(program).peak_bytes


def test_a_backend_that_says_nothing_has_notes_and_no_numbers() -> None:
    found = requirement(
        Fake(
            compiled("sort")[1],
            get_compiled_memory_stats=RuntimeError("UNIMPLEMENTED: not here"),
            hlo_modules=RuntimeError(""),
        )
    )
    assert (found.peak_bytes, found.allocations, found.fits) == (None, None, None)
    assert list(map(str, found.notes)) == [
        "Could not read the compiler's memory statistics (RuntimeError: UNIMPLEMENTED: not here).",
        "Could not read the HLO module (RuntimeError: no reason given).",
    ]


@pytest.mark.parametrize(("limit_bytes", "fits"), [(10**9, True), (1000, False)])
def test_whether_it_fits_is_said_where_the_device_has_a_limit(limit_bytes: int, fits: bool) -> None:
    program = compiled("sort")[1]
    device = Fake(jax.devices()[0], memory_stats=lambda: {"bytes_limit": limit_bytes})
    found = requirement(Fake(program, local_devices=lambda: [device]))
    assert (found.limit_bytes, found.fits) == (limit_bytes, fits)
    assert requirement(program).limit_bytes is None  # the CPU reports no limit


def test_no_backend_is_started_to_watch() -> None:
    code = (
        "from jaxmagic.memory_use.capture.executables import describe, watch\n"
        "import jax\n"
        "with watch() as watched: pass\n"
        "from jaxmagic.runtime.private_api import backends_started\n"
        "print(describe(watched), backends_started())"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "() False"


def test_what_lies_on_the_host_is_told_apart() -> None:
    class Offloaded:
        """A program of a backend with two memories."""

        def get_compiled_memory_stats(self) -> Any:
            host = {
                f"host_{name}_size_in_bytes": size
                for size, name in enumerate(("argument", "output", "alias", "temp"))
            }
            own = {f"{name}_size_in_bytes": 8 for name in ("argument", "output", "alias", "temp", "generated_code")}
            return SimpleNamespace(**host, **own, serialized_buffer_assignment_proto=b"")

        def hlo_modules(self) -> Any:
            raise RuntimeError("none")

    found = requirement(Offloaded())
    told = found.host_argument_bytes, found.host_output_bytes, found.host_alias_bytes, found.host_temporary_bytes
    assert told == (0, 1, 2, 3)
    assert found.host_bytes == 2
    assert found.peak_bytes == 16


@pytest.mark.parametrize(
    "transformed",
    [
        lambda: jax.vmap(lambda r: jnp.sinh(r) * 2),
        lambda: jax.grad(lambda r: (jnp.cosh(r) * 2).sum()),
        lambda: jax.vmap(jax.grad(lambda r: (jnp.tanh(r) * 3).sum())),
    ],
    ids=["vmap", "grad", "vmap of grad"],
)
def test_eager_programs_that_have_run_before_are_noticed_and_compile_nothing(transformed: Any) -> None:
    fn, x = transformed(), jnp.ones((7, 5))
    first = jaxmagic.memory(fn, x)
    fn(x)
    again = jaxmagic.memory(fn, x)
    assert len(first.executables) >= 2
    assert {each.name for each in again.executables} == {each.name for each in first.executables if each.ran}
    assert not any(each.compiled for each in again.timing.compilations)


def test_a_candidate_of_several_eager_programs_has_no_memory_of_one() -> None:
    x = jnp.ones((7, 5))
    w = jax.vmap(lambda r: jnp.sinh(r) * 2 + jnp.cosh(r))
    w(x)
    comparison = jaxmagic.compare({"eager": w, "jit": jax.jit(w)}, x, budget_s=0.1)
    assert comparison.candidate("eager").memory is None
    assert comparison.candidate("jit").memory_bytes
