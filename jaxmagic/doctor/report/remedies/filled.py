"""Words the advice for a loop that fills arrays element by element."""

from __future__ import annotations

from ....terminal import printable


def filled(way: str, function: str, fills: str, *, written: bool) -> str:
    """Word how one call fills the arrays that a loop of Python fills element by element."""
    into = " and ".join(filter(None, printable(fills).rpartition(", ")[::2]))
    if way == "rows":
        need = f"No round of {loop_in(function)} needs what another one writes into {into}"
        how = "compute what all rounds write in one call of jax.vmap, inside one jitted function"
        then = "" if written else f", and write it into {into} at once"
    else:
        need = f"Rounds of {loop_in(function)} need what earlier ones computed"
        how = "let jax.lax.fori_loop run them, inside one jitted function"
        then = f", where {into} {'are' if ', ' in fills else 'is'} updated in place"
    unrolls = "" if written else " Jitted as it is, the loop would be unrolled."
    return f"{need}: {how}{then}.{unrolls}"


def loop_in(function: str) -> str:
    """Name the loop of a function, or of the code itself."""
    return f"the loop in {printable(function)}" if function else "the loop"
