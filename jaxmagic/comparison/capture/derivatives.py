"""A function and its derivatives, to be timed side by side.

As :func:`jax.grad` does, derivatives are with respect to the first argument. Where the function is jitted its
derivative is as well, because that is how people run it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ...runtime import private_api
from ...runtime.functions import is_jitted, name_of

#: What of a function is called.
Mode = Literal["forward", "grad", "value_and_grad"]

MODES: tuple[Mode, ...] = get_args(Mode)


class Moded(NamedTuple):
    """A candidate in one of the modes.

    Attributes:
        label: what it is called: in the first mode the candidate's own label, in others with the mode behind it.
        of: the candidate's label.
        mode: what of its function is called.
        like: the label of the one whose output it should have: the baseline's in the same mode. ``None`` where there
            is one mode only.
    """

    label: str
    of: str
    mode: Mode
    like: str | None


def in_modes(labels: Sequence[str], modes: Sequence[Mode], baseline: str | None = None) -> list[Moded]:
    """Each candidate in each mode.

    Raises:
        ValueError: a mode that is none, or one twice, or none at all.

    >>> [each.label for each in in_modes(["f", "g"], ["forward", "grad"])]
    ['f', 'f grad', 'g', 'g grad']
    """
    if not modes or len(set(modes)) < len(modes) or not set(modes) <= set(MODES):
        raise ValueError(
            f"modes: expected some of {', '.join(MODES)}, each once, got {', '.join(map(str, modes)) or 'none'}"
        )

    def named(label: str, mode: Mode) -> str:
        return label if mode == modes[0] else f"{label} {mode}"

    like = next((each for each in labels if baseline in [named(each, mode) for mode in modes]), None)
    like = like or next(iter(labels), "")
    found = [
        Moded(named(label, mode), label, mode, named(like, mode) if len(modes) > 1 else None)
        for label in labels
        for mode in modes
    ]
    names = [each.label for each in found]
    if len(set(names)) < len(names):
        raise ValueError(f"two candidates would be called {max(names, key=names.count)!r}. Give one another label")
    return found


def derivative(fn: Callable[..., Any], mode: Mode) -> Callable[..., Any]:
    """`fn` itself, or its derivative with respect to its first argument, with the same arguments static.

    Where `fn` returns more than one number, it is the derivative of the sum of all of them, as for a loss.

    >>> import jax.numpy as jnp
    >>> float(derivative(lambda x: x**2, "grad")(3.0)), float(derivative(jnp.sum, "grad")(jnp.ones(2))[0])
    (6.0, 1.0)
    """
    import jax

    if mode == "forward":
        return fn
    made: Callable[..., Any] = getattr(jax, mode)(_summed(fn))
    return jax.jit(made, **private_api.static_arguments(fn)) if is_jitted(fn) else made


class Differentiated:
    """Makes the derivative of a function once: calls after the first are calls of that.

    Args:
        mode: which one.
    """

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._made: Any = None

    def __call__(self, function: Callable[[], Any]) -> Any:
        """The derivative of what `function` gives, which is asked once: it may be another object every time."""
        if self._made is None:
            self._made = derivative(function(), self._mode)
        return self._made


def _summed(fn: Callable[..., Any]) -> Callable[..., Any]:
    import jax
    import jax.numpy as jnp

    def total(*args: Any, **kwargs: Any) -> Any:
        leaves = jax.tree.leaves(fn(*args, **kwargs))
        if len(leaves) == 1 and jnp.ndim(leaves[0]) == 0:
            return leaves[0]
        return sum(jnp.sum(each) for each in leaves if jnp.issubdtype(jnp.result_type(each), jnp.inexact))

    total.__name__ = name_of(fn).rpartition(".")[2]
    return total
