"""All remedies that can be applied mechanically, by the rule that recommends them."""

from __future__ import annotations

from ....records.note import note
from ...record.finding import RuleFinding
from ...rules.rewriting.rewritten import replaces_loop
from . import (
    input_bound,
    layout,
    not_jitted,
    pasted_code,
    precision,
    recompile,
    sharding,
    transfer,
)
from .calls import copied_once, library_calls, same_result, sorted_once, traced_number, transformed_calls
from .compiled import captured_constant, donation, memory, persistent_cache, rematerialise, unrolled_loop
from .remedy import Builds, Change, NotTried, Remedy
from .tried_code import TriedCode

#: Remedies that compile something before anything is measured, and how long that takes at least, in first runs.
COMPILING = {
    "donation": 1,
    "rematerialise": 1,
    "captured-constant": 1,
    "memory": 1,
    "unrolled-loop": 3,
    "compile-time": 1,
}

#: What measuring these takes after that at least, in first runs; other remedies run the code.
MEASURING = {"donation": 0, "memory": 0, "captured-constant": 2, "unrolled-loop": 2, "compile-time": 2}


def _compiled_sooner(finding: RuleFinding, code: TriedCode) -> Builds:
    match "" if finding.remedy is None else finding.remedy.kind:
        case "doctor.compile_time_folded":
            return captured_constant.propose(finding, code)
        case "doctor.compile_time_cache":
            return persistent_cache.propose(finding, code)
        case "doctor.compile_time_cache_short":
            raise NotTried(note("doctor.not_tried_cache"))
    raise NotTried(note("doctor.not_tried_first_run"))


def _constant(finding: RuleFinding, code: TriedCode) -> Change | Builds:
    if finding.found.kind in ("doctor.same_result", "doctor.same_arguments"):
        return same_result.propose(finding, code)
    return captured_constant.propose(finding, code)


def _jitted(finding: RuleFinding, code: TriedCode) -> Change:
    if finding.remedy is not None and finding.remedy.kind == "doctor.converted_items":
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    if replaces_loop(finding.code or ""):
        return pasted_code.propose(finding, code)
    if transformed_calls.is_outermost(finding):
        return transformed_calls.propose(finding, code)
    return not_jitted.propose(finding, code)


def _put_once(finding: RuleFinding, code: TriedCode) -> Change:
    if finding.found.kind == "doctor.put_again":
        return sharding.propose(finding, code)
    if finding.remedy is not None and finding.remedy.kind in ("doctor.transfer_all", "doctor.transfer_before"):
        return copied_once.propose(finding, code)
    return transfer.propose(finding, code)


def _made_once(finding: RuleFinding, code: TriedCode) -> Change:
    match "" if finding.remedy is None else finding.remedy.kind:
        case "doctor.recompile_in_library":
            return library_calls.propose(finding, code)
        case "doctor.recompile_traced":
            return traced_number.propose(finding, code)
    return recompile.propose(finding, code)


REMEDIES: dict[str, Remedy] = {
    "recompile": _made_once,
    "compile-time": _compiled_sooner,
    "not-jitted": _jitted,
    "dispatch-bound": pasted_code.propose,
    "host-wait": pasted_code.propose,
    "input-bound": input_bound.propose,
    "transfer": _put_once,
    "sharding": sharding.propose,
    "donation": donation.propose,
    "rematerialise": rematerialise.propose,
    "captured-constant": _constant,
    "layout": layout.propose,
    "sort": sorted_once.propose,
    "precision": precision.propose,
    "memory": memory.propose,
    "unrolled-loop": unrolled_loop.propose,
}
