"""Compiles variants of a program that hardly fits, until one fits."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from dataclasses import replace

from .....records.note import note
from .....runtime.functions import compiled_for
from .....xla.hlo import HloModule
from .....xla.read_hlo import read_module
from ....analysis.failures.out_of_memory import about_variant
from ....record.finding import RuleFinding
from ....record.out_of_memory import FailedProgram, Smaller
from ..remedy import NotTried, Sizes
from ..tried_code import TriedCode
from .calls import Call, abstract, jitted_calls, need_with
from .smaller import are_alike, donated_parameters, replaced_parameters, smaller_variants
from .split_batch import batch_in


def propose(finding: RuleFinding, code: TriedCode) -> Sizes:
    """Compare the program that a finding is about with the first variant that fits, or the smallest."""
    facts = finding.found.facts
    if finding.found.kind != "doctor.memory":
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    need_bytes, limit_bytes = int(facts["peak_bytes"]), int(facts["limit_bytes"])
    for call in jitted_calls(code):
        if getattr(call.own, "__name__", None) != facts["function"]:
            continue
        donated, plain = donated_parameters(call), call._replace(function=call.own)
        before = need_with(plain, donated)
        if before is None or not are_alike(before, need_bytes):
            continue
        names = {name for name, value in code.variables.items() if value is call.function}
        program = FailedProgram(
            function=str(facts["function"]),
            need_bytes=before,
            argument_bytes=0,
            output_bytes=0,
            temporary_bytes=0,
            others_bytes=int(facts.get("others_bytes", 0)),
            limit_bytes=limit_bytes,
        )
        replaced = replaced_parameters(code.source or "", names, call)
        variants: list[Smaller] = []
        module = _module(call)
        for each in smaller_variants(plain, donated, replaced, module, batch_in(call.own, module)):
            if each is not None and each.same_results:
                variants.append(each)
                if program.fits(each):
                    break
        return _sizes(program, variants)
    raise NotTried(note("doctor.not_mechanical", rule=finding.rule))


def _sizes(program: FailedProgram, variants: list[Smaller]) -> Sizes:
    best = replace(program, variants=tuple(variants)).best
    if best is None:
        raise NotTried(note("doctor.memory_no_variant", variants=len(variants)))
    about = about_variant(best, "yes" if program.fits(best) else "no")
    return Sizes(program.need_bytes, best.need_bytes, (about,))


def _module(call: Call) -> HloModule:
    arguments = OrderedDict((name, abstract(value)) for name, value in call.arguments.items())
    bound = inspect.BoundArguments(inspect.signature(call.function), arguments)
    program, _ = compiled_for(call.function, bound.args, bound.kwargs)
    return read_module(program.hlo_modules()[0].as_serialized_hlo_module_proto())
