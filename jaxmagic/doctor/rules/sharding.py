"""Finds arrays that move for a call, are replicated in vain or lie unevenly, and communication that nothing hides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ... import units
from ...profiling.record.profile import Profile
from ...records.note import note
from ..analysis.device_slices import sliced_parameters
from ..analysis.written_paths import root_of
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from ..record.placement import LEAST_ALONE, Placement
from ..record.program import Program
from .host.copies.put_again import assignment, exist_before, put_again
from .host.host_time import names_of_program
from .host.syntax import assigned, function_around
from .rule import LEAST_SHARE, Rule, source_at

#: Less is no finding.
_LEAST_BYTES = 2**20

#: The most names of arrays that are listed.
_MOST_NAMES = 3

#: The share of a run in which collectives run and nothing hides them, and the share of the straggler wait.
_MOST_EXPOSED = 0.2
_MOST_WAIT = 0.1


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find what costs memory or time because of how arrays are distributed."""
    programs = evidence.programs or ()
    for program in programs:
        if evidence.repeated:
            yield from _moved(program, evidence)
        yield from _replicated(program, programs)
        yield from _uneven(program)
    yield from put_again(evidence, RULE.name)
    yield from _lopsided(programs, evidence)
    if evidence.profile is not None:
        yield from _communication(evidence.profile, evidence)


def _moved(program: Program, evidence: Evidence) -> Iterator[RuleFinding]:
    inputs = {each.path for each in evidence.inputs if not each.deleted}
    arguments_bytes = (program.executable.argument_bytes or 0) * max(
        (each.devices for each in program.placements), default=1
    )
    line, count = program.called_at, _calls(program, evidence)
    scope = None if line is None else function_around(line)
    changed = set() if scope is None else assigned(scope)
    for each in program.placements:
        root = root_of(each.path)
        is_small = each.moved_bytes * max(count, 1) < _LEAST_BYTES or each.moved_bytes < LEAST_SHARE * arguments_bytes
        if is_small or each.path not in inputs or root in changed:
            continue
        yield RuleFinding(
            rule=RULE.name,
            found=note(
                "doctor.moved",
                array=each.path,
                function=program.name,
                moved_bytes=each.moved_bytes,
                count=count,
            ),
            line=program.location if line is None else line.location,
            source=source_at(line),
            evidence=(
                note(
                    "doctor.moved_from",
                    type=each.type,
                    lies_on=each.lies_on,
                    devices=each.devices,
                    spec=each.spec or "",
                    known=int(each.spec is not None),
                ),
            ),
            remedy=note("doctor.moved_remedy", array=each.path),
            code=_placed(each, evidence),
        )


def _placed(placement: Placement, evidence: Evidence) -> str | None:
    """Return the assignment that distributes an array before the code runs, as far as its names exist by then."""
    code = assignment(placement.path, placement.sharding or _named(placement, placement.spec))
    return code if code is not None and exist_before(code, placement, evidence) else None


def _calls(program: Program, evidence: Evidence) -> int:
    """Return how often a function is called per run; 0 if that is not known."""
    runs = 1 if evidence.profile is None else max(evidence.profile.runs or 1, 1)
    dispatches = () if evidence.host_use is None else evidence.host_use.dispatches
    counts = [each.count for each in dispatches if each.name in names_of_program(program)]
    return counts[0] // runs if len(counts) == 1 else 0


