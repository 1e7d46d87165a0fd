"""Finds long compilations, the lines behind them, and whether JAX's persistent cache would spare the next session."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from .... import units
from ....compilation.record.compilation import STAGES, Compilation
from ....records.call_stack import Frame, is_users
from ....records.note import Note, note
from ...analysis.program_names import name_in_xla
from ...record.evidence import Evidence
from ...record.finding import RuleFinding
from ...record.program import Program
from ..host.host_time import names_of_program
from ..rewriting.syntax import file_of, source_of_location, tree_of, with_imports
from ..rule import LEAST_SHARE, Rule, source_at
from .compile_claims import numbers_of
from .eager.eager_programs import MANY, eager_programs
from .eager.joined_arrays import LEAST_ARRAYS, joined_arrays, joining
from .folded import is_folded
from .made_anew import location_called
from .recompilations import counts, function_of

#: From this time in XLA on, JAX's persistent cache keeps a program unless it is configured otherwise.
_LEAST_NS = 1_000_000_000

#: Below that, a program has to take at least this long to trace, lower and compile.
_LEAST_TOTAL_NS = 3_000_000_000

#: Imports during lowering are mentioned from this time on.
_LEAST_IMPORT_NS = 100_000_000

#: Lines are shown of programs with at least this many equations, and this many of them.
_LEAST_EQUATIONS = 100
_MOST_LINES = 3

#: A line is shown if it has at least this share of the equations.
_LEAST_SHARE = 0.1

#: Causes that say nothing about an earlier program of the function.
_FIRST = "first call", "cleared caches", "ahead of time", "unknown"

#: Causes that compare with an earlier program of the function.
_CHANGED = (
    *("shape", "dtype", "weak type", "static value", "pytree"),
    *("new function", "options", "placement", "context"),
)

#: The operation that JAX compiles to iterate over an array, without the underscores of some versions.
_OF_ITERATION = "unstack"


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the programs of the first run that took long to compile, and short ones that take long together."""
    own = [each for each in evidence.first.compilations if each.thread is None]
    joins = joining(own, evidence)
    joined = joined_arrays(joins, RULE.name, _LEAST_NS, evidence)
    if joined is not None:
        yield joined
        own = [each for each in own if all(each is not one for one, _ in joins)]
    yield from _long(own, evidence)
    short = [each for each in own if not _is_long(each, evidence)]
    eager = eager_programs(short, RULE.name, _LEAST_TOTAL_NS, evidence)
    yield from [] if eager is None else [eager]
    yield from _short([each for each in short if eager is None or not each.eager], evidence)


def _long(compilations: Sequence[Compilation], evidence: Evidence) -> Iterator[RuleFinding]:
    long = [each for each in compilations if _is_long(each, evidence)]
    if not long or sum(each.total_ns for each in long) < LEAST_SHARE * evidence.first.wall_ns:
        return
    longest = max(long, key=lambda each: each.total_ns)
    stage = max(STAGES, key=lambda each: int(getattr(longest, each[1])))
    cacheable = [each for each in long if _is_kept(each, evidence)]
    could_help = evidence.cache_dir is None and bool(cacheable)
    spared_ns = sum(each.compilation_ns for each in cacheable)
    cache = note("doctor.compile_time_cache", spared_ns=spared_ns) if could_help else None
    folded = _folded(longest, evidence)
    instead = _instead_of_cache(longest, folded)
    location = location_called(longest, _programs(longest, evidence), evidence)
    yield RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.compile_time",
            function=longest.function,
            programs=len(long),
            time_ns=longest.total_ns,
            stage=stage[0],
            stage_ns=int(getattr(longest, stage[1])),
            same=sum(function_of(each) == function_of(longest) for each in long) - 1,
        ),
        line=location,
        source=source_of_location(location, evidence),
        evidence=(
            *folded,
            *_again(longest, evidence),
            *_lines(longest, evidence),
            *_about_imports(evidence),
            *_about_cache(evidence, long),
        ),
        cost_ns=float(spared_ns if could_help and instead is None else sum(each.total_ns for each in long)),
        basis="measured",
        per="first run",
        compiles=numbers_of(long, evidence),
        remedy=instead or cache,
        code=_switched_on(longest, evidence) if could_help and instead is None else None,
    )


def _instead_of_cache(longest: Compilation, folded: Sequence[Note]) -> Note | None:
    """Return how to compile less, if that is known."""
    if folded:
        return note("doctor.compile_time_folded", function=longest.function)
    if longest.eager and longest.function.strip("_") == _OF_ITERATION:
        return note("doctor.compile_time_iterated")
    return None


