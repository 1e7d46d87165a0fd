"""All remedies that can be applied mechanically, by the rule that recommends them."""

from __future__ import annotations

from ....records.note import note
from ...record.finding import RuleFinding
from . import captured_constant, donation, memory, not_jitted, precision, recompile, rematerialise, sharding, transfer
from .remedy import NotTried, Remedy, Sizes
from .tried_code import TriedCode

#: Remedies that compile something before anything is measured.
COMPILING = "donation", "rematerialise", "captured-constant", "memory"


def _with_cache(finding: RuleFinding, code: TriedCode) -> Sizes:
    raise NotTried(note("doctor.not_tried_cache"))


REMEDIES: dict[str, Remedy] = {
    "recompile": recompile.propose,
    "compile-time": _with_cache,
    "not-jitted": not_jitted.propose,
    "transfer": transfer.propose,
    "sharding": sharding.propose,
    "donation": donation.propose,
    "rematerialise": rematerialise.propose,
    "captured-constant": captured_constant.propose,
    "precision": precision.propose,
    "memory": memory.propose,
}
