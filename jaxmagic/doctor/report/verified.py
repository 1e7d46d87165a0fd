"""Words what was tried of a remedy, and why it was not tried."""

from __future__ import annotations

import math
from collections.abc import Callable

from ... import units
from ...terminal import printable
from .remedies.rounding import at_leaf, may_differ, noise, of_precision, outputs_error
from .remedies.speedups import first_run, programs_ran


def _traced(traces: int) -> str:
    return f"; JAX called it {_times(traces)} more, to trace it" if traces else ""


def _times(count: int) -> str:
    return {0: "not once", 1: "once", 2: "twice"}.get(count, f"{count} times")


#: How a sentence begins that says why a remedy was not tried.
_NOT_TRIED = "Not tried"


def _not(why: str) -> str:
    return f"{_NOT_TRIED}: {why}."


def beside_memory(sentence: str) -> str:
    """Word a sentence about a trial whose memory is known: what may not have been tried is its time.

    >>> beside_memory("Not tried: interrupted.")
    'Its time was not tried: interrupted.'
    """
    rest = sentence.removeprefix(_NOT_TRIED)
    return sentence if rest == sentence else f"Its time was not tried{rest}"


#: Types of products that round more than float32.
_ROUNDING = {"bf16": "bfloat16", "tf32": "TF32"}


def _rounded(share: float, allowed: float, products: str, leaf: str = "") -> str:
    most = units.percent(allowed)
    limit = f"where up to {most} counts" if share <= allowed else f"more than the {most} that counts"
    return (
        f"The outputs differ by up to {units.percent(share)} of the largest value{at_leaf(leaf)}, {limit} as the "
        f"rounding of products in {_ROUNDING.get(products, printable(products))}."
    )


def _third(rounds: int, third: int, rounds_ns: int, third_ns: int, cost_ns: int) -> str:
    return (
        f"It compiles in {units.time(rounds_ns)} with all {rounds} iterations, and in {units.time(third_ns)} with "
        f"{third} of them: those after the first take about {units.time(cost_ns, 2)}."
    )


def _precision(what: str, value: str) -> str:
    return "Tried without 64-bit types." if what == "x64" else f"Tried with matmul precision {printable(value)}."


def _made_once(functions: int = 1) -> str:
    kept = (
        f" It kept {functions} functions, one for each set of captured values: a single one would keep the first of "
        "them."
        if functions > 1
        else ""
    )
    return (
        "Tried with a jax.jit that returns the same function for the same source, captured values and options, in "
        f"all runs: the gain is that of runs after the first one.{kept}"
    )


