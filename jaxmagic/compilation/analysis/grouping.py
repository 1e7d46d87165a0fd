"""Group spans and explanations into compilations, each with its stages and its cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile

from ..record.compilation import Cause, Compilation
from ..record.events import Call, Miss, Span
from .advice import with_advice
from .call_memory import Memory
from .causes import find_cause, pass_over
from .self_times import self_times
from .waits import Interval, touching

#: JAX measures the length of a span with a different clock, so an inner span may seem to begin this much too early.
_JITTER_NS = 2_000


def group(
    spans: Sequence[Span],
    misses: Sequence[Miss],
    memory: Memory,
    *,
    start_ns: int,
    end_ns: int,
    main_thread: int,
    threads: Collection[int],
    waits: Sequence[Interval] = (),
) -> tuple[Compilation, ...]:
    """Return the compilations of a window, in the order in which they ended.

    Args:
        spans: stages as JAX reported them, in the order of their ends.
        misses: JAX's explanations, in the order in which they were logged.
        memory: earlier calls of the session, to compare with; this window's calls are added to it.
        start_ns: the start of the window.
        end_ns: the end of the window, when the code had returned.
        main_thread: the thread that ran the measured code.
        threads: the threads that belong to the measured code; compilations in other threads are listed with the
            name of their thread and their full times.
        waits: when the measured code itself waited for results; this time counts for no stage.
    """
    own = self_times(spans, start_ns, end_ns, main_thread=main_thread, threads=threads, waits=touching(waits, spans))
    memory.begin()
    unclaimed = list(misses)
    compilations = []
    for last, members in _programs(spans).items():
        ours = spans[last].thread in threads
        stages = {"tracing": 0, "lowering": 0, "compilation": 0, "cache retrieval": 0}
        for index in members:
            span = spans[index]
            stages[span.stage] += own[index] if ours else span.end_ns - span.start_ns
        call = _call(spans, members, last)
        traced = any(spans[index].stage == "tracing" for index in members)
        miss, inside = _claim(unclaimed, spans, members, last)
        pass_over(inside, memory)
        try:
            cause = find_cause(call, miss, traced=traced, memory=memory)
        except Exception as error:  # the times are valid without a cause
            cause = Cause(kind="unknown", reason=f"the cause could not be found out ({type(error).__name__})")
        compilations.append(
            Compilation(
                function=call.name if call is not None and call.wrapped else spans[last].function,
                location=None if call is None or call.internal else call.location,
                tracing_ns=stages["tracing"],
                lowering_ns=stages["lowering"],
                compilation_ns=stages["compilation"],
                cache_retrieval_ns=stages["cache retrieval"],
                cache=spans[last].cache,
                saved_ns=spans[last].saved_ns,
                last_stage=spans[last].stage,
                cause=cause,
                called_at=spans[last].called_at,
                thread=None if ours else spans[last].thread_name,
                began_ns=min(spans[index].start_ns for index in members) - start_ns,
                ended_ns=max(spans[index].end_ns for index in members) - start_ns,
                eager=call is not None and call.internal,
            )
        )
    return with_advice(compilations)


def _programs(spans: Sequence[Span]) -> dict[int, list[int]]:
    """Return the spans of each program, by the index of its last span.

    In a thread, the stages of a program follow each other: tracing, lowering, compilation. A function that is
    traced while another one is traced or lowered belongs to the outer program. A trace without a next stage
    (``jax.eval_shape``) is a program of its own.
    """
    owner = list(range(len(spans)))
    waiting: dict[int, list[int]] = {}  # by thread: spans that belong to no later span yet, in order
    for index, span in enumerate(spans):
        stack = waiting.setdefault(span.thread, [])
        while stack and spans[stack[-1]].start_ns >= span.start_ns - _JITTER_NS:
            owner[stack.pop()] = index  # it lies inside this span
        if span.stage != "tracing":
            for position in range(len(stack) - 1, -1, -1):
                earlier = spans[stack[position]]
                if earlier.function == span.function and earlier.stage != span.stage:
                    owner[stack.pop(position)] = index  # it is the previous stage of the same program
                    break
        if span.stage in ("tracing", "lowering"):
            stack.append(index)
    programs: dict[int, list[int]] = {}
    for index in reversed(range(len(spans))):
        owner[index] = owner[owner[index]]
    for index, last in enumerate(owner):
        programs.setdefault(last, []).append(index)
    return dict(sorted(programs.items()))


def _call(spans: Sequence[Span], members: Sequence[int], last: int) -> Call | None:
    """Return the call that led to a program, as observed in any stage with the function's name."""
    calls = [spans[i].call for i in members if spans[i].function == spans[last].function]
    return next((call for call in reversed(calls) if call is not None), None)


def _claim(
    unclaimed: list[Miss], spans: Sequence[Span], members: Sequence[int], last: int
) -> tuple[Miss | None, list[Miss]]:
    """Take the explanations of this compilation and of the functions traced inside it; return both.

    JAX reports no tracing span for functions that a transformation evaluates, which may have the same name.
    """
    claimed, inside = None, []
    untraced = all(spans[index].stage != "tracing" for index in members)
    began_ns, ended_ns = min(spans[each].start_ns for each in members), max(spans[each].end_ns for each in members)
    for index in members:
        span = spans[index]
        if span.stage != "tracing" and not untraced:
            continue
        for miss in unclaimed:
            if miss.thread == span.thread and miss.at_ns <= ended_ns + _JITTER_NS and _is_about(miss, span.function):
                unclaimed.remove(miss)
                inside.append(miss)
                if span.function == spans[last].function:
                    claimed = miss
                break
    so_far = list(takewhile(lambda each: each.at_ns <= ended_ns, unclaimed))
    thread = spans[last].thread
    inside += [each for each in so_far if each.thread == thread and each.at_ns >= began_ns]
    unclaimed[: len(so_far)] = [each for each in so_far if each.thread != thread or each.at_ns < began_ns]
    return claimed, [each for each in inside if each is not claimed]


def _is_about(miss: Miss, function: str) -> bool:
    return any(
        line.strip().startswith((f"for {function} defined at", f"{function} id=", f"for {function} "))
        for line in miss.text.splitlines()[1:3]
    )


def costliest(functions: Sequence[Compilation], most: int) -> tuple[tuple[Compilation, ...], tuple[Compilation, ...]]:
    """Split `functions` into the `most` that took longest and the rest, each in their original order."""
    by_cost = sorted(range(len(functions)), key=lambda index: -functions[index].total_ns)
    first = set(by_cost[:most])
    return (
        tuple(each for index, each in enumerate(functions) if index in first),
        tuple(each for index, each in enumerate(functions) if index not in first),
    )


def by_cause(functions: Sequence[Compilation]) -> tuple[tuple[Compilation, ...], ...]:
    """Group compilations of the same function that have the same cause, each in their original order.

    The costliest group comes first, and before the other first calls come the causes of compiling again.
    """
    groups: dict[tuple[str | None, ...], list[Compilation]] = {}
    for each in functions:
        cause = each.cause
        what, _, _ = cause.reason.partition(":")  # what differs, without the values
        groups.setdefault((each.function, each.location, cause.argument, cause.remedy, what), []).append(each)
    costliest_first = sorted(groups.values(), key=lambda group: -total_ns(group))
    others = sorted(costliest_first[1:], key=lambda group: group[0].cause.kind in ("first call", "cleared caches"))
    return tuple(map(tuple, [*costliest_first[:1], *others]))


def total_ns(compilations: Iterable[Compilation]) -> int:
    """Add up all stages of all compilations."""
    return sum(each.total_ns for each in compilations)
