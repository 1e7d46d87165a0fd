"""Words how to create a function once that is re-created, and compiles each time."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable


def _each(names: str, shapes: str = "", static: str = "", optimizers: str = "", optimizer: str = "") -> str:
    """Word how to make one function for each value, or one for all: an optimizer is another one each time."""
    others = ", ".join(each for each in names.split(", ") if each not in optimizers.split(", "))
    if optimizers:
        first = (
            f"Make {printable(optimizers)} once, outside, and define and jit the function once, after that. "
            f"{_learning_rate(printable(optimizer))}"
        )
    else:
        first = (
            f"Define and jit one function for each value of {printable(names)}, outside the loop or the cell that "
            "runs again, and keep them in a dictionary if there are several: a single function would keep the first "
            "value."
        )
    declared = _declared(others, static, "it is not an array", "are not arrays")
    passed = f" {'Pass' if optimizers else 'Or pass'} {printable(others)} as {_arguments(others)}. {declared}"
    return f"{first}{passed if others else ''}{_for_shapes(shapes)}"


def _declared(names: str, static: str, one: str, several: str) -> str:
    """Word which of the names to declare static: those that jit cannot trace, and others under a condition."""
    known = dict(each.split(": ") for each in static.split(", ") if each)
    rest = [printable(each) for each in names.split(", ") if each not in known]
    words = [_static(static)] if known else []
    if rest[1:]:
        declare = f"Of {', '.join(rest)}, declare" if known else "Declare"
        words.append(f"{declare} those static that {several}.")
    elif rest:
        words.append(f"Declare {rest[0] if known else 'it'} static if {one}.")
    return " ".join(words)


def _static(static: str) -> str:
    """Word that some arguments have to be static, because jit traces nothing of their kinds."""
    known = [each.split(": ") for each in static.split(", ")]
    each = [f"{printable(name)} is a {kind}" for name, kind in known]
    quoted = ", ".join(f'"{printable(name)}"' for name, _ in known)
    what = " and ".join(filter(None, [", ".join(each[:-1]), each[-1]]))
    them, written = ("them", f"({quoted})") if known[1:] else ("it", quoted)
    again = " Pass the same function each time: a new one compiles again."
    return (
        f"{what}, so declare {them} static: static_argnames={written}."
        f"{again if any(kind == 'function' for _, kind in known) else ''}"
    )


def _for_shapes(names: str) -> str:
    """Say that a function compiles for each shape of its arguments, however often it is made."""
    if not names:
        return ""
    of = "its arguments" if names.count(", ") > 1 else printable(names)
    return (
        f" Even then, the function compiles once for each shape of {of}: if that takes long, pad to a few "
        "shapes, and mask the padding where the result depends on it."
    )


def _objects(
    function: str,
    names: str,
    objects: str,
    vary: int,
    optimizer: str,
    optimizers: int,
    shapes: str = "",
    static: str = "",
) -> str:
    """Word how to make static parts of arguments once, and the function with them."""
    parts = printable(objects)
    outside = "make it once, outside" if optimizers or "." in objects else "make what is static in it once, outside"
    if ", " in objects:
        outside = "make what is static in them once, outside"
    if function:
        given = f", with {printable(names)} as {_arguments(names)}" if names else ""
        first = (
            f"Define and jit {printable(function)} once, outside{given}. That alone is not enough, because JAX "
            f"compiles for each new {parts}: {outside} as well."
        )
    else:
        first = f"JAX compiles for each new {parts}: {outside}."
    if optimizers:
        first += f" {_learning_rate(printable(optimizer))}"
    elif vary:
        first += " If its values differ, make one for each and keep it: each of them needs a program of its own."
    return f"{first}{f' {_static(static)}' if static else ''}{_for_shapes(shapes)}"


def _learning_rate(optimizer: str) -> str:
    """Word how one optimizer serves several learning rates."""
    return (
        f"For several learning rates, make it of optax.inject_hyperparams({optimizer or 'optax.adam'})"
        '(learning_rate=0.0), and set hyperparams["learning_rate"] of its state to jnp.asarray(rate, jnp.float32), '
        "or with the dtype that it has there: without a dtype, the array is weakly typed, and the function compiles "
        "once more. Or make the optimizer inside the jitted function, which takes the rate as an array."
    )


def _arguments(names: str) -> str:
    return "arguments" if "," in names else "an argument"


def _pass(names: str, shapes: str = "", static: str = "") -> str:
    needed = "a shape or a Python if depends on"
    return (
        f"Define and jit it once, outside, and pass {printable(names)} as {_arguments(names)}. "
        f"{_declared(names, static, f'{needed} it', needed)}{_for_shapes(shapes)}"
    )


def _in_library(library: str, static: int = 0, shapes: str = "") -> str:
    """Word how to call a library that makes functions anew; its objects keep results, which jit must not leak."""
    who = printable(library) or "The library that this line calls"
    if static:
        return (
            f"{who} makes a function anew in each call, and jits with it as a static argument. Put the call, and the "
            "making of the object whose method it is, into a function of your own that is jitted once, with its "
            "arrays as arguments. That works if jit can compile what the library does. The first call then compiles "
            "all of it as one program, which may take longer than a call takes now. So this pays off only if you "
            "call the function several times in a session."
        )
    return (
        f"{who} makes this function anew in each call. Put the call into a function of your own that is jitted once, "
        f"and pass its arrays as arguments.{_for_shapes(shapes)}"
    )


def _method(method: str, names: str, others: str = "", objects: str = "", reads: int = 1, shapes: str = "") -> str:
    owner, _, name = map(printable, method.partition("."))
    if not reads:
        given = f", with {printable(others)} as {_arguments(others)}" if others else ""
        return (
            f"{name} reads nothing of {owner}. Define and jit it once{given}, as a function outside the class."
            f"{_for_shapes(shapes)}"
        )
    every = ", ".join(filter(None, [names, others]))
    given = f"{printable(every)} as {_arguments(every)}"
    if not names:
        given = f"what {name} reads of {owner}{f', and {printable(others)},' if others else ''} as arguments"
    them = "those of them static that are not pytrees" if ", " in objects else "it static if it is not a pytree"
    static = f" It calls methods of {printable(objects)}: declare {them} of arrays." if objects else ""
    return (
        f"Define and jit one function that gets {given}, outside the class.{static} A method that is jitted once, as "
        f"in __init__, would keep the values that {owner} has then.{_for_shapes(shapes)}"
    )


def _own_equality(argument: str, shapes: str = "") -> str:
    return (
        f"No {printable(argument)} of an earlier run was equal to this one. Pass the same object in every run, or "
        "let its __eq__ and __hash__ compare only what decides the program. Pass numbers that vary as arrays."
        f"{_for_shapes(shapes)}"
    )


CREATED_ONCE: dict[str, Callable[..., str]] = {
    "recompile_remedy": lambda remedy, shapes="": (
        f"{printable(remedy[:1].upper() + remedy[1:])}.{_for_shapes(shapes)}"
    ),
    "recompile_in_library": _in_library,
    "recompile_own_equality": _own_equality,
    "recompile_once": lambda: (
        "It is a new function each time. Define and jit it once, outside; or jit the whole transformation, once and "
        "outside as well: jax.jit(jax.grad(f)), jax.jit(jax.value_and_grad(f))."
    ),
    "recompile_pass": _pass,
    "recompile_kept": lambda names, random, shapes="": (
        f"Each time that JAX traces it, it reads {printable(names)} again. Jitted once, it would keep what it read "
        "first. Define and jit it once, outside, and pass what changes as an argument"
        f"{'; for random numbers, a key of jax.random' if random else ''}.{_for_shapes(shapes)}"
    ),
    "recompile_effects": lambda names, shapes="": (
        f"Define and jit it once, outside. It then changes {printable(names)} only when JAX traces it."
        f"{_for_shapes(shapes)}"
    ),
    "recompile_each": _each,
    "recompile_method": _method,
    "recompile_objects": _objects,
}
