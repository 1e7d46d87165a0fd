"""All rules, in the order in which people would look."""

from __future__ import annotations

from . import captured_constant, donation, memory, precision, rematerialise, sharding, sort
from .compiling import compile_time, recompile, unrolled_loop
from .device import gather, layout
from .host import dispatch_bound, input_bound, not_jitted, transfer, wait
from .rule import Rule

#: The rules that take the host's times from the run under the profiler.
HOST_RULES: tuple[Rule, ...] = (wait.RULE, not_jitted.RULE, input_bound.RULE, dispatch_bound.RULE, transfer.RULE)

RULES: tuple[Rule, ...] = (
    *(recompile.RULE, not_jitted.RULE, unrolled_loop.RULE, captured_constant.RULE),
    *(donation.RULE, rematerialise.RULE, precision.RULE, sort.RULE, layout.RULE, gather.RULE),
    *(wait.RULE, input_bound.RULE, dispatch_bound.RULE, transfer.RULE),
    *(sharding.RULE, compile_time.RULE, memory.RULE),
)
