"""The sentences that every medium uses, so that text and HTML say the same thing."""

from __future__ import annotations

from collections.abc import Sequence

from ... import units
from ...compilation.record.compilation import Compilation
from ...terminal import printable
from .. import analysis as report
from ..record import Timing

#: For learners, with ``--explain``: five lines.
EXPLANATION = (
    "Wall: from when the code began until all of its work was done, everywhere.",
    "Dispatch: until the code returned, without waits of its own. Wait: the rest.",
    "Compile: new shapes or types are traced, lowered, and compiled by XLA, once.",
    "Host: the rest of the dispatch: Python, JAX itself, and work done on the spot.",
    "How: work in flight first; then the result, then a program queued behind all.",
)

#: The stages of a compilation: their short names, and the fields of the record.
STAGES = (
    ("trace", "tracing_ns"),
    ("lower", "lowering_ns"),
    ("XLA", "compilation_ns"),
    ("cache", "cache_retrieval_ns"),
)


#: Why eager operations compiled that had been seen before, or that move data.
_EAGER = {
    "shape": "for another shape",
    "dtype": "for another dtype",
    "weak type": "for another kind of number",
    "static value": "for other parameters",
    "placement": "for another placement",
    "context": "under another configuration",
    "new function": "for a function made anew",
    "transfer": "to make or move arrays",
}


def stages(compilation: Compilation) -> list[tuple[str, int]]:
    """The stages that took time, with their short names."""
    named = [(label, getattr(compilation, field)) for label, field in STAGES]
    return [(label, time_ns) for label, time_ns in named if time_ns]


def reason(compilation: Compilation, digits: int) -> str:
    """Why it was compiled, and what the persistent cache had to do with it."""
    text = printable(compilation.cause.reason)
    if not compilation.compiled:
        text += f"; {'traced' if compilation.last_stage == 'tracing' else 'lowered'} only, not compiled"
    if compilation.cache == "hit":
        saved = compilation.saved_ns
        text += "; from the persistent cache"
        if saved is not None and saved > 0:
            text += f", which saved {units.time(saved, digits)}"
    elif compilation.cache == "miss":
        text += "; not in the persistent cache"
    return text


def about_time(timing: Timing, digits: int) -> list[str]:
    """What has to be said about the wall time beyond its parts."""
    sentences = []
    inside = report.code_wait_ns(timing)
    if inside is not None:
        sentences.append(
            f"{units.time(inside, digits)} of the wait was inside the code: it waits for results itself."
        )
    unreached = report.unreached_ns(timing)
    if unreached is not None:
        sentences.append(f"{units.time(unreached, digits)} of the wait was for discarded results.")
    if timing.fetch_ns is not None:
        sentences.append(about_fetch(timing, digits))
    if timing.error is not None:
        sentences.append(f"The code ended with {timing.error}; these are the times so far.")
    return sentences


def about_fetch(timing: Timing, digits: int) -> str:
    """How long the copy of the result to the host took."""
    if not timing.fetch_bytes:
        return "Fetch: nothing to copy, because the result holds no array."
    fetched = units.size(timing.fetch_bytes)
    return f"Fetch: {units.time(timing.fetch_ns or 0, digits)} to copy {fetched} to the host, beside the wall time."


def about_compilations(timing: Timing, rest: int, rest_ns: int, digits: int) -> list[str]:
    """Everything about compilations that is not said function by function."""
    compiled = report.compiled(timing)
    sentences = []
    if rest:
        sentences.append(
            f"These are the {len(compiled.functions) - rest} costliest; "
            f"{units.count(rest, 'more function')} compiled in {units.time(rest_ns, digits)}."
        )
    sentences += about_eager(compiled.eager, digits)
    if not timing.heard_all:
        sentences.append("What compiled is not known: the code took all listeners of jax.monitoring away.")
    elif not timing.compilations:
        sentences.append("Nothing compiled.")
    if compiled.elsewhere:
        threads = ", ".join(dict.fromkeys(each.thread or "" for each in compiled.elsewhere))
        sentences.append(
            f"{units.count(len(compiled.elsewhere), 'program')} compiled meanwhile by another thread ({threads}), "
            "in no part of these times."
        )
    return sentences


def about_eager(operations: Sequence[Compilation], digits: int) -> list[str]:
    """Eager operations, one sentence for those with the same kind of cause and the same remedy."""
    groups: dict[tuple[str, str | None, bool], list[Compilation]] = {}
    for each in operations:
        about = each.cause.reason if each.cause.kind == "while tracing" else _EAGER.get(each.cause.kind, "")
        groups.setdefault((about, each.cause.remedy, each.compiled), []).append(each)
    sentences = []
    for (about, remedy, compiled), group in groups.items():
        total = units.time(report.total_ns(group), digits)
        about = printable(about.replace("run while", "while"))
        verb = "compiled" if compiled else "traced only"
        head = f"{units.count(len(group), 'eager operation')} {verb}{f' {about}' if about else ''}, {total} "
        advice = "" if remedy is None else f": {remedy}"
        sentences.append(f"{head}({_operations(group)}){advice}.")
    return sentences


def _operations(group: Sequence[Compilation]) -> str:
    """Their names, and of a single one its cause."""
    names = list(dict.fromkeys(printable(each.function) for each in group))
    if len(group) == 1 and group[0].cause.kind not in ("eager", "while tracing"):
        return f"{names[0]}: {printable(group[0].cause.reason)}"
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def notes(timing: Timing, digits: int) -> list[str]:
    """What the record carries to be told with it."""
    told = list(timing.notes)
    if timing.environment.backend in ("gpu", "cuda", "rocm") and any(each.compiled for each in timing.compilations):
        told.append("A first run on a GPU also loads its modules and starts libraries: that is in host.")
    if timing.unreached_ns is None and timing.error is None:
        told.append("Not measured: time in work that the result did not reach.")
    return told