def _too_little_time(first_ns: int = 0, budget_ns: int = 0) -> str:
    """Word which budget lets a trial begin; a record of an earlier version does not say."""
    if not budget_ns:
        return _not("too little time is left for it; a longer --budget (budget_s= in Python) would help")
    seconds = max(math.ceil(1.25 * budget_ns / 1e9), 1)  # a first run takes longer at some times than at others
    seconds = -(-seconds // 10) * 10 if seconds > 10 else seconds
    return _not(
        f"too little time is left for it: a first run takes {units.time(first_ns)}. Give it at least --budget "
        f"{seconds}s (budget_s={seconds} in Python)"
    )


NOTES: dict[str, Callable[..., str]] = {
    "tried_runs": lambda before_runs, after_runs, stopped=0: (
        f"To try it, the code ran {_times(before_runs)} as it is and {_times(after_runs)} with the remedy"
        f"{', not to the end' if stopped else ''}."
    ),
    "ceiling_runs": lambda before_runs, after_runs: (
        f"To measure it, the code ran {_times(before_runs)} as it is and {_times(after_runs)} with batches repeated, "
        "the first of these times with all batches."
    ),
    "ceiling_failed": lambda error: _not(
        f"with batches repeated, which shows what this remedy can gain at most, the code fails ({printable(error)})"
    ),
    "not_replayed": lambda: _not("the batches could not be replayed: they vary too much between runs"),
    "tried_compiled": lambda: "Both were compiled, and neither ran.",
    "tried_on_copies": lambda names: f"Each of these runs had its own copy of {printable(names)}.",
    "tried_first_run": first_run,
    "tried_too_few": lambda: "Too few runs fit into the time to measure a speed-up.",
    "not_mechanical": lambda rule: _not(f"this remedy ({rule}) could not be applied mechanically to this code"),
    "part_not_tried": lambda: (
        "Tried with all of the function jitted, which is not faster. What jitting these operations alone gains is "
        "unknown."
    ),
    "not_met": lambda: "The trial changed nothing: the code does not call what this remedy replaces.",
    "not_used": lambda: (
        "The trial changed nothing: on a copy of the code the remedy had no effect, as where a function captures "
        "what each run makes anew."
    ),
    "trial_unfinished": lambda: (
        "The trial did not finish in time; a longer --budget (budget_s= in Python) would help."
    ),
    "not_tried_budget": _too_little_time,
    "not_tried_interrupt": lambda: _not("interrupted"),
    "not_tried_effect": lambda name: _not(
        f"a run changes {printable(name)}, which is not an input that could be copied"
    ),
    "not_tried_unrolled": lambda function: _not(
        f"jit would unroll the loop in {printable(function)}, if it can compile it at all, and take long; its body "
        "could not be put into a function mechanically"
    ),
    "not_tried_blocked": lambda function: _not(
        f"jit cannot compile {printable(function)} as it is, for the reason that the advice names; what else it "
        "computes could not be put into a function mechanically"
    ),
    "not_tried_changing": lambda function: _not(
        f"{printable(function)} changes its arguments, of which jit makes copies"
    ),
    "not_tried_generator": lambda function: _not(
        f"{printable(function)} contains yield, so jit cannot compile it; what computes one of its values could not "
        "be put into a function mechanically"
    ),
    "not_tried_argument": lambda name: _not(
        f"an argument of {printable(name)} can neither be traced by jit nor be static: it holds more than arrays and "
        "is not hashable"
    ),
    "not_tried_hidden": lambda name, function: _not(
        f"the code assigns {printable(name)}, which {printable(function)} reads from outside; in a copy of the code, "
        "the function would not see that"
    ),
    "not_tried_log": lambda name: _not(
        f"a method or a jitted function leads to {printable(name)}, which a run changes; only plain functions can be "
        "given a copy of it"
    ),
    "remedy_reads_log": lambda name: _not(
        f"with the remedy, the code would change {printable(name)} itself and not a copy of it"
    ),
    "jit_reads_log": lambda name, function: _not(
        f"{printable(function)} reads or changes {printable(name)}, which under jit happens only while JAX traces "
        "it, except in callbacks"
    ),
    "not_tried_uncopied": lambda name: _not(
        f"a run changes {printable(name)}, which cannot be copied: it is deleted, or holds more than arrays"
    ),
    "not_tried_failed": lambda error: f"Tried the recommended change, which failed: {printable(error)}.",
    "not_tried_code": lambda error: _not(f"the code cannot be repeated ({printable(error)})"),
    "not_tried_cache": lambda: _not("the persistent cache saves time only in the next session"),
    "not_tried_first_run": lambda: _not("the trials measure later runs, and this is a cost of the first run"),
    "not_tried_size": lambda size_bytes: _not(f"{units.size(size_bytes)} is too much to copy without asking"),
    "not_tried_sizes": lambda: _not("this backend does not report the memory of programs"),
    "no_outputs": lambda: "The code has no outputs to compare.",
    "outputs_vary": lambda: "The outputs vary from run to run without the remedy, so they cannot be compared.",
    "outputs_problem": lambda leaf, problem: f"{printable(leaf[:1].upper() + leaf[1:])}: {printable(problem)}.",
    "outputs_precision": of_precision,
    "outputs_noise": noise,
    "outputs_may_differ": may_differ,
    "outputs_dtype": lambda before, after: (
        f"The outputs agree in value, but not in dtype: {printable(after)} with the remedy, {printable(before)} "
        "without it."
    ),
    "outputs_error": outputs_error,
    "outputs_rounded": _rounded,
    "pasted": lambda: "Tried with the recommended code in its place.",
    "pasted_before": lambda: (
        "Tried with the recommended code in its place, and with what it moves out made before all runs, as in an "
        "earlier cell. Where each run makes it anew, it compiles in each run."
    ),
    "made_once": _made_once,
    "jitted": lambda name, code="", library="", line="", source="", traces=0: (
        f"Tried with {printable(name)} jitted{_traced(traces)}."
    ),
    "jit_of_constants": lambda name: _not(
        f"{printable(name)} gets no array as an argument, so that XLA may compute the result once, while it compiles"
    ),
    "jit_of_values": lambda name, arguments: _not(
        f"{printable(name)} needs {printable(arguments)} while JAX traces it, and each run passes many values: each "
        "would compile a program of its own"
    ),
    "jit_freezes": lambda name: _not(
        f"{printable(name)} traced twice gives two programs, because it uses random numbers, the time or something "
        "else that changes from call to call; under jit it would always use the first"
    ),
    "jitted_transformed": lambda name: (
        f"Tried with the transformed {printable(name)} jitted, and made once for each set of options."
    ),
    "call_jitted": lambda call, names, traces=0: (
        f"Tried with {printable(call)} in a function that is jitted once, with {printable(names)} as "
        f"{'arguments' if ',' in names else 'an argument'}{_traced(traces)}."
    ),
    "call_unclear": lambda: _not("which call to put into a jitted function could not be told mechanically"),
    "call_of_objects": lambda name: _not(
        f"the code makes {printable(name)}, which is no array, and would have to make it inside the jitted function"
    ),
    "cannot_be_jitted": lambda name, error, source="", line="", jit="jax.jit": (
        f"Tried to jit {printable(name)}{'' if jit == 'jax.jit' else f' with {printable(jit)}'}, which failed"
        f"{f' at {printable(line)}' if line else ''}: {printable(error)}."
    ),
    "mended": lambda function, code: (
        f"Tried with the remedy in {printable(function)} under jit, and with the call without jit: {printable(code)}"
    ),
    "mended_arrays": lambda: (
        "The outputs are compared with those of the call without jit for arrays: Python computes with floats of 64 "
        "bits."
    ),
    "mended_runs": lambda without, mended: (
        f"To try it, the function ran {_times(without)} without jit, and {_times(mended)} with the remedy."
    ),
    "not_mended": lambda code=True: _not(
        f"{'the code could not be put into a copy of the function' if code else 'the advice has no code to try'}, so "
        "nothing was compared with the call without jit"
    ),
    "not_mended_failed": lambda error: _not(
        f"comparing the remedy with the call without jit failed ({printable(error)})"
    ),
    "not_mended_kind": lambda: _not("--verify does not try remedies of this kind of error"),
    "no_fallback": lambda: _not(
        "a trial compares the remedy with the same call without jit, and no call was found that could be made so"
    ),
    "fallback_failed": lambda error: _not(f"the call without jit failed as well ({printable(error)})"),
    "fallback_foreseen": lambda name: _not(f"each run of the function would do something else ({printable(name)})"),
    "fallback_changes": lambda name: _not(f"the call without jit, which ran once, changes {printable(name)}"),
    "argument_unknown": lambda text: _not(f"the argument {printable(text)} would have to be computed again"),
    "put": lambda names: f"Tried with {printable(names)} put on the device beforehand.",
    "placed": lambda names: f"Tried with {printable(names)} placed beforehand, as the program takes it.",
    "narrowed": lambda names: f"Tried with {printable(names)} converted to float32 once beforehand.",
    "converted": lambda name: f"Tried with {printable(name)} converted once beforehand.",
    "transposed": lambda names, function: (
        f"Tried with {printable(names)} transposed once beforehand, and back inside {printable(function)}."
    ),
    "transposed_anew": lambda name, function: _not(
        f"{printable(name)} would have to be transposed in each run: {printable(function)} gets an array that "
        "no variable of the code holds, such as one that the run computes"
    ),
    "transposed_unclear": lambda function: _not(
        f"{printable(function)} donates arguments, or is called with others than JAX arrays"
    ),
    "sorted_once": lambda argument, function: (
        f"Tried with {printable(argument)} of {printable(function)} sorted once per run, before the first call, and "
        "the result passed to each call."
    ),
    "sort_unclear": lambda argument, function: _not(
        f"what sorts {printable(argument)} could not be moved out of {printable(function)}, which donates arguments, "
        "is called with others than JAX arrays on one device, or sorts in a function that gets other arguments, too"
    ),
    "donated": lambda names: f"Compiled with {printable(names)} donated.",
    "checkpointed": lambda name: f"Tried with jax.checkpoint around {printable(name)}.",
    "result_kept": lambda name: f"Tried with results of {printable(name)} kept for calls with the same arguments.",
    "constants_passed": lambda arrays, size_bytes: (
        f"Compiled with {units.count(arrays, 'captured array')} ({units.size(size_bytes)}) as arguments."
    ),
    "given_before": lambda time_ns=0, size_bytes=0: (
        f"Before the trial, the cost was put at {units.size(size_bytes) if size_bytes else units.time(time_ns)}."
    ),
    "unrolled_third": _third,
    "unrolled_rewritten": lambda: "Compiled with a JAX loop in place of the Python loop.",
    "unrolled_by_hand": lambda: _not("no JAX loop could be put in its place mechanically"),
    "unrolled_other_types": lambda: "With the JAX loop, the function returns other shapes or types.",
    "tried_compile_time": lambda: "These are compile times.",
    "tried_loading": lambda: (
        "Tried as in a later session: the function is traced and lowered again, and its program is loaded."
    ),
    "programs_ran": programs_ran,
    "folded_then_runs": lambda: (
        "Every call then repeats what XLA computed from the constants while compiling, such as a transpose."
    ),
    "precision_set": _precision,
}