def _replicated(program: Program, programs: tuple[Program, ...]) -> Iterator[RuleFinding]:
    module, peak_bytes = program.module, program.executable.peak_bytes or 0
    if module is None or any(each.module is None and each.placements for each in programs):
        return
    pieces = {number: each.pieces for number, each in enumerate(module.inputs)}
    whole = [
        each
        for each in program.placements
        if each.lies_on == each.devices > 1 and not each.moved_bytes and set(pieces.get(each.parameter) or ()) == {1}
    ]
    if not whole:
        return
    sliced = sliced_parameters(module)
    for each in whole:
        part = sliced.get(each.parameter)
        others = [one for other in programs for one in other.placements if other is not program]
        if part is None or any(one.path == each.path for one in others):
            continue
        spared_bytes = each.size_bytes - each.size_bytes // part.pieces
        if spared_bytes < max(_LEAST_BYTES, LEAST_SHARE * peak_bytes):
            continue
        axes = [name for name, size in each.mesh_axes if size == part.pieces]
        spec = ", ".join(["None"] * part.axis + [repr(axes[0])]) if len(axes) == 1 else None
        line = program.called_at
        yield RuleFinding(
            rule=RULE.name,
            found=note(
                "doctor.replicated",
                array=each.path,
                function=program.name,
                devices=each.devices,
                pieces=part.pieces,
            ),
            line=program.location if line is None else line.location,
            source=source_at(line),
            evidence=(note("doctor.replicated_size", type=each.type, size_bytes=each.size_bytes, axis=part.axis),),
            cost_bytes=spared_bytes,
            basis="measured",
            remedy=note("doctor.replicated_remedy", array=each.path, axis=part.axis),
            code=assignment(each.path, _named(each, spec)),
        )


def _uneven(program: Program) -> Iterator[RuleFinding]:
    """Find axes of which devices hold padding, since their number does not divide the length."""
    for each in program.uneven:
        length = each.lengths[0]
        spared_bytes = each.largest_bytes - each.size_bytes // each.pieces
        if spared_bytes < max(_LEAST_BYTES, LEAST_SHARE * (program.executable.peak_bytes or 0)):
            continue
        yield RuleFinding(
            rule=RULE.name,
            found=note("doctor.uneven", type=each.type, axis=each.axis, size=each.size, pieces=each.pieces),
            line=program.location if each.line is None else each.line.location,
            source=source_at(each.line),
            evidence=(
                note(
                    "doctor.uneven_parts",
                    least=each.lengths[-1],
                    most=length,
                    size_bytes=each.largest_bytes,
                    even_bytes=each.size_bytes // each.pieces,
                ),
            ),
            cost_bytes=spared_bytes,
            basis="estimated",
            remedy=note("doctor.uneven_remedy", axis=each.axis, size=each.pieces * length, pieces=each.pieces),
        )


def _lopsided(programs: tuple[Program, ...], evidence: Evidence) -> Iterator[RuleFinding]:
    """Find large arrays on one of the devices on which the code runs, if it holds more than all others."""
    placements = [each for program in programs for each in program.placements]
    used = max((each.devices for each in placements), default=1)
    platforms = Counter(each.device.partition(":")[0] for each in evidence.devices)
    platform = [name for name, count in platforms.items() if count == used]
    if evidence.limit_bytes is None or used < 2 or len(platform) != 1:
        return
    devices = [each for each in evidence.devices if each.device.startswith(f"{platform[0]}:")]
    *_, second, fullest = sorted(devices, key=lambda each: each.size_bytes)
    moved = {each.path for each in placements if each.moved_bytes}  # which is another finding
    alone = [(name, size_bytes) for name, size_bytes in fullest.alone if name not in moved]
    alone_bytes = sum(size_bytes for _, size_bytes in alone)
    if min(alone_bytes, fullest.size_bytes - second.size_bytes) < LEAST_ALONE * evidence.limit_bytes:
        return
    names = ", ".join(name for name, _ in alone[:_MOST_NAMES])
    yield RuleFinding(
        rule=RULE.name,
        found=note("doctor.lopsided", device=fullest.device, arrays=names, size_bytes=alone_bytes, devices=used),
        evidence=(
            note(
                "doctor.lopsided_devices",
                device=fullest.device,
                most_bytes=fullest.size_bytes,
                others_bytes=second.size_bytes,
                limit_bytes=evidence.limit_bytes,
            ),
        ),
        cost_bytes=alone_bytes - alone_bytes // used,
        basis="estimated",
        remedy=note("doctor.lopsided_remedy", arrays=names),
    )


