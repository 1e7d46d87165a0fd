"""Finds what the code leaves changed, and copies that for each further run."""

from __future__ import annotations

import dis
import random
import re
import types
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ....records.note import note
from ....runtime.around import is_a, is_exactly
from ..changes import Snapshot, reach
from ..inputs import deleted
from .remedy import NotTried
from .tried_code import TriedCode
from .user_functions import all_codes, is_users_function

#: NumPy arrays of at most this many bytes in all are compared with what they were before.
_MOST_COMPARED_BYTES = 256 * 2**20

#: Kinds of plain values that an input may have inside.
_PLAIN = bool, int, float, complex, str, bytes, types.NoneType

_STORES = "STORE_GLOBAL", "DELETE_GLOBAL"


class Effects:
    """The objects that later runs of some code change.

    Args:
        read: the variables that it reads.
    """

    def __init__(self, read: Mapping[str, Any]) -> None:
        self._read = dict(read)
        self._snapshot = Snapshot(read)
        self._deleted = set(deleted(read))
        self._contents = dict(_contents(read))

    def changed(self) -> list[str]:
        """Return the paths of what has been changed, donated or deleted, and the variables that functions assign."""
        now = dict(_contents(self._read))
        rewritten = [path for path, content in self._contents.items() if now.get(path, content) != content]
        gone = [path for path in deleted(self._read) if path not in self._deleted]
        return list(dict.fromkeys([*gone, *self._snapshot.changed(), *rewritten, *_assigned(self._read)]))


def fresh_values(code: TriedCode, changed: list[str]) -> Callable[[], Mapping[str, Any]] | None:
    """Return what makes new copies of the variables that the code changes; ``None`` if it changes nothing.

    Raises:
        NotTried: something else than an input is changed, or an input cannot be copied.
    """
    read = code.read()
    names = list(dict.fromkeys(_root(path) for path in changed))
    for name, path in zip(map(_root, changed), changed, strict=True):
        if name not in read:
            raise NotTried(note("doctor.not_tried_effect", name=path))
    values = {name: read[name] for name in names}
    for name, value in values.items():
        if not _is_copyable(value):
            raise NotTried(note("doctor.not_tried_uncopied", name=name))
    return (lambda: {name: _copy(value) for name, value in values.items()}) if values else None


def random_states_kept(variables: Mapping[str, Any]) -> Callable[[], AbstractContextManager[None]]:
    """Return what makes a context that leaves random generators as they were: the global ones, and those reached.

    Args:
        variables: the variables that the code reads.
    """
    reached = [each.value for each in reach(variables)]
    generators = [each.bit_generator for each in reached if is_a(each, np.random.Generator)]
    legacy = [np.random, *(each for each in reached if is_a(each, np.random.RandomState))]
    plain = [random, *(each for each in reached if is_a(each, random.Random))]

    @contextmanager
    def kept() -> Iterator[None]:
        states = [each.state for each in generators]
        of_legacy, of_plain = [each.get_state() for each in legacy], [each.getstate() for each in plain]
        try:
            yield
        finally:
            for generator, state in zip(generators, states, strict=True):
                generator.state = state
            for old, state in zip(legacy, of_legacy, strict=True):
                old.set_state(state)
            for own, state in zip(plain, of_plain, strict=True):
                own.setstate(state)

    return kept


def _root(path: str) -> str:
    found = re.match(r"\w+", path)
    return path if found is None else found[0]


def _contents(variables: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield checksums of NumPy arrays, as long as there are not too many bytes."""
    left = _MOST_COMPARED_BYTES
    for each in reach(variables):
        if is_exactly(each.value, np.ndarray) and not each.value.dtype.hasobject:
            left -= each.value.nbytes
            if left < 0:
                return
            yield each.path, zlib.crc32(np.ascontiguousarray(each.value).tobytes())


def _assigned(variables: Mapping[str, Any]) -> Iterator[str]:
    """Yield the variables outside of functions that the functions assign."""
    for each in reach(variables):
        if is_users_function(each.value):
            own = each.value.__code__
            for code in all_codes(own):
                for step in dis.get_instructions(code):
                    of_closure = step.opname == "STORE_DEREF" and step.argval in own.co_freevars
                    if step.opname in _STORES or of_closure:
                        yield f"{step.argval} in {own.co_name}()"


def _is_copyable(value: Any) -> bool:
    import jax

    leaves = jax.tree.leaves(value)
    return all(
        (isinstance(each, jax.Array) and not each.is_deleted())
        or (is_exactly(each, np.ndarray) and not each.dtype.hasobject)
        or is_a(each, _PLAIN)
        for each in leaves
    )


def _copy(value: Any) -> Any:
    import jax

    return jax.tree.map(lambda each: each if is_a(each, _PLAIN) else each.copy(), value)
