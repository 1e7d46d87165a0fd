"""All rules, in the order in which people would look."""

from __future__ import annotations

from . import compile_time, recompile
from .host import dispatch_bound, input_bound, not_jitted, transfer, wait
from .rule import Rule

RULES: tuple[Rule, ...] = (
    recompile.RULE,
    compile_time.RULE,
    *(wait.RULE, not_jitted.RULE, dispatch_bound.RULE, input_bound.RULE, transfer.RULE),
)