def _short(short: Sequence[Compilation], evidence: Evidence) -> Iterator[RuleFinding]:
    total_ns = sum(each.total_ns for each in short)
    imported_ns = min(
        sum(each.least_ns for each in evidence.lowering_imports), sum(each.lowering_ns for each in short)
    )
    least_ns = max(_LEAST_TOTAL_NS, LEAST_SHARE * evidence.first.wall_ns)
    if total_ns - imported_ns < least_ns:
        return
    longest = max(short, key=lambda each: each.total_ns)
    spared_ns = sum(
        each.compilation_ns
        for each in short
        if _calls_python(each, evidence) == {False}
        and (evidence.cache_dir is None or each.compilation_ns < evidence.cache_least_ns)
    )
    could_help = spared_ns >= LEAST_SHARE * evidence.first.wall_ns
    switched_off = evidence.cache_dir is None
    remedy = note("doctor.compile_time_cache_short", spared_ns=spared_ns, off=int(switched_off))
    lines = ['jax.config.update("jax_compilation_cache_dir", "jax_cache")'] if switched_off else []
    lines += ['jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)']
    yield RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.compile_time_short",
            programs=len(short),
            total_ns=total_ns,
            function=longest.function,
            time_ns=longest.total_ns,
            same=int(len(set(map(function_of, short))) == 1),
        ),
        evidence=(*_about_imports(evidence), note("doctor.cache_off") if switched_off else note("doctor.cache_on")),
        cost_ns=float(spared_ns if could_help else total_ns),
        basis="measured",
        per="first run",
        compiles=numbers_of(short, evidence),
        remedy=remedy if could_help else None,
        code=with_imports("\n".join(lines), _tree(longest, evidence)) if could_help else None,
    )


def _is_long(compilation: Compilation, evidence: Evidence) -> bool:
    """Return whether a program took long to compile, without what any later program would not import again."""
    imported_ns = min(sum(each.least_ns for each in evidence.lowering_imports), compilation.lowering_ns)
    return compilation.compilation_ns >= _LEAST_NS or compilation.total_ns - imported_ns >= _LEAST_TOTAL_NS


def _is_kept(compilation: Compilation, evidence: Evidence) -> bool:
    """Return whether the persistent cache would keep a program, as its time and what it calls tell."""
    return compilation.compilation_ns >= evidence.cache_least_ns and _calls_python(compilation, evidence) == {False}


def _switched_on(compilation: Compilation, evidence: Evidence) -> str:
    code = 'jax.config.update("jax_compilation_cache_dir", "jax_cache")'
    return with_imports(code, _tree(compilation, evidence))


def _tree(compilation: Compilation, evidence: Evidence) -> ast.Module | None:
    place = file_of(compilation.location, evidence)
    return None if place is None else tree_of(place[0])


def _programs(compilation: Compilation, evidence: Evidence) -> list[Program]:
    """Return the programs of the function of a compilation: those of its name if it is unknown where they are."""
    name, found = name_in_xla(compilation.function), []
    for each in evidence.programs or ():
        location = each.location or each.transformed_at
        known = location is not None and compilation.location is not None
        if location == compilation.location if known else name in map(name_in_xla, names_of_program(each)):
            found.append(each)
    return found


def _again(compilation: Compilation, evidence: Evidence) -> Iterator[Note]:
    """Say why a function that had a program was compiled once more, by the last of its programs."""
    compiled = (each for each in evidence.first.compilations if counts(each))
    same = [each for each in compiled if function_of(each) == function_of(compilation)]
    kind = same[-1].cause.kind
    if kind in _CHANGED or (len(same) > 1 and kind not in _FIRST):
        yield note(
            "doctor.compile_time_again",
            function=compilation.function,
            programs=len(same),
            reason=same[-1].cause.reason,
        )


def _lines(compilation: Compilation, evidence: Evidence) -> Iterator[Note]:
    """Describe the user's lines from which most equations of the program come."""
    for program in [each for each in _programs(compilation, evidence) if not each.eager][:1]:
        total = sum(each.count for each in program.equations or ())
        for line, count in _per_line(program).most_common(_MOST_LINES):
            if total >= _LEAST_EQUATIONS and count >= _LEAST_SHARE * total:
                yield note(
                    "doctor.compile_time_line",
                    line=line.location,
                    source=source_at(line) or "",
                    equations=count,
                    total=total,
                )


