"""Finds loops and layers that keep more for their backward pass than fits well, and batches that are too large."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ... import units
from ...records.cell_names import text_of
from ...records.note import note
from ...xla.hlo import HloModule
from ..analysis.batch_temporaries import batch_of, in_parts
from ..analysis.layer_residuals import LayerResiduals, layer_residuals
from ..analysis.scan_residuals import BACKWARD, ScanResiduals, scan_residuals
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from ..record.program import Program
from .rewriting.microbatches import gradient_call, in_microbatches, returns_mean
from .rewriting.syntax import loops_around, tree_of
from .rule import Rule, source_at

#: Temporaries of less are no problem on any device.
_LEAST_BYTES = 64 * 2**20

#: The same where the memory of the device is unknown, and how many times the arguments and results they are then.
_LEAST_UNLIMITED_BYTES = 256 * 2**20
_TIMES_UNLIMITED = 2

#: The smallest share of the memory of the device that counts.
_LEAST_OF_LIMIT = 0.1

#: The remedy spares at least this share of the program's peak.
_LEAST_SPARED = 0.1

#: Taking a batch in parts takes time, so it is worth it only where a program needs this share of the memory.
_TOO_LARGE = 0.9

#: A call and its first argument are within this many lines.
_CALL_LINES = 3


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the programs with large temporaries, and the loops that keep most of them."""
    for program in evidence.programs or ():
        if program.module is not None and _is_large(program, evidence.limit_bytes):
            yield from list(_findings(program)) or list(_layers(program, program.module))
        if program.module is not None and evidence.limit_bytes is not None:
            yield from _batch(evidence, program, program.module, _TOO_LARGE * evidence.limit_bytes)


def _is_large(program: Program, limit_bytes: int | None) -> bool:
    executable = program.executable
    temporary, peak = executable.temporary_bytes, executable.peak_bytes
    if temporary is None or peak is None:
        return False
    others = peak - temporary
    if limit_bytes is None:
        return temporary >= _LEAST_UNLIMITED_BYTES and temporary > _TIMES_UNLIMITED * others
    return temporary >= max(_LEAST_BYTES, _LEAST_OF_LIMIT * limit_bytes) and temporary > others


def _findings(program: Program) -> Iterator[RuleFinding]:
    assert program.module is not None
    peak_bytes = program.executable.peak_bytes or 0
    for kept in scan_residuals(program.module):
        if kept.spared_bytes < _LEAST_SPARED * peak_bytes:
            continue
        body = _body(kept)
        yield RuleFinding(
            rule=RULE.name,
            found=note(
                "doctor.rematerialise",
                function=program.name,
                length=kept.length,
                kept_bytes=kept.kept_bytes,
                peak_bytes=peak_bytes,
            ),
            line=None if kept.line is None else kept.line.location,
            source=source_at(kept.line),
            evidence=(
                note(
                    "doctor.rematerialise_kept",
                    arrays=kept.arrays,
                    kept_bytes=kept.kept_bytes // kept.length,
                    carry_bytes=kept.carry_bytes,
                ),
            ),
            cost_bytes=kept.spared_bytes,
            basis="estimated",
            remedy=note("doctor.rematerialise_remedy", body=body),
            code=f"{body} = jax.checkpoint({body})" if body else None,
        )


def _layers(program: Program, module: HloModule) -> Iterator[RuleFinding]:
    """Find the function that a loop of Python calls and that keeps most."""
    peak_bytes = program.executable.peak_bytes or 0
    for kept in layer_residuals(program.executable, module, program.function or ""):
        if kept.kept_bytes < _LEAST_SPARED * peak_bytes or kept.calls < 2 or not _is_called_in_a_loop(kept):
            continue
        yield RuleFinding(
            rule=RULE.name,
            found=note(
                "doctor.rematerialise_layers",
                layer=kept.function,
                function=program.name,
                kept_bytes=kept.kept_bytes,
                peak_bytes=peak_bytes,
            ),
            line=kept.line.location,
            source=source_at(kept.line),
            evidence=(note("doctor.rematerialise_layers_kept", arrays=kept.arrays, calls=kept.calls),),
            remedy=note("doctor.rematerialise_layers_remedy", layer=kept.function),
            code=f"{kept.function} = jax.checkpoint({kept.function})",
        )
        return


