"""Finds sorts of which few elements are used, those of one array in every call of a loop, long ones, and shuffles."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...profiling.record.profile import OperationTime
from ...records.note import Note, note
from ...xla.hlo import HloModule
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from ..record.partial_sort import PartialSort
from ..record.program import Program
from .device.dominant import CERTAIN, DominantLine, dominant
from .host.repeated_sort import repeated_sorts
from .rewriting.top_k import top_k_of, with_top_k
from .rule import LEAST_SHARE, Rule, device_time, is_worth_it, source_at

#: ``top_k`` is much faster than a sort if it takes at most one of this many elements.
_LEAST_RATIO = 16

#: The share of the time of a sort that ``top_k`` spares then: on CPUs, it took 4 to 17 % of it.
_SPARED = 0.8

#: The sorts of one line are a finding from this share of the run on.
_LEAST_DOMINANT = 0.3

#: The functions of JAX that only sort. Others, such as `jnp.median`, do so for another purpose.
_SORTING = frozenset({"argsort", "sort"})

#: The function of JAX that sorts random numbers, for `jax.random.permutation` and for draws without replacement.
_SHUFFLING = "_shuffle"

#: The only element type for which XLA has a faster algorithm on CPUs; others are sorted for ``top_k``, too.
_TYPE = "f32["


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the sorts that could be cheaper."""
    programs = evidence.programs or ()
    told = set[str]()
    for program in programs:
        named_alike = sum(each.executable.name == program.executable.name for each in programs)
        if program.module is None or program.eager or named_alike > 1:
            continue
        partial = list(_partial(program, program.module, evidence))
        found = partial or list(repeated_sorts(program, program.module, evidence, RULE.name))
        told |= {program.executable.name} if found else set()
        yield from found
    for each in dominant(evidence, _LEAST_DOMINANT, _is_sort):
        if each.program.executable.name not in told:
            found_sort = note("doctor.sort", function=each.function, share=each.time_ns / evidence.run_ns)
            yield _dominant(each, found_sort, note("doctor.sort_remedy"))
    for each in dominant(evidence, _LEAST_DOMINANT, _is_shuffle):
        found_shuffle = note("doctor.shuffle", function=each.function, share=each.time_ns / evidence.run_ns)
        yield _dominant(each, found_shuffle, note("doctor.shuffle_remedy"))


def _dominant(line: DominantLine, found: Note, remedy: Note) -> RuleFinding:
    return RuleFinding(
        rule=RULE.name, found=found, line=line.line, source=line.source, evidence=line.evidence, remedy=remedy
    )


def _is_sort(operation: OperationTime, module: HloModule | None) -> bool:
    """Return whether an operation is a sort that the user's code asks for."""
    return _sorts(operation) and set(_called(operation)) <= _SORTING


def _is_shuffle(operation: OperationTime, module: HloModule | None) -> bool:
    """Return whether an operation is a sort of random numbers, for a random order."""
    return _sorts(operation) and _called(operation)[-1:] == [_SHUFFLING]


def _sorts(operation: OperationTime) -> bool:
    return operation.category == "sort" and operation.scope.rpartition("/")[2] == "sort"


def _called(operation: OperationTime) -> list[str]:
    """Return the jitted functions that a program calls for an operation, the outermost first."""
    around = operation.scope.split("/")[1:-1]
    return [each.removeprefix("jit(").removesuffix(")") for each in around if each.startswith("jit(")]


def _partial(program: Program, module: HloModule, evidence: Evidence) -> Iterator[RuleFinding]:
    if evidence.first.environment.backend != "cpu":
        return
    few: dict[str, list[PartialSort]] = {}
    for each in program.partial_sorts:
        few.setdefault(each.shape, []).append(each)
    for shape, sorts in few.items():
        most = max(sorts, key=lambda each: each.used)
        if not shape.startswith(_TYPE) or most.used * _LEAST_RATIO > most.length:
            continue
        sort_ns, ran = _sorting(evidence, program.executable.name, module, shape)
        if not sort_ns or not is_worth_it(_SPARED * sort_ns, evidence):
            continue
        first, rank = sorts[0], shape.count(",") + 1
        source = source_at(first.line)
        found = note("doctor.partial_sort", length=first.length, used=first.used, end=first.end)
        remedy = note(
            "doctor.partial_sort_remedy",
            used=first.used,
            end=first.end,
            indices=first.indices,
            written=top_k_of(source or "", first.end, first.used, indices=first.indices, rank=rank),
        )
        if len({(each.used, each.end) for each in sorts}) > 1:
            largest, smallest = (
                max([0, *(each.used for each in sorts if each.end == end)]) for end in ("largest", "smallest")
            )
            found = note("doctor.partial_sorts", length=first.length, largest=largest, smallest=smallest)
            remedy = note("doctor.partial_sorts_remedy", sorts=len(sorts), largest=largest, smallest=smallest)
        yield RuleFinding(
            rule=RULE.name,
            found=found,
            line=program.location if first.line is None else first.line.location,
            source=source,
            evidence=(note("doctor.sort_time", shape=shape, sorts=ran, sort_ns=sort_ns),),
            cost_ns=_SPARED * sort_ns,
            basis="estimated",
            remedy=remedy,
            code=None if source is None or len(sorts) > 1 else with_top_k(source, first.end, rank),
        )


def _sorting(evidence: Evidence, name: str, module: HloModule, shape: str) -> tuple[float, int]:
    """Return the device time per run of the sorts of a program that have keys of a shape, and how many run."""
    profile = evidence.profile
    assert profile is not None
    sorting = []
    for each in profile.operation_times:
        number = module.instruction_ids.get(each.name) if each.module == name else None
        instruction = None if number is None else module.instructions[number]
        if instruction is not None and instruction.opcode == "sort":
            keys = module.instructions[instruction.operand_ids[0]]
            sorting += [each] if keys.shape == shape else []
    ran = sum(each.count for each in sorting) / max(profile.runs or 1, 1)
    return min(device_time(sorting, evidence), evidence.run_ns), max(round(ran), 1)


RULE = Rule(
    name="sort",
    looks_for="sorts of which few elements are used, of the same array in every call of a loop, or that dominate",
    decides="On a CPU, reports a sort of float32 of which only the smallest or largest elements are used, at most "
    f"one in {_LEAST_RATIO}. The cost is {units.percent(_SPARED)} of the device time of the sort, about what "
    f"jax.lax.top_k saves, and has to be at least {units.percent(LEAST_SHARE)} of the run. For other types, XLA "
    "sorts for top_k as well; on other devices, the gain depends on sizes. Also reports a jitted function that a "
    "Python loop calls and that sorts an argument that the loop does not change, if all sorts but the first take at "
    f"least {units.percent(LEAST_SHARE)} of the run. JAX loops are not examined: XLA moves such sorts out of "
    f"them. Other sorts are reported if they take at least {units.percent(_LEAST_DOMINANT)} of the run for one line, "
    f"those of jax.random.permutation and of draws without replacement as well. {CERTAIN} What another way would "
    "save is unknown.",
    source="https://docs.jax.dev/en/latest/_autosummary/jax.lax.top_k.html",
    look=look,
    needs=("programs", "profile"),
)
