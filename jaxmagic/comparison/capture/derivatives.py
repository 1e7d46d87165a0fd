"""Makes derivatives of functions, to time them side by side.

As in :func:`jax.grad`, derivatives are with respect to the first argument. If the function is jitted, so is its
derivative, because that is how it is usually run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ...runtime import private_api
from ...runtime.functions import is_jitted, name_of

#: What to call: the function itself or one of its derivatives.
Mode = Literal["forward", "grad", "value_and_grad"]

MODES: tuple[Mode, ...] = get_args(Mode)


class Moded(NamedTuple):
    """A candidate in one of the modes.

    Attributes:
        label: its label: the candidate's own in the first mode, followed by the mode in the others.
        of: the candidate's own label.
        mode: whether to call the function or a derivative.
        like: the label of the baseline in the same mode, whose output it should have. ``None`` if there is only one
            mode.
    """

    label: str
    of: str
    mode: Mode
    like: str | None


def in_modes(
    labels: Sequence[str],
    given: Sequence[Mode] | Mode,
    baseline: str | None = None,
    write: str = "modes=('forward', 'grad')",
) -> list[Moded]:
    """Combine each candidate with each mode; an error says what to `write`.

    Raises:
        ValueError: a mode is unknown or repeated, or there is none, or two labels would be the same.

    >>> [each.label for each in in_modes(["f", "g"], ["forward", "grad"])]
    ['f', 'f grad', 'g', 'g grad']
    """
    modes: Sequence[Any] = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not modes or any(mode not in MODES or modes.count(mode) > 1 for mode in modes):
        raise ValueError(
            f"modes: expected some of {', '.join(MODES)}, each once, got {', '.join(map(repr, modes)) or 'none'}. "
            f"Write for example {write}"
        )

    def named(label: str, mode: Mode) -> str:
        return label if mode == modes[0] else f"{label} {mode}"

    like = next((each for each in labels if baseline in [named(each, mode) for mode in modes]), None)
    like = like or next(iter(labels), "")
    moded = [
        Moded(named(label, mode), label, mode, named(like, mode) if len(modes) > 1 else None)
        for label in labels
        for mode in modes
    ]
    names = [each.label for each in moded]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise ValueError(f"modes: expected different labels, got {twice!r} twice. Rename one of the candidates")
    return moded


def derivative(fn: Callable[..., Any], mode: Mode) -> Callable[..., Any]:
    """Return `fn`, or its derivative with respect to its first argument, with the same static arguments.

    If `fn` returns more than one number, it is the derivative of their sum, as for a loss.

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
    """Makes the derivative of a function at the first call, and returns the same object from then on.

    Args:
        mode: which derivative.
    """

    def __init__(self, mode: Mode) -> None:
        self._mode = mode
        self._made: Any = None

    def __call__(self, function: Callable[[], Any]) -> Any:
        """Return the derivative of the function that `function` returns. That may be a new object at each call."""
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
