"""All rules, in the order in which people would look."""

from __future__ import annotations

from . import captured_constant, compile_time, recompile, unrolled_loop
from .host import dispatch_bound, input_bound, not_jitted, transfer, wait
from .rule import Rule

RULES: tuple[Rule, ...] = (
    recompile.RULE,
    *(not_jitted.RULE, wait.RULE, dispatch_bound.RULE, input_bound.RULE, transfer.RULE),
    *(unrolled_loop.RULE, captured_constant.RULE, compile_time.RULE),
)
