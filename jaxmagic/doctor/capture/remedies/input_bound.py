"""Replays batches that a loader has already given, as if loading took no time."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....records.note import note
from ....runtime.around import is_a, is_exactly
from ...record.finding import RuleFinding
from .function_copies import module_with
from .remedy import Change, NotTried, names_given
from .transfer import seen_variables
from .tried_code import TriedCode

#: Loaders that begin more often in a run, or have batches of more shapes, are not replayed.
_MOST_PASSES = 1000
_MOST_SHAPES = 16


def propose(finding: RuleFinding, code: TriedCode) -> Change:
    """Propose loaders that give the first batch of each shape again and again."""
    replay = _Replay()
    seen = seen_variables(code.read())
    replacements = {}
    for name in names_given(finding):
        root, *path = name.removesuffix("()").split(".")
        stand_in = _stand_in(seen.get(root), path, name.endswith("()"), replay)
        if stand_in is not None:
            replacements[id(seen[root])] = stand_in
    if not replacements:
        raise NotTried(note("doctor.not_mechanical", rule=finding.rule))
    return Change(replacements, context=replay.run, used=lambda: replay.hits > 0, ceiling=True)


def _stand_in(value: Any, path: list[str], called: bool, replay: _Replay) -> Any:
    """Return what stands in place of an object whose part at a path is the loader, or is called to make it.

    ``None`` if it cannot be replaced: items that exist already, and iterators, which a run changes.
    """
    if path:
        inner = _stand_in(getattr(value, path[0], None), path[1:], called, replay)
        if inner is None:
            return None
        if is_a(value, types.ModuleType):
            return module_with(value, **{path[0]: inner})
        return _Same(value, {path[0]: inner})
    if called:
        return replay.made_by(value) if callable(value) else None
    return _Loader(value, replay) if _is_loader(value) and not hasattr(type(value), "__next__") else None


def _is_loader(value: Any) -> bool:
    """Return whether batches are made while it is iterated over."""
    there = is_exactly(value, list, tuple, dict, set, str, range) or hasattr(type(value), "dtype")
    return not there and (hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__"))


class _Same:
    """An object some of whose attributes are other ones."""

    def __init__(self, original: Any, others: dict[str, Any]) -> None:
        self.__dict__.update(others)
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __len__(self) -> int:
        return len(self._original)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._original)


class _Loader(_Same):
    """A loader whose batches are noted in the first run, and replayed later."""

    def __init__(self, original: Any, replay: _Replay) -> None:
        super().__init__(original, {})
        self._replay = replay
        self._begun: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self._replay.batches(self._original)

    def __next__(self) -> Any:
        if self._begun is None:
            self._begun = iter(self)
        return next(self._begun)


class _Replay:
    """The batches of the first run: how many of which shape each pass over a loader gave.

    Loaders and passes are known by their order in a run. The first run is that of the loaders themselves.

    Attributes:
        hits: how many passes were replayed.
    """

    def __init__(self) -> None:
        self.hits = 0
        self._loaders: list[Any] = []
        self._passes: list[list[Any]] = []
        self._firsts: dict[Any, Any] = {}
        self._made = self._begun = self._runs = 0

    @contextmanager
    def run(self) -> Iterator[None]:
        """Make a context for each run."""
        self._made = self._begun = 0
        self._runs += 1
        yield

    def made_by(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Stand in for a function that makes a loader, which is called in the first run only."""

        def made(*args: Any, **kwargs: Any) -> Any:
            number, self._made = self._made, self._made + 1
            if self._runs == 1:
                self._loaders.append(make(*args, **kwargs))
            if number >= min(len(self._loaders), _MOST_PASSES) or not _is_loader(self._loaders[number]):
                raise NotTried(note("doctor.not_replayed"))
            return _Loader(self._loaders[number], self)

        return made

    def batches(self, loader: Any) -> Iterator[Any]:
        """Return the batches of a pass that begins now."""
        number, self._begun = self._begun, self._begun + 1
        if self._runs == 1:
            self._passes.append([])
        if number >= min(len(self._passes), _MOST_PASSES):
            raise NotTried(note("doctor.not_replayed"))
        given = self._passes[number]
        return self._noted(iter(loader), given) if self._runs == 1 else self._again(given)

    def _noted(self, batches: Iterator[Any], given: list[Any]) -> Iterator[Any]:
        for each in batches:
            shapes = _shapes(each)
            if shapes not in self._firsts:
                if len(self._firsts) >= _MOST_SHAPES:
                    raise NotTried(note("doctor.not_replayed"))
                self._firsts[shapes] = _kept(each)
            given.append(shapes)
            yield each

    def _again(self, given: list[Any]) -> Iterator[Any]:
        import jax

        self.hits += 1
        for shapes in given:
            yield jax.tree.map(lambda each: each, self._firsts[shapes])  # containers that the code may change


def _kept(batch: Any) -> Any:
    """Return a batch whose containers and NumPy arrays are not the code's own, and in which no array is written to.

    If the code changes its batches in place, the second round would have other values, which may take other times.
    """
    import jax

    def fixed(value: Any) -> Any:
        if is_exactly(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        return value

    return jax.tree.map(fixed, batch)


def _shapes(batch: Any) -> Any:
    """Return what batches have in common that take the same program: the pytree, with shapes and types."""
    import jax

    leaves, tree = jax.tree.flatten(batch)
    return tree, tuple(
        (type(each), str(getattr(each, "shape", "")), str(getattr(each, "dtype", ""))) for each in leaves
    )
