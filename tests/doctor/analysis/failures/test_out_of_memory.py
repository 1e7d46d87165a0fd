"""Memory that ran out: what the message says, and what is said about variants of the program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jaxmagic.doctor.analysis.failures.out_of_memory import explain_memory, shortage
from jaxmagic.doctor.record.failure import Failure
from jaxmagic.doctor.record.out_of_memory import FailedProgram, HeldAtPeak, OutOfMemory, Shortage, Smaller

GIB = 2**30

PROGRAM = FailedProgram(
    function="step",
    need_bytes=20 * GIB,
    argument_bytes=4 * GIB,
    output_bytes=4 * GIB,
    temporary_bytes=12 * GIB,
    held=(HeldAtPeak(line="cell 3:5", name="f32[8,128]", size_bytes=9 * GIB),),
    others_bytes=GIB,
    limit_bytes=16 * GIB,
)
DONATED = Smaller(by=("donate",), donated=("state",), need_bytes=16 * GIB)
CHECKPOINTED = Smaller(by=("checkpoint",), checkpointed=("block",), need_bytes=15 * GIB)
IN_PARTS = Smaller(
    by=("microbatch",), batch=("x", "y"), parts=4, code="def step(params, x, y): ...", need_bytes=8 * GIB
)
SHARDED = Smaller(by=("shard",), batch=("x", "y"), parts=2, others_bytes=3 * GIB, need_bytes=11 * GIB)
NARROW = Smaller(by=("bfloat16",), need_bytes=10 * GIB)


def said(
    program: FailedProgram | None, unknown: Any = None, words: Shortage | None = None, unknown_call: str = ""
) -> str:
    memory = OutOfMemory(shortage=words or Shortage(), program=program, unknown=unknown, unknown_call=unknown_call)
    finding = explain_memory(Failure(kind="memory", error="JaxRuntimeError", memory=memory))
    notes = [finding.found, *finding.evidence, finding.remedy]
    return "\n".join(str(each) for each in notes if each is not None)


@pytest.mark.parametrize(
    ("text", "asked_bytes"),
    [
        ("RESOURCE_EXHAUSTED: Out of memory allocating 36000000000000 bytes.", 36_000_000_000_000),
        (
            "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.\nBufferAssignment OOM",
            6_291_456,
        ),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12.50GiB.", 25 * GIB // 2),
        ("Resource exhausted: Failed to allocate request for 3.39GiB (3640655872B) on device ordinal 0", 3640655872),
        ("RESOURCE_EXHAUSTED: Failed to load a program", None),
    ],
)
def test_allocation_that_failed(text: str, asked_bytes: int | None) -> None:
    assert shortage(text) == Shortage(asked_bytes=asked_bytes)


def test_text_of_the_tpu_compiler() -> None:
    text = (
        "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 21.50G of "
        "15.25G hbm. Exceeded hbm capacity by 6.25G.\n\nTotal hbm usage >= 22.02G:\n    reserved        530.00M"
    )
    words = shortage(text)
    assert words == Shortage(space="hbm", used_bytes=43 * GIB // 2, capacity_bytes=61 * GIB // 4)
    assert "The program needs 21.5 GiB of hbm, which has 15.2 GiB for it." in said(None, "compile", words)


def test_memory_of_a_kernel_is_told_apart() -> None:
    words = shortage("Ran out of memory in memory space vmem. Used 32.42M of 16.00M vmem. Exceeded vmem capacity by")
    assert "on-chip memory" in said(None, "compile", words)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ((24, 8), "Arrays that were alive when this was explained hardly matter: the largest takes 24 B."),
        ((64 * 10**6, 8), "Alive when this was explained: a0, 61.0 MiB."),
        ((), ""),
    ],
)
def test_only_arrays_that_matter_are_listed(sizes: tuple[int, ...], told: str) -> None:
    memory = OutOfMemory(shortage=Shortage(asked_bytes=16 * 2**40), unknown="call")
    names = tuple(f"a{number}" for number in range(len(sizes)))
    failure = Failure(kind="memory", error="JaxRuntimeError", memory=memory, alive=names, alive_bytes=sizes)
    alive = [str(each) for each in explain_memory(failure).evidence if "alive" in each.kind]
    assert alive == ([told] if told else [])


def test_variant_that_fits_is_recommended() -> None:
    text = said(replace(PROGRAM, variants=(DONATED, CHECKPOINTED)))
    assert "step needs 20.0 GiB: arguments 4.00 GiB, results 4.00 GiB, temporaries 12.0 GiB." in text
    assert "At its peak: 9.00 GiB at cell 3:5 (f32[8,128])." in text
    assert "hold 1.00 GiB now. The limit is 16.0 GiB." in text
    assert "Compiled with state donated: 16.0 GiB, which does not fit." in text  # other arrays are beside it
    assert "Compiled with jax.checkpoint around block: 15.0 GiB, which fits." in text
    assert "Decorate block with @jax.checkpoint" in text
    assert "This takes step from 20.0 GiB to 15.0 GiB, which fits." in text


@pytest.mark.parametrize(("others_bytes", "fits"), [(GIB, True), (GIB + 1, False)])
def test_other_arrays_count_to_the_byte(others_bytes: int, fits: bool) -> None:
    assert replace(PROGRAM, others_bytes=others_bytes).fits(CHECKPOINTED) is fits


def test_without_a_limit_no_variant_is_said_to_fit() -> None:
    text = said(replace(PROGRAM, limit_bytes=None, variants=(DONATED, CHECKPOINTED, NARROW)))
    assert "which fits" not in text
    assert "what fits is unknown" in text
    assert "from 20.0 GiB to 15.0 GiB." in text  # other results are no remedy unless nothing else fits


def test_less_exact_results_come_last() -> None:
    program = replace(PROGRAM, limit_bytes=12 * GIB, variants=(DONATED, CHECKPOINTED, NARROW))
    text = said(program)
    assert program.best is NARROW
    assert "which changes the results: 10.0 GiB, which fits" in text
    assert "if the results may be less exact" in text


@pytest.mark.parametrize(("spared", "helps"), [(0.021, True), (0.019, False), (-0.5, False)])
def test_variant_has_to_spare_something(spared: float, helps: bool) -> None:
    variant = replace(DONATED, need_bytes=round((1 - spared) * PROGRAM.need_bytes))
    assert (replace(PROGRAM, limit_bytes=None, variants=(variant,)).best is variant) is helps


def test_unknown_others_make_fitting_unknown() -> None:
    text = said(replace(PROGRAM, others_bytes=None, variants=(CHECKPOINTED,)))
    assert "which fits" not in text
    assert "What other arrays hold is unknown." in text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("budget", "--budget was used up"),
        ("interrupted", "of an interrupt"),
        ("differs", "another program"),
        ("library", "not in your code"),
    ],
)
def test_reason_to_stop_is_said(reason: Any, words: str) -> None:
    assert words in said(replace(PROGRAM, incomplete=reason))


def test_remedies_without_numbers_are_named_otherwise() -> None:
    assert "split the batch" in said(PROGRAM)
    assert "calls no jitted function" in said(None, "call")


@pytest.mark.parametrize(("reason", "waits"), [("unexamined", True), ("call", False)])
def test_argument_that_would_be_computed_again_is_named(reason: str, waits: bool) -> None:
    text = said(None, reason, unknown_call="step, state, jnp.ones(3), scale=2.0")
    assert "What step(state, jnp.ones(3), scale=2.0) needs is unknown." in text
    assert "but jnp.ones(3) in it would have to be computed once more. Assign it to a variable" in text
    assert ("The line waits for a result" in text) is waits


@pytest.mark.parametrize("call", ["step, state", "f, *args", f"step, {'x + ' * 20}y", ""])
def test_without_such_an_argument_the_reason_is_said(call: str) -> None:
    text = said(None, "unexamined", unknown_call=call)
    assert "the arguments of a call that may compute it are not known without running code." in text


REMEDIES = {
    "delete": "elete what is not needed",
    "donate": "onate inputs",
    "checkpoint": "recompute intermediate values",
    "microbatch": "plit the batch",
    "bfloat16": "ompute in bfloat16",
    "shard": "shard arrays",
}
SMALL = replace(PROGRAM, limit_bytes=2 * GIB)


@pytest.mark.parametrize(
    ("program", "missing"),
    [
        (SMALL, set()),
        (replace(SMALL, variants=(NARROW,)), {"bfloat16"}),
        (replace(SMALL, variants=(replace(NARROW, need_bytes=20 * GIB),), limit_bytes=None), {"bfloat16"}),
        (replace(SMALL, variants=(NARROW,), limit_bytes=None), set()),  # it is smaller, and may fit
        (replace(SMALL, variants=(replace(CHECKPOINTED, need_bytes=20 * GIB),)), {"checkpoint"}),
        (replace(SMALL, variants=(replace(DONATED, need_bytes=20 * GIB),)), {"donate"}),
        (replace(SMALL, variants=(replace(IN_PARTS, mean="loss"),)), {"microbatch"}),
        (replace(SMALL, uncheckpointed="no gradient"), {"checkpoint"}),
        (replace(SMALL, uncheckpointed="inside"), set()),
        (replace(SMALL, others_bytes=0), {"delete"}),
        (replace(SMALL, output_bytes=0), {"donate"}),
        (replace(SMALL, argument_bytes=0), {"donate"}),
    ],
)
def test_what_does_not_help_is_not_advised(program: FailedProgram, missing: set[str]) -> None:
    assert program.best is None
    remedy = said(replace(program, held=())).splitlines()[-1]
    assert {each for each, words in REMEDIES.items() if words not in remedy} == missing
    assert remedy[0].isupper()


def test_why_no_function_was_recomputed_is_said() -> None:
    text = said(replace(SMALL, uncheckpointed="inside"))
    assert "jax.checkpoint was not tried: it is tried around functions of yours that step reads from outside" in text
    assert "was not tried" not in said(replace(SMALL, uncheckpointed="no gradient"))


@pytest.mark.parametrize(("size_gib", "large"), [(10, True), (9, False)])
def test_an_array_that_takes_half_of_the_memory_is_computed_in_blocks(size_gib: int, large: bool) -> None:
    held = HeldAtPeak(line="cell 3:5", name="f32[8,128]", size_bytes=size_gib * GIB)
    remedy = said(replace(SMALL, held=(held,))).splitlines()[-1]
    assert remedy.startswith("Compute f32[8,128] (cell 3:5) in blocks") is large
    assert "map jax.checkpoint(f). Otherwise delete" in remedy or not large
    of_result = replace(SMALL, output_bytes=12 * GIB, temporary_bytes=4 * GIB, held=(held,))
    assert "in blocks" not in said(of_result)
    assert "The results alone take 12.0 GiB: return only what is needed" in said(of_result)
    assert "The results alone" not in remedy
    of_argument = replace(held, line=None, name="x")
    assert "in blocks" not in said(replace(SMALL, held=(of_argument,)))


def test_batch_in_parts_is_offered_with_its_code() -> None:
    program = replace(PROGRAM, variants=(DONATED, IN_PARTS))
    text = said(program)
    assert "Compiled with x, y in 4 parts, one after the other: 8.00 GiB, which fits." in text
    assert "The result is the same up to rounding, as long as no example depends on others" in text
    assert "This takes step from 20.0 GiB to 8.00 GiB, which fits." in text
    memory = OutOfMemory(shortage=Shortage(), program=program)
    assert explain_memory(Failure(kind="memory", error="JaxRuntimeError", memory=memory)).code == IN_PARTS.code
    unlike = replace(IN_PARTS, mean="loss", code=None)
    assert "If loss returns a mean over the batch" in said(replace(PROGRAM, variants=(unlike,)))
    assert replace(PROGRAM, limit_bytes=GIB, variants=(unlike,)).best is None


@pytest.mark.parametrize(("others_bytes", "fits"), [(5 * GIB, True), (5 * GIB + 1, False), (None, True)])
def test_batch_over_devices_has_to_fit_on_each(others_bytes: int | None, fits: bool) -> None:
    variant = replace(SHARDED, others_bytes=others_bytes)
    program = replace(PROGRAM, variants=(variant,))
    assert program.fits(variant) is fits
    text = said(program)
    assert f"x, y sharded over 2 devices: 11.0 GiB on each, which {'fits' if fits else 'does not fit'}." in text
    assert "Pass x, y with jax.device_put, sharded along axis 0 over a mesh of 2 devices" in text
    assert "from 20.0 GiB to 11.0 GiB on each device" in text


def test_reason_not_to_split_is_said() -> None:
    assert "Sharding the batch needs a second device." in said(replace(PROGRAM, unsplit="one device"))
    assert "which arguments are a batch is evident only" in said(replace(PROGRAM, unsplit="unknown"))
