"""Words a timing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .. import units
from ..compilation.analysis.grouping import by_cause, costliest, total_ns
from ..compilation.record.compilation import STAGES, Compilation
from ..compilation.report import about_eager, reason, remedies
from ..records.other_load import loaded
from ..report.blocks import Block, Caution, Entries, Entry, Excerpt, Part, Sentence, Split
from ..report.compose import Brief
from ..report.style import Style
from ..terminal import printable
from . import analysis as chosen
from .record import Timing

#: Five lines for learners, shown with ``--explain``.
EXPLANATION = (
    "Wall: from the start of the code until all of its work was done, everywhere.",
    "Dispatch: until the code returned, without its own waits. Wait: the rest.",
    "Compile: new shapes or types are traced, lowered, and compiled by XLA, once.",
    "Host: the rest of the dispatch: Python, JAX itself, and work run inline.",
    "How: drain work in flight, run, wait for the result, then for a last program.",
)

#: At most this many compilations have a row in HTML, the costliest ones.
MOST_COMPILATIONS = 5

#: At most this many causes are listed at once, and seen at first sight where a page has little room.
_MOST_CAUSES = 3
_FEW_CAUSES = 2


def report(timing: Timing, style: Style, explain: bool) -> Iterator[Block]:
    """Compose the wall time and its parts, then what compiled and why."""
    yield _split(timing, style)
    yield from (Caution(text=str(each)) for each in loaded(timing.other_load, timing.environment))
    yield from (Sentence(text=each, inner=True) for each in about_time(timing, style.digits))
    yield from _compiled(chosen.compiled(timing).functions, style)
    yield from (Sentence(text=each, inner=True) for each in about_compilations(timing, style.digits))
    user, system = timing.cpu_user_ns, timing.cpu_system_ns
    cpu = [units.time(each, style.digits) for each in (user, system, user + system)]
    yield Sentence(text=f"CPU times: user {cpu[0]}, sys: {cpu[1]}, total: {cpu[2]}", faint=True)
    yield from (Sentence(text=each) for each in about_conditions(timing))
    yield from (Sentence(text=each, faint=True, inner=True) for each in (EXPLANATION if explain else ()))


def _split(timing: Timing, style: Style) -> Split:
    unit = units.time_unit(timing.wall_ns)

    def told(time_ns: int) -> str:
        return units.time_in(time_ns, unit, style.digits)

    share = units.share(timing.compile_ns, timing.wall_ns) if timing.compile_ns else ""
    summary = [f"compile {told(timing.compile_ns)} ({share})"] if share else []
    summary += [f"host {told(timing.host_ns)}", f"wait {told(timing.wait_ns)}"]
    parts = (
        Part(name=each.name, told=told(each.time_ns), share=each.time_ns / timing.wall_ns)
        for each in chosen.parts(timing)
    )
    return Split(
        label="Wall time",
        total=units.time(timing.wall_ns, style.digits),
        remark=f"{share} of it compiling" if share else "",
        parts=tuple(parts),
        summary=tuple(summary),
    )


def _compiled(functions: tuple[Compilation, ...], style: Style) -> Iterator[Block]:
    """List the compilations: text has all of them, HTML the costliest and how to see the others.

    At first sight, there is one entry for each cause.
    """
    if not functions:
        return
    causes = by_cause(functions)
    each_once = [(each,) for each in functions]
    if len(causes) == len(functions) <= _FEW_CAUSES:
        yield _entries(each_once, style)._replace(noun="cause")
        return
    shown, rest = costliest(functions, MOST_COMPILATIONS)
    seen = _entries(causes[:_MOST_CAUSES], style)
    saved = (
        (_entries([(each,) for each in shown], style), Sentence(text=about_rest(rest, style.digits), inner=True))
        if rest
        else ()
    )
    yield Excerpt(
        title=_title(causes),
        part=(seen._replace(major=_FEW_CAUSES, noun="cause", there_are=len(causes)),),
        whole=(_entries(each_once, style),),
        saved=saved,
    )


def _title(causes: Sequence[tuple[Compilation, ...]]) -> str:
    """Say how often what was compiled."""
    functions = {(each.function, each.location) for group in causes for each in group}
    top, total = causes[0][0].function, sum(map(len, causes))
    compilations, several = units.count(total, "compilation"), units.count(len(functions), "function")
    if len(functions) == 1:
        return f"{compilations} of {top}"
    return (
        f"{several} compiled, top: {top}" if len(functions) == total else f"{compilations} of {several}, top: {top}"
    )


def _entries(groups: Sequence[tuple[Compilation, ...]], style: Style) -> Entries:
    """List compilations, those in a group in one row with their total times and the cause of the first one."""
    times = [{field: sum(getattr(each, field) for each in group) for _, field in STAGES} for group in groups]
    unit = units.time_unit(max(sum(each.values()) for each in times))
    stages = [(label, field) for label, field in STAGES if any(each[field] for each in times)]

    def cell(time_ns: int) -> str:
        return units.time_in(time_ns, unit, style.digits) if time_ns else ""

    rows = (
        Entry(
            name=group[0].function,
            cells=tuple(cell(each[field]) for _, field in stages),
            remark=_why(group, style.digits),
            advice=advice,
            place=group[0].location or "",
        )
        for group, each, advice in zip(groups, times, remedies([group[0] for group in groups]), strict=True)
    )
    return Entries(rows=tuple(rows), heads=("compiled", *(label for label, _ in stages)))


def _why(group: tuple[Compilation, ...], digits: int) -> str:
    """Word why a function was compiled, and how often for the same cause."""
    first, *others = dict.fromkeys(reason(each, digits) for each in group)
    times = f"{len(group)} times{', first' if others else ''}: " if len(group) > 1 else ""
    return f"{times}{first}"


def about_time(timing: Timing, digits: int) -> list[str]:
    """Return sentences about the wall time beyond its parts."""
    sentences = []
    inside = chosen.code_wait_ns(timing)
    if inside is not None:
        sentences.append(
            f"{units.time(inside, digits)} of the wait was inside the code: it, or a library that it calls, waits "
            "for results itself."
        )
    unreached = chosen.unreached_ns(timing)
    if unreached is not None:
        sentences.append(f"{units.time(unreached, digits)} of the wait was for discarded results.")
    if timing.fetch_ns is not None:
        sentences.append(about_fetch(timing, digits))
    if timing.error is not None:
        sentences.append(f"The code ended with {timing.error}; these are the times so far.")
    return sentences


def about_fetch(timing: Timing, digits: int) -> str:
    """Word how long the copy of the result to the host took."""
    if not timing.fetch_bytes:
        return "Fetch: nothing to copy, because the result holds no array."
    fetched = units.size(timing.fetch_bytes)
    copying = units.time(timing.fetch_ns or 0, digits)
    return f"Fetch: {copying} to copy {fetched} to the host, not included in the wall time."


def about_rest(rest: tuple[Compilation, ...], digits: int) -> str:
    """Say how many compilations there were besides those with a row, and how to see them."""
    were, in_all = ("was", "") if len(rest) == 1 else ("were", " in all")
    return (
        f"Besides the {MOST_COMPILATIONS} costliest, there {were} {units.count(len(rest), 'more compilation')}, of "
        f"{units.time(total_ns(rest), digits)}{in_all}. To see all causes, print the record, as "
        'print(jaxmagic.last()), or use its to_frame("compilations").'
    )


def about_compilations(timing: Timing, digits: int) -> list[str]:
    """Return sentences about compilations that have no row of their own."""
    compiled = chosen.compiled(timing)
    sentences = about_eager(compiled.eager, digits)
    if not timing.heard_all:
        sentences.append("Compilations are unknown: the code removed all listeners of jax.monitoring.")
    elif not timing.compilations and not any(each.kind == "timing.not_called" for each in timing.notes):
        sentences.append("Nothing compiled.")
    if compiled.elsewhere:
        threads = ", ".join(dict.fromkeys(each.thread or "" for each in compiled.elsewhere))
        sentences.append(
            f"{units.count(len(compiled.elsewhere), 'program')} compiled by another thread meanwhile ({threads}), "
            "not included in these times."
        )
    return sentences


def about_unexpected(programs: Sequence[Compilation]) -> str:
    """Say what the causes of compilations rest on where none was expected, and what else may be the reason."""
    causes = {each.cause.kind: each.function for each in reversed(programs) if not each.eager}
    told = []
    if "first call" in causes:
        name = causes.pop("first call")
        told.append(
            f"A jitted function compiles when it is first called. If {name} had not been called before, call it once "
            "before the block. If it had, each run probably passes a new function to jax.jit, such as a lambda: call "
            "jax.jit once, outside of the code that runs again; or jax.clear_caches() was called since. To find out, "
            "put the earlier call into a block, too: with jaxmagic.stopwatch(): f(x)."
        )
    if "cleared caches" in causes:
        name = causes.pop("cleared caches")
        told.append(
            f"{name} had compiled before, but has left JAX's caches since. If something clears them, such as "
            f"jax.clear_caches() in a fixture, call {name} once between that and the block."
        )
    if causes:
        told.append(
            "Each cause compares a call with the most similar earlier one in this process, perhaps from another "
            "test. If the new call is meant to compile, make one like it before the block."
        )
    return "".join(f" {each}" for each in told)


def about_conditions(timing: Timing) -> list[str]:
    """Word the notes of the record, and what follows from where it was made."""
    told = list(map(str, chosen.notes(timing)))
    if timing.environment.backend in ("gpu", "cuda", "rocm") and any(each.compiled for each in timing.compilations):
        told.append("A first run on a GPU also loads modules and initializes libraries, which counts as host time.")
    if timing.unreached_ns is None and timing.error is None:
        told.append("How much of the wait was for discarded results is unknown.")
    return told


def brief(timing: Timing) -> Brief:
    """Word the wall time, and the share of it that was compilation."""
    compiled = f"{units.share(timing.compile_ns, timing.wall_ns)} compile" if timing.compile_ns else ""
    return Brief(timing.code, timing.wall_ns, compiled)


def _not_run(result: str) -> str:
    how = {
        "generator": "Put list(…) around it to measure its work.",
        "coroutine": "Put await before it to measure its work.",
    }
    if result in ("map", "filter"):
        return f"The result is a {result}, which calls its function later. Put list(…) around it to measure its work."
    article = "an" if result[:1] in "aeiou" else "a"
    return (
        f"The result is {article} {result} that has not run: only its creation was measured. "
        f"{how.get(result, 'Iterate over it to measure its work.')}"
    )


def _standstill(stood_ns: int, unheard: str) -> str:
    buffer = "Waiting in np.asarray(y) or memoryview(y) (observable from Python 3.12 on)"
    what = buffer if unheard == "buffer" else "Waiting inside the code"
    return (
        f"This thread did not run for {units.time(stood_ns, 2)} of the host time: it slept or waited. "
        f"{what} cannot be observed here and counts as host time."
    )


#: The wording of notes, by the part of their kind after ``timing.``. Each function gets the facts of a note.
NOTES: dict[str, Callable[..., str]] = {
    "not_run": _not_run,
    "not_called": lambda function: f"{function} was not called, so nothing ran. Write for example {function}(x).",
    "quoted_call": lambda: "Nothing was called: this is text. Write the statement without its quotes.",
    "deleted": lambda: (
        "The result holds an array that was deleted or donated: its work was waited for, but its value is gone."
    ),
    "descheduled": lambda aside_ns: (
        f"{units.time(aside_ns, 2)} of the wait may not be JAX work: the operating system descheduled this thread "
        "during the check."
    ),
    "looked_late": lambda late_ns: (
        f"{units.time(late_ns, 2)} of the wait may not be JAX work: the first check came that long after the code "
        "returned, and found no work running."
    ),
    "undetectable": lambda left_out_ns: (
        f"Up to {units.time(left_out_ns, 2)} of discarded multi-device work may be missing: it is below the "
        "detection limit."
    ),
    "standstill": _standstill,
    "work_failed": lambda error: (
        f"A computation failed, and these times end there: {printable(error.rstrip('.'))}. JAX raises this where its "
        "result is used."
    ),
    "no_fence": lambda error: f"Discarded work could not be waited for: the fence does not compile here ({error}).",
    "fence_failed": lambda error: f"Discarded work could not be waited for: the fence did not run ({error}).",
}

BRIEFS = {Timing: brief}


REPORTS = {Timing: report}
