"""Compiles a function with a third of the rounds of its loop, and with a loop of JAX instead."""

from __future__ import annotations

from functools import partial
from typing import Any

from .....records.note import Note, note
from .....runtime.clock import now_ns
from ....record.finding import RuleFinding
from ..function_copies import FunctionCopies
from ..remedy import Builds, NotTried
from ..tried_code import TriedCode
from .afresh import compile_afresh
from .calls import Call, jitted_calls
from .shortened import FoundLoop, Rounds, find_loop

#: The part of the rounds that is compiled.
_PART = 3

#: All rounds and a part of them are compiled this often, in turns; the fastest of each counts.
_TIMES = 2


def propose(finding: RuleFinding, code: TriedCode) -> Builds:
    """Propose the loop of JAX that the finding recommends, and measure how long a third of the rounds compiles."""
    for call in jitted_calls(code):
        loop = find_loop(call.own, finding.line)
        if loop is None:
            continue
        third = _third(call, loop, finding.rule)
        after = None if finding.code is None else loop.with_code(finding.code)
        if after is None:
            raise NotTried(third, note("doctor.tried_compile_time"), note("doctor.unrolled_by_hand"))
        return _builds(call, loop, after, third)
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _builds(call: Call, loop: FoundLoop, after: Any, third: Note) -> Builds:
    """Compare all rounds with the loop of JAX, if that gives the same shapes."""
    import jax

    before, given = call.prepared(call.own)
    changed, _ = call.prepared(FunctionCopies({id(loop.function): after}).of(call.own))
    kinds = [jax.tree.map(lambda each: (each.shape, each.dtype), jax.eval_shape(f, given)) for f in (before, changed)]
    if kinds[0] != kinds[1]:
        raise NotTried(third, note("doctor.unrolled_other_types"), differs=True)
    notes = third, note("doctor.unrolled_rewritten"), note("doctor.tried_compile_time")
    passed = (call.values(given),)
    return Builds(
        partial(compile_afresh, before, given), partial(compile_afresh, changed, given), (passed, passed), notes
    )


def _third(call: Call, loop: FoundLoop, rule: str) -> Note:
    """Compile all rounds and a third of them, and extrapolate what the rounds after the first take."""
    every, part = Rounds(), Rounds(_PART)
    takes: dict[Rounds, int] = {}
    for rounds in (every, part) * _TIMES:
        function = loop.with_rounds(rounds)
        if function is None:
            raise NotTried(note("doctor.not_mechanical", rule=rule))
        run, given = call.prepared(FunctionCopies({id(loop.function): function}).of(call.own))
        rounds.counts.clear()
        begin = now_ns()
        compile_afresh(run, given)
        took_ns = now_ns() - begin
        takes[rounds] = min(takes.get(rounds, took_ns), took_ns)
    shortened = sum(max(each // _PART, 1) for each in part.counts)
    left_out = sum(part.counts) - shortened
    if every.counts != part.counts or left_out <= 0:
        raise NotTried(note("doctor.not_mechanical", rule=rule))
    total = sum(every.counts)
    per_round_ns = min((takes[every] - takes[part]) / left_out, takes[every] / total)  # more is noise
    return note(
        "doctor.unrolled_third",
        rounds=total,
        third=shortened,
        rounds_ns=takes[every],
        third_ns=takes[part],
        cost_ns=max(round(per_round_ns * (total - len(every.counts))), 0),
    )