def _named(placement: Placement, spec: str | None) -> str | None:
    """Return an expression for a sharding over the mesh of a program."""
    if placement.mesh is None or spec is None:
        return None
    return f"jax.sharding.NamedSharding({placement.mesh}, jax.sharding.PartitionSpec({spec}))"


def _communication(profile: Profile, evidence: Evidence) -> Iterator[RuleFinding]:
    uses = profile.device_uses
    if len(uses) < 2 or evidence.first.environment.backend == "cpu":
        return  # virtual devices of a CPU share its processors
    per_run = max(profile.runs or 1, 1) * len(uses)
    most = profile.collectives[0] if profile.collectives else None
    if most is None:
        return
    exposed_ns = sum(each.exposed_collective_ns for each in uses) / per_run
    wait_ns = min(sum(each.wait_ns or 0 for each in profile.collectives) / per_run, exposed_ns)
    kept_ns = exposed_ns - wait_ns
    if wait_ns >= _MOST_WAIT * evidence.run_ns:
        first, last = min(each.compute_ns for each in uses), max(each.compute_ns for each in uses)
        yield RuleFinding(
            rule=RULE.name,
            found=note("doctor.straggler", devices=len(uses), share=wait_ns / evidence.run_ns),
            evidence=(
                note(
                    "doctor.straggler_times", least_ns=first / per_run * len(uses), most_ns=last / per_run * len(uses)
                ),
            ),
            cost_ns=wait_ns,
            basis="measured",
            remedy=note("doctor.straggler_remedy"),
        )
    if kept_ns >= _MOST_EXPOSED * evidence.run_ns:
        yield RuleFinding(
            rule=RULE.name,
            found=note("doctor.exposed", devices=len(uses), share=kept_ns / evidence.run_ns),
            evidence=(
                note(
                    "doctor.exposed_most", name=most.name, collective=most.kind, module=most.module, count=most.count
                ),
            ),
            cost_ns=kept_ns,
            basis="measured",
            remedy=note("doctor.exposed_remedy"),
        )


RULE = Rule(
    name="sharding",
    looks_for="arrays that move between devices for a call or are replicated needlessly, devices that hold more "
    "than the others, and collectives that no computation hides",
    decides="Reports an array that a program on several devices takes with another placement, if at least 1 MiB per "
    f"run and, in each call, {units.percent(LEAST_SHARE)} of the program's arguments have to move. Also reports "
    "lines with jax.device_put that copy the same array between devices to the same place several times per run, if "
    "all but the first time move at least 1 MiB. Arrays that the code places in several ways, that its loop assigns, "
    "or that have the shape of a "
    "donated argument are left alone. Also reports an array that is replicated "
    "on all devices although each reads only a slice of it, if sharding saves at least 1 MiB and "
    f"{units.percent(LEAST_SHARE)} of the program's peak on each device. Arrays that are read as a whole, such as "
    "the weights in data parallelism, are left alone. Also reports jax.lax.with_sharding_constraint along an axis "
    "that the number of devices does not divide, if each device holds at least 1 MiB and "
    f"{units.percent(LEAST_SHARE)} of the program's peak more than an even share. Also reports named arrays that lie "
    "on one device only, before and after the runs, while a program runs on all devices. They have to take at least "
    f"{units.percent(LEAST_ALONE)} of that device's memory, and it has to hold that much more than every other one. "
    "Except on CPUs, also reports collectives that no computation "
    f"hides if they take at least {units.percent(_MOST_EXPOSED)} of the run without the straggler wait, and a "
    f"straggler wait of at least {units.percent(_MOST_WAIT)}.",
    source="https://docs.jax.dev/en/latest/notebooks/Distributed_arrays_and_automatic_parallelization.html",
    look=look,
    needs=("programs",),
)