def _is_called_in_a_loop(kept: LayerResiduals) -> bool:
    """Return whether a line calls a function by its name, in a loop of Python."""
    tree = tree_of(kept.line.file)
    by_name = re.search(rf"(?<![.\w]){kept.function}\(", source_at(kept.line) or "")
    return tree is not None and by_name is not None and bool(loops_around(tree, kept.line.line))


def _batch(evidence: Evidence, program: Program, module: HloModule, most_bytes: float) -> Iterator[RuleFinding]:
    """Find the batch whose temporaries a device can hardly take at once."""
    peak_bytes = program.executable.peak_bytes
    if peak_bytes is None or peak_bytes < most_bytes:
        return
    if not any(BACKWARD in each.op_name for each in module.instructions.values()):
        return
    call = gradient_call(program, evidence)
    batch = None if call is None else batch_of(module, call.differentiated, call.batch)
    parts = None if batch is None else in_parts(program.executable, batch, most_bytes)
    if call is None or batch is None or parts is None:
        return
    mean = returns_mean(call)
    yield RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.large_batch",
            function=program.name,
            batch=", ".join(call.batch),
            examples=batch.examples,
            peak_bytes=peak_bytes,
            limit_bytes=evidence.limit_bytes or 0,
        ),
        line=f"{(program.location or '').rpartition(':')[0]}:{call.statement.lineno}",
        source=text_of(call.file)[call.statement.lineno - 1].strip(),
        evidence=(
            note(
                "doctor.large_batch_temporaries",
                scaled_bytes=parts.scaled_bytes,
                parts=parts.parts,
                after_bytes=peak_bytes - parts.spared_bytes,
                summed_bytes=batch.summed_bytes,
            ),
        ),
        cost_bytes=parts.spared_bytes,
        basis="estimated",
        remedy=(
            note("doctor.large_batch_of_mean", loss=call.loss, parts=parts.parts)
            if mean
            else note("doctor.large_batch_remedy", loss=call.loss, parts=parts.parts)
        ),
        code=in_microbatches(call, parts.parts) if mean else None,
    )


def _body(kept: ScanResiduals) -> str:
    """Return the name by which the user's call of ``scan`` passes its function; empty if it has no name there."""
    if kept.line is None:
        return ""
    text = " ".join(text_of(kept.line.file)[kept.line.line - 1 : kept.line.line - 1 + _CALL_LINES])
    found = re.search(r"\bscan\(\s*(?:f=)?(\w+)\s*,", text)
    return found.group(1) if found and found.group(1) in kept.called else ""


RULE = Rule(
    name="rematerialise",
    looks_for="loops and layers that keep values of all iterations for their backward pass, and batches whose "
    "gradient hardly fits at once",
    decides="Reports a differentiated jax.lax.scan that keeps more than its carry for the backward pass, if "
    f"jax.checkpoint would save at least {units.percent(_LEAST_SPARED)} of the program's peak. The temporaries of "
    f"the program have to be larger than its arguments and results, and take at least {_LEAST_BYTES // 2**20} MiB "
    f"and {units.percent(_LEAST_OF_LIMIT)} of the device's memory; where that is unknown, they have to be "
    f"over {_TIMES_UNLIMITED} times as large and take at least {_LEAST_UNLIMITED_BYTES // 2**20} MiB. Where no "
    "such loop is found, reports a function of yours that a Python loop calls by its name, if values that its calls "
    f"compute in the forward pass take at least {units.percent(_LEAST_SPARED)} of the program's peak, at that peak. "
    "How much jax.checkpoint saves there depends on XLA's scheduler, so this has no cost; --verify compiles it. Also "
    "reports a "
    "function that computes jax.grad or jax.value_and_grad of its own arguments in one statement and needs at least "
    f"{units.percent(_TOO_LARGE)} of the device's memory, if it would need less with temporaries for only a part of "
    "the batch. Temporaries that grow with the batch are recognized by an axis of its length, which no other "
    "argument may have.",
    source="https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    look=look,
    needs=("programs",),
)
