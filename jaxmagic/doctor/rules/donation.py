"""Finds arguments that could be donated, and donations that no result can use."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ... import units
from ...records.names import one_or_tuple
from ...records.note import Note, note
from ...xla.hlo import HloModule
from ..analysis.donating.deleting_calls import DeletingCall, deleting_calls
from ..analysis.donating.rebinding import ReplacedArguments, replaced_arguments
from ..analysis.reused_memory import Parameter, bytes_in_results, overwritable, parameters_of
from ..analysis.written_paths import is_within, root_of
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from ..record.jitted_names import JittedName
from ..record.program import PassedArray, Program
from .copied_arguments import calls_per_run, copied_parameters, copies_spared
from .device.eager_updates import eager_updates
from .donating_callers import GivenUp, given_up_after_copy, given_up_inside
from .host.functions.functions_run import definition
from .host.host_time import best_run
from .rewriting.jit.arguments import static_option
from .rule import LEAST_SHARE, Rule

#: A copy before a loop has to replace the copies of at least so many calls in a run.
_LEAST_CALLS = 3

#: Donating has to save at least this much memory.
_LEAST_BYTES = 2**20


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find what could be donated and is not, and what is donated in vain."""
    for program in evidence.programs or ():
        if program.module is not None and program.donated:
            yield from _in_vain(program, program.module)
    found: dict[tuple[str | None, str | None], RuleFinding] = {}
    arrays = {each.path for each in evidence.inputs if each.kind == "jax array"}
    calls = list(replaced_arguments(evidence.code, {each.name for each in evidence.jitted}, arrays))
    for call in calls:
        jitted = next(each for each in evidence.jitted if each.name == call.function)
        for program in evidence.programs or ():
            key = _key(program)
            if key == (jitted.function, jitted.location) and program.module is not None and key not in found:
                others = _deleting(evidence, program, program.module, call, calls)
                finding = _not_donated(evidence, program, program.module, jitted, call, others=others)
                if finding is not None:
                    found[key] = finding
    for program, given_up in itertools.product(evidence.programs or (), (given_up_inside, given_up_after_copy)):
        key = _key(program)
        inside = None if key in found else given_up(program, evidence)
        if inside is not None and program.module is not None:
            finding = _not_donated(evidence, program, program.module, inside.jitted, inside.call, inside)
            if finding is not None:
                found[key] = finding
    yield from found.values()
    yield from eager_updates(evidence, RULE.name)


def _key(program: Program) -> tuple[str | None, str | None]:
    return program.function, program.location


def _arrays_passed(program: Program, module: HloModule) -> dict[str, list[PassedArray]]:
    """Return the arrays that were passed for each argument."""
    found: dict[str, list[PassedArray]] = {}
    names = {each.number: each.argument for each in parameters_of(module)}
    for array in () if program.caller is None else program.caller.arrays:
        found.setdefault(names.get(array.parameter, ""), []).append(array)
    return found


