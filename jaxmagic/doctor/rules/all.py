"""All rules, in the order in which people would look."""

from __future__ import annotations

from . import captured_constant, compile_time, recompile, unrolled_loop
from .rule import Rule

RULES: tuple[Rule, ...] = (recompile.RULE, compile_time.RULE, unrolled_loop.RULE, captured_constant.RULE)