def _per_line(program: Program) -> Counter[Frame]:
    """Count equations by the user's line, also if a function and a comprehension in it both run this line."""
    same: dict[str, Frame] = {}
    per_line: Counter[Frame] = Counter()
    for each in program.equations or ():
        if each.line is not None and is_users(each.line):
            per_line[same.setdefault(each.line.location, each.line)] += each.count
    if not per_line:  # all of them come from the layers of a library
        for repeated in filter(lambda each: is_users(each.line), program.repeated_lines or ()):
            line = same.setdefault(repeated.line.location, repeated.line)
            per_line[line] = max(per_line[line], repeated.equations)
    return per_line


def _folded(compilation: Compilation, evidence: Evidence) -> list[Note]:
    """Describe the lines that compute with captured arrays only, and that the compiled program has no more."""
    lines = dict.fromkeys(
        work.line
        for program in _programs(compilation, evidence)
        if not program.eager
        for work in program.constant_work
        if program.module is not None and is_folded(work, program.module, evidence.first.environment.backend)
    )
    told = [
        note("doctor.compile_time_constant", line=line.location, source=source_at(line) or "")
        for line in list(lines)[:_MOST_LINES]
    ]
    return [*told, note("doctor.compile_time_constant_unknown")] if told else []


def _calls_python(compilation: Compilation, evidence: Evidence) -> set[bool | None]:
    """Return whether the programs of its function call Python while they run; ``{None}`` if none of them is known.

    That does not matter to a cache that keeps such programs as well.
    """
    if evidence.caches_callbacks:
        return {False}
    return {each.calls_python for each in _programs(compilation, evidence)} or {None}


def _about_imports(evidence: Evidence) -> Iterator[Note]:
    for each in evidence.lowering_imports:
        if each.least_ns >= _LEAST_IMPORT_NS:
            yield note("doctor.lowering_import", package=each.package, modules=each.modules, least_ns=each.least_ns)


def _about_cache(evidence: Evidence, long: Sequence[Compilation]) -> Iterator[Note]:
    if evidence.cache_dir is None:
        yield note("doctor.cache_off")
    elif missed := [each for each in long if each.cache == "miss"]:
        had = evidence.cache_entries
        yield note("doctor.cache_missed", programs=len(missed), had=-1 if had is None else had)
        if evidence.cache_least_bytes:
            yield note("doctor.cache_least_bytes", least_bytes=evidence.cache_least_bytes)
    else:
        yield note("doctor.cache_on")
    yield from dict.fromkeys(note for each in long for note in _why_not_kept(each, evidence))


def _why_not_kept(compilation: Compilation, evidence: Evidence) -> Iterator[Note]:
    """Say why the cache would not keep a program, or why that is unknown."""
    function, compilation_ns = compilation.function, compilation.compilation_ns
    calls_python = _calls_python(compilation, evidence)
    if not compilation.compiled or compilation.cache == "hit":
        return
    if True in calls_python:
        yield note("doctor.cache_callbacks", function=function, some=int(calls_python != {True}))
    elif compilation_ns < (least_ns := evidence.cache_least_ns):
        yield note("doctor.cache_too_short", function=function, compilation_ns=compilation_ns, least_ns=least_ns)
    elif None in calls_python:
        yield note("doctor.cache_unknown", function=function)


RULE = Rule(
    name="compile-time",
    looks_for="long compilations, and whether the persistent cache would save them",
    decides=f"Reports programs that XLA compiles for at least {_LEAST_NS // 10**9} s in the first run, from which on "
    "JAX's persistent cache keeps them unless configured otherwise, and programs that take at least "
    f"{_LEAST_TOTAL_NS // 10**9} s to trace, lower and compile, without packages that JAX imports to lower them. "
    "Shorter programs are reported if they take as long together, and those of operations outside jit apart, if "
    f"there are at least {MANY}. They have to take at least {units.percent(LEAST_SHARE)} of the first run. These are "
    "times of this run: a busy machine may lift a program above a threshold. The cache is advised for programs that "
    "it would keep as it is configured, and the cost is XLA's time that it saves then, without tracing and lowering; "
    "before JAX 0.11 it keeps none that calls Python. --verify compares compiling the longest of them with loading "
    "it as a later session would. The report names the lines with at least "
    f"{units.percent(_LEAST_SHARE)} of the equations. Time that the findings recompile and "
    "unrolled-loop would save is in their costs only. If a line computes with at least 1,000 elements of captured "
    "arrays and with no argument, and the compiled program has no instruction of it, then XLA computed it while "
    "compiling (constant folding). XLA does not report how long that takes; --verify compiles the function with "
    f"these arrays as arguments. jnp.stack or jnp.concatenate of at least {LEAST_ARRAYS} arrays is reported apart.",
    source="https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
    look=look,
)