def _not_donated(
    evidence: Evidence,
    program: Program,
    module: HloModule,
    jitted: JittedName,
    call: ReplacedArguments,
    inside: GivenUp | None = None,
    others: Sequence[DeletingCall] = (),
) -> RuleFinding | None:
    peak_bytes = program.executable.peak_bytes
    if peak_bytes is None:
        return None
    passed = {
        name: path
        for name, path in call.passed_for(program.arguments).items()
        if all(each.can_copy(name) for each in others if name in each.passed)
    }
    if inside is not None:
        arrays = _arrays_passed(program, module)
        passed = {name: path for name, path in passed.items() if inside.is_free(path, arrays.get(name, ()))}
    taken = {*module.input_output_alias.values(), *program.donated}
    free = [each for each in parameters_of(module) if each.argument in passed and each.number not in taken]
    caller = "" if inside is None else inside.once_copied
    if caller:
        free = [*copied_parameters(module, free).values()] if calls_per_run(evidence, program) >= _LEAST_CALLS else []
    usable, copied = overwritable(module, free)
    alias_bytes = sum(each.size_bytes for each in usable) - sum(each.size_bytes for each in copied)
    shared_bytes = bytes_in_results(program.executable, module, Counter(each.shape for each in usable))
    spared_bytes = alias_bytes - shared_bytes
    if spared_bytes < max(_LEAST_BYTES, LEAST_SHARE * peak_bytes):
        return None
    arguments = list(dict.fromkeys(each.argument for each in usable))
    if inside is None and any(
        _holds_twice(evidence, passed[each], parameters_of(module), each) for each in arguments
    ):
        return None
    copied_bytes, copies_ns = copies_spared(evidence, program, module, [one for one in usable if one not in copied])
    deleted, copying = _copies(others, {each: _is_array(module, each) for each in arguments})
    facts: list[Note] = [note("doctor.donation_replaced", statement=call.text)]
    if shared_bytes:
        facts.append(note("doctor.donation_shared", alias_bytes=alias_bytes, shared_bytes=shared_bytes))
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.donation",
            function=jitted.name,
            arguments=", ".join(arguments),
            alias_bytes=alias_bytes,
            peak_bytes=peak_bytes,
            copied_bytes=copied_bytes,
            copies_ns=copies_ns,
        ),
        line=program.location,
        source=(jitted.declared.splitlines() or [""])[0].strip() or None,
        evidence=tuple(facts),
        cost_ns=copies_ns if copies_ns >= LEAST_SHARE * best_run(evidence).wall_ns and copies_ns else None,
        cost_bytes=spared_bytes,
        basis="estimated",  # XLA plans the memory anew, and may copy what it would overwrite
        remedy=note(
            "doctor.donation_remedy",
            arguments=", ".join(passed[each] for each in arguments),
            deleted=deleted,
            copying=copying,
            before="; ".join(_copied(passed[each], is_array=_is_array(module, each)) for each in arguments if caller),
            caller=caller,
        ),
        code=_code(jitted, arguments),
    )


def _deleting(
    evidence: Evidence,
    program: Program,
    module: HloModule,
    call: ReplacedArguments,
    replaced: Iterable[ReplacedArguments],
) -> list[DeletingCall]:
    """Return the calls, also in functions that the code runs, that would delete what the code may use afterwards."""
    names = {each.name for each in evidence.jitted if (each.function, each.location) == _key(program)}
    parameters = {each: _is_array(module, each) for each in program.arguments}
    known = [found[0] for each in evidence.names if each.function and (found := definition(each.function))]
    return list(deleting_calls(evidence.code, call, names, parameters, replaced, known))


def _copies(others: Iterable[DeletingCall], arguments: Mapping[str, bool]) -> tuple[str, str]:
    """Return what other calls would delete once some arguments are donated, and these calls with copies of it."""
    copying = [each for each in others if each.passed.keys() & arguments.keys()]
    deleted = [value for each in copying for name, value in each.passed.items() if name in arguments and value]
    calls = (each.with_copies(arguments) for each in copying)
    return ", ".join(dict.fromkeys(map(ast.unparse, deleted))), ", ".join(dict.fromkeys(calls))


def _copied(path: str, *, is_array: bool) -> str:
    """Write a statement that copies what a variable holds."""
    return f"{path} = {path}.copy()" if is_array else f"{path} = jax.tree.map(jnp.copy, {path})"


def _is_array(module: HloModule, argument: str) -> bool:
    """Return whether an argument is a single array: JAX's names of the parts of others have more to them."""
    return any(each.name == argument for each in module.inputs)


def _holds_twice(evidence: Evidence, path: str, parameters: list[Parameter], argument: str) -> bool:
    """Return whether the same array may be in an argument twice, or in something else that the code reads.

    Inputs list each array once, and numbers not at all. JAX rejects an array that is donated twice.
    """
    if not any(each.path == root_of(path) for each in evidence.inputs):
        return False  # the code itself makes it
    arrays = [each.path for each in evidence.inputs if each.kind in ("jax array", "numpy array")]
    listed = sum(is_within(each, path) for each in arrays)
    return listed < sum(each.argument == argument and _sizes(each.shape) != "[]" for each in parameters)


