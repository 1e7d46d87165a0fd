"""Declares what is known about libraries around JAX in a failing call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A Python value that the user passes to a jitted function, and that arrives unchanged at the failing line.

    Attributes:
        function: the jitted function as it is written at the call, such as ``"jax.jit(model.apply)"``.
        argument: the parameter, or the argument as it is written if the parameter has no name.
        option: the option of jit that makes it static, such as ``"static_argnums=2"``.
        type: its Python type.
    """

    function: str
    argument: str
    option: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleUse:
    """A module of a library, which the failing call gets or is.

    Attributes:
        library: its library.
        name: the name that the user's code has for the library, such as ``"eqx"``.
        text: the module as it is written; empty if it is only a part of an argument.
        transform: the function of JAX that is called, such as ``"grad"``; empty if it is unknown.
        layer: the class of the layer that gets a whole batch; empty if none does.
        takes: the shape of the one example that this layer takes.
        given: the shape of the batch.
        mapped: the call of the module mapped over the batch; ``None`` if it is not known how to write it.
    """

    library: Literal["equinox", "nnx"]
    name: str
    text: str = ""
    transform: str = ""
    layer: str = ""
    takes: str = ""
    given: str = ""
    mapped: str | None = None
