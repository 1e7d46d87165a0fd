"""All rules, in the order in which people would look."""

from __future__ import annotations

from . import compile_time, donation, memory, precision, recompile, rematerialise
from .rule import Rule

RULES: tuple[Rule, ...] = (
    recompile.RULE,
    compile_time.RULE,
    donation.RULE,
    rematerialise.RULE,
    memory.RULE,
    precision.RULE,
)
