"""A jitted call while nothing is measured: is it any slower because of us?

Before the first loading comes first, of necessity; the other states take turns.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter_ns as clock
from typing import Any

import jax
import jax.numpy as jnp
from shell import Shell

_CALLS = 500

#: What brings the session into each state from the one before it.
STATES = {
    "before %load_ext": (),
    "loaded": ("%load_ext jaxmagic",),
    "loaded, after a %jaxtime": ("%jaxtime -q f(x)",),
    "after %unload_ext": ("%unload_ext jaxmagic",),
}


def main(rounds: int) -> dict[str, list[float]]:
    """Nanoseconds of a call in each state, one mean of many calls for each round."""
    shell = Shell()
    function, argument = jax.jit(lambda x: x + 1), jnp.ones(8)
    shell.ip.user_ns.update(f=function, x=argument)
    first, *others = STATES
    for _ in range(5):
        _one_call_ns(function, argument)
    found = {state: [] for state in STATES}
    found[first] = [_one_call_ns(function, argument) for _ in range(rounds)]
    for _ in range(rounds):
        for state in others:
            for cell in STATES[state]:
                shell.run(cell)
            _one_call_ns(function, argument)
            found[state].append(_one_call_ns(function, argument))
    return found


def _one_call_ns(function: Any, argument: Any) -> float:
    start = clock()
    for _ in range(_CALLS):
        function(argument).block_until_ready()
    return (clock() - start) / _CALLS


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
