"""Compiles a jitted function, and loads the program as JAX's persistent cache would in a later session."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .....records.note import note
from .....runtime.functions import name_of
from ....record.finding import RuleFinding
from ..remedy import Builds, NotTried
from ..tried_code import TriedCode
from .afresh import compile_afresh, lower_afresh
from .calls import jitted_calls


def propose(finding: RuleFinding, code: TriedCode) -> Builds:
    """Propose to load the program of the function that took longest to compile."""
    for call in jitted_calls(code):
        if name_of(call.function).rpartition(".")[2] == finding.found.facts.get("function"):
            break
    else:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    function, given = call.prepared(call.own or call.function)
    compile_ = partial(compile_afresh, function, given)
    load = _loads(compile_())

    def load_afresh() -> Callable[..., Any]:
        lower_afresh(function, given)  # the cache looks up what is lowered
        return load()

    notes = note("doctor.tried_loading"), note("doctor.tried_compile_time")
    passed = (call.values(given),)
    return Builds(compile_, load_afresh, (passed, passed), notes)


def _loads(program: Any) -> Callable[[], Callable[..., Any]]:
    """Return what loads a program once more, from what the cache would keep of it.

    Raises:
        NotTried: the program cannot be loaded so.
    """
    try:
        from jax.experimental import serialize_executable

        kept = serialize_executable.serialize(program)
        devices = program.runtime_executable().local_devices()
        load = partial(serialize_executable.deserialize_and_load, *kept, execution_devices=devices)
        load()
    except Exception:
        raise NotTried(note("doctor.not_tried_cache")) from None
    return load