def _code(jitted: JittedName, arguments: list[str]) -> str | None:
    """Return the declaration with donation; ``None`` if other options of ``jax.jit`` could get lost."""
    donating = f"donate_argnames={one_or_tuple(arguments)}"
    lines = jitted.declared.splitlines()
    if len(lines) == 2 and lines[0].strip() in ("@jax.jit", "@jit"):
        return f"import functools\n\n@functools.partial({lines[0].strip()[1:]}, {donating})\n{lines[1].strip()}"
    if len(lines) == 2 and re.fullmatch(r"@(functools\.)?partial\((jax\.)?jit, [^()]*\)", lines[0].strip()):
        return f"{lines[0].strip()[:-1]}, {donating})\n{lines[1].strip()}"
    if len(lines) == 1 and jitted.function.isidentifier():
        return f"{jitted.name} = jax.jit({jitted.function}{static_option(jitted.static)}, {donating})"
    return None


def _in_vain(program: Program, module: HloModule) -> Iterator[RuleFinding]:
    aliased = set(module.input_output_alias.values())
    vain = [each for each in parameters_of(module) if each.number in program.donated and each.number not in aliased]
    size_bytes = sum(each.size_bytes for each in vain)
    least = max(_LEAST_BYTES, LEAST_SHARE * (program.executable.peak_bytes or 0))
    if size_bytes < least:
        return
    largest = max(vain, key=lambda each: each.size_bytes)
    name = module.inputs[largest.number].name or largest.argument
    wanted = sum((each.shape, each.pieces) == largest.type for each in module.outputs)
    same_sizes = [each.shape for each in module.outputs if _sizes(each.shape) == _sizes(largest.shape)]
    alike = any(each.shape == largest.shape for each in module.outputs)
    reason = "taken" if wanted else "sharding" if alike else "dtype" if same_sizes else "shape"
    yield RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.donation_in_vain",
            function=program.function or module.name,
            argument=name,
            arguments=len(vain),
            size_bytes=size_bytes,
        ),
        line=program.location,
        evidence=(
            note(
                "doctor.donation_no_result",
                shape=largest.shape,
                reason=reason,
                result=same_sizes[0] if reason == "dtype" else "",
            ),
        ),
        remedy=note("doctor.donation_in_vain_remedy"),
    )


def _sizes(shape: str) -> str:
    return shape[shape.find("[") :]


RULE = Rule(
    name="donation",
    looks_for="arguments whose memory the results could take, and donations that no result can use",
    decides="Reports an argument of a jitted function that the code replaces by a result of that function, if "
    "nothing in the code keeps what it held before, results have its shape and dtype, and donating it saves at least "
    f"{_LEAST_BYTES // 2**20} MiB and {units.percent(LEAST_SHARE)} of the program's peak. Temporaries that use the "
    "memory of these results until then are subtracted. That is an estimate, because XLA plans the memory anew; "
    "--verify compiles both programs, and times calls of them. The time of copies that the program makes of these "
    "arguments, to change them, is the profiler's: it is the cost if it is at least "
    f"{units.percent(LEAST_SHARE)} of the run. "
    "No other call in the code, or in a function that it runs, may pass for the argument what is used afterwards, "
    "unless that call is in fewer loops and can pass a copy. "
    "Calls inside functions count if all known calls of the jitted function replace the argument, nothing else holds "
    "its arrays at the first call, as found in the variables of all running functions, and what it got from there is "
    "gone once the code has ended. It is a variable of the function, an attribute to which the code assigns only new "
    "values and which it reads for nothing else, or a parameter, if all known calls of the function are at the top "
    "level and replace what they pass for it. "
    "If other code holds these arrays, but the function calls the program in a loop, at the only place that is "
    f"known, and the program copies the arguments in each of at least {_LEAST_CALLS} calls, the function can copy "
    "them once. "
    "Also reports donated arguments of that size whose memory no result takes, and updates outside of jit that "
    f"replace an array of at least {_LEAST_BYTES // 2**20} MiB, as x = x.at[i].set(y) does, or x = f(x) where f "
    "returns it: such an operation cannot donate, and copies the whole array. The cost is the profiler's time of "
    f"these copies, if it is at least {units.percent(LEAST_SHARE)} of the run.",
    source="https://docs.jax.dev/en/latest/faq.html#buffer-donation",
    look=look,
    needs=("programs",),
)
