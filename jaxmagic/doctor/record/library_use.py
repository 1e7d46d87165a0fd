"""Declares libraries around JAX, and what is known about them in a failing call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Libraries with modules that hold more than arrays, and a jit of their own that takes them.
ModuleLibrary = Literal["equinox", "nnx"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An attribute of an object that holds something else than data, or what is an input by another name.

    Attributes:
        name: its name.
        home: the module of the class of what it holds, such as ``"optax._src.base"``; for classes of the user's, that
            of the nearest base class of a library, or ``"builtins"``.
        public: for a function of a library, its dotted path; empty for anything else.
        same_as: the path of the input that is the same array or container; empty if none is.
    """

    name: str
    home: str
    public: str = ""
    same_as: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A Python value that the user passes to a jitted function, and that arrives unchanged at the failing line.

    Attributes:
        function: the jitted function as it is written at the call, such as ``"jax.jit(model.apply)"``.
        argument: the parameter, or the argument as it is written if the parameter has no name.
        option: the option of jit that makes it static, such as ``"static_argnums=2"``.
        type: its Python type.
        jit: the code that jits the function: a decorator, an assignment, or the statement with the call, as in
            ``y = jax.jit(f)(x)``; empty if unknown.
    """

    function: str
    argument: str
    option: str
    type: str
    jit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleUse:
    """A module of a library that the failing call gets, with leaves that JAX cannot take.

    Attributes:
        library: its library.
        name: the name that the user's code has for the library, such as ``"eqx"``.
        text: the module as it is written; empty if it is only a part of an argument.
        transform: the function of JAX that is called, such as ``"grad"``; empty if it is unknown.
        filtered: the library's functions in place of JAX's, such as ``("eqx.filter_grad",)``; empty if it has none.
        call: the call with these functions; ``None`` if it is not known how to write it.
        as_function: whether the module is the function that JAX gets, and not one of the arguments.
        as_arrays: whether each leaf has to be an array, as in ``optimizer.init(model)``; `call` passes its arrays.
    """

    library: ModuleLibrary
    name: str
    text: str = ""
    transform: str = ""
    filtered: tuple[str, ...] = ()
    call: str | None = None
    as_function: bool = False
    as_arrays: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchUse:
    """A call of a layer of Equinox, which takes one example, with a batch of them.

    Attributes:
        layer: the class of the layer, such as ``"Linear"``.
        takes: the size of the last axis that it takes.
        given: the shape that it gets.
        module: the called module as it is written.
        mapped: the call mapped over the leading axes; ``None`` if it is not known how to write it.
        owner: the class of the module that the layer is a part of, if the code there maps nothing; else empty.
        whole: the call of this module, mapped over the leading axes; empty if it is not known how to write it.
        location: where that call is.
    """

    layer: str
    takes: int
    given: tuple[int, ...]
    module: str
    mapped: str | None = None
    owner: str = ""
    whole: str = ""
    location: str = ""
