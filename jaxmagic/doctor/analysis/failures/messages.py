"""Reads the messages of JAX's exceptions, which name the traced function, its arguments, and the leaves that differ.

The wording is that of JAX 0.7.2 to 0.12. A message in other words is not an error: its facts are unknown then.
"""

from __future__ import annotations

import re

from ....records.call_stack import Frame, is_users
from ...record.failing_code import Traced
from ...record.failure_kind import Kind

#: A longer message has its facts at the beginning; the rest prints values.
LONGEST = 20_000

#: The kinds of JAX's own exception types, and of the types derived from them.
_OF_TYPE: dict[str, Kind] = {
    "TracerBoolConversionError": "bool",
    "TracerIntegerConversionError": "index",
    "TracerArrayConversionError": "numpy",
    "NonConcreteBooleanIndexError": "mask",
    "ConcretizationTypeError": "number",
    "UnexpectedTracerError": "leak",
}

#: The beginning of an ``UnexpectedTracerError`` if a traced value is used after its function was traced.
_LEAK = "Encountered an unexpected tracer"

#: Built-in exceptions that JAX raises, by type and text.
_OF_TEXT: tuple[tuple[str, str, Kind], ...] = (
    ("TypeError", r"^Shapes must be 1D sequences of concrete values of integer type, got .*Tracer", "shape"),
    ("TypeError", r"^expected a sequence of integers or a single integer, got '.*Tracer", "shape"),
    ("IndexError", r"^(Slice entries must be static integers|Array slice indices must have static).*Tracer", "shape"),
    ("TypeError", r"^As of JAX v[\d.]+, parameters to jaxpr equations must have __hash__ .*Tracer", "number"),
    ("ValueError", r"^Non-hashable static arguments are not supported", "static"),
    ("TypeError", r"^\w+ body function carry input and carry output must have", "carry"),
    ("TypeError", r"^\w+ branch(es| outputs) must have", "branches"),
    ("FloatingPointError", r"^invalid value \((nan|inf)\) encountered in|\A\('.*', '(nan|inf)'\)\. Because ", "nan"),
    (
        "ValueError",
        r"^pytree structure error|\A.* specification must be a tree prefix of(?!.*the wrong length)",
        "pytree",
    ),
    ("ValueError", r"^Dict key mismatch; expected keys|^Expected (named )?\w+, got ", "pytree"),
    ("ValueError", r"^(List|Tuple|Custom node|Custom dataclass|Named tuple)[\w ]* mismatch: ", "pytree"),
    ("ValueError", r"^Mismatch custom node data: ", "pytree"),
    ("Exception", r"\ALeaked trace ", "leak"),
)

#: NumPy's names, and how JAX writes them in types.
_SHORT = {"bool": "bool", "float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def kind_of(types: list[str], text: str) -> Kind | None:
    """Return the kind of an exception, by the names of its class and its bases, and by its text.

    >>> kind_of(["TracerBoolConversionError", "ConcretizationTypeError"], "")
    'bool'
    """
    for each in types:
        kind = _OF_TYPE.get(each)
        if kind == "leak" and not text.startswith(_LEAK):  # an argument that has to be static, or a closure
            return None
        if kind is not None:
            return kind
    known = (kind for name, words, kind in _OF_TEXT if name == types[0] and re.search(words, text[:LONGEST], re.M))
    return next(known, None)


def is_about_leak(text: str) -> bool:
    """Return whether JAX says that a traced value is used, or still there, after its function was traced."""
    return text.startswith((_LEAK, "Leaked trace "))


def is_jax_file(file: str) -> bool:
    """Return whether a file is part of JAX."""
    path = file.replace("\\", "/")
    return "/jax/_src/" in path or "/jaxlib/" in path or "/site-packages/jax/" in path


def short_type(text: str) -> str:
    """Write a type as JAX does in short.

    >>> short_type("float32[3]"), short_type("bfloat16[2,4]"), short_type("bool[]"), short_type("str")
    ('f32[3]', 'bf16[2,4]', 'bool[]', 'str')
    """
    match = re.fullmatch(r"~?([a-z]+)(\d*)(\[.*\](?:\{.*\})?)", text)
    if match is None or match[1] not in _SHORT:
        return text
    return f"{_SHORT[match[1]]}{match[2]}{match[3]}"


def value_type(text: str) -> str | None:
    """Return the type of the traced value that a message is about.

    >>> value_type("Attempted boolean conversion of traced array with shape bool[].")
    'bool[]'
    """
    match = re.search(
        r"(?:traced array with shape|concrete; got|value with type|Tracer[(<](?:aval=)?) ?(~?\w+\[[\d, a-z@]*\])",
        text[:LONGEST],
    )
    return None if match is None else short_type(match[1])


#: What JAX writes for an argument of which it does not know the name, as inside ``jax.custom_vjp``.
UNNAMED = "unknown"

#: The function that was being traced, its file and line, and why.
_TRACED = re.compile(r"while tracing the function (.+) at (.+):(\d+) for ([\w /]+?)\. ")


def is_traced_by_jax(text: str) -> bool:
    """Return whether a function of JAX's own was being traced, such as one that the failing line calls.

    >>> is_traced_by_jax("while tracing the function _randint at /env/jax/_src/random.py:3 for jit. This")
    True
    """
    words = _TRACED.search(f"{text[:LONGEST]} ")
    return words is not None and is_jax_file(words[2])


def traced(text: str) -> Traced | None:
    """Return the function that was being traced, with the arguments on which the value depends.

    >>> traced("while tracing the function f at a.py:3 for jit. ... depends on the values of the arguments x and y.")
    Traced(function='f', file='a.py', line=3, transform='jit', arguments=('x', 'y'), unnamed=0)
    """
    text = text[:LONGEST]
    words = _TRACED.search(f"{text} ")
    if words is None:  # a leak says it in other words
        words = re.search(r"when the value leaked was (.+) at (.+):(\d+) traced for ([\w /]+?)\.\s", text)
    return None if words is None or is_jax_file(words[2]) else _traced(words, text)


def traced_of_jax(text: str) -> Traced | None:
    """Return the function that was being traced if it is one of JAX's own, as by ``jax.jit(jnp.sum)``."""
    text = text[:LONGEST]
    words = _TRACED.search(f"{text} ")
    return _traced(words, text) if words is not None and is_jax_file(words[2]) else None


def _traced(words: re.Match[str], text: str) -> Traced:
    depends = re.search(r"depends on the values? of the arguments? (.+)\.$", text, re.M)
    arguments = () if depends is None else _listed(depends[1])
    return Traced(
        function=words[1],
        file=words[2],
        line=int(words[3]),
        transform=words[4],
        arguments=tuple(each for each in arguments if each != UNNAMED),
        unnamed=arguments.count(UNNAMED),
    )


def _listed(text: str) -> tuple[str, ...]:
    """Split ``x, y['a, b'], and z`` at the commas between names."""
    names = [""]
    for part in re.findall(r"\[(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\]])*\]|, and | and |, |.", text):
        if part in (", and ", " and ", ", "):
            names.append("")
        else:
            names[-1] += part
    return tuple(filter(None, names))


def detail(kind: Kind, text: str) -> str | None:
    """Return what else a message says in a word.

    That is the function or argument that needs a number, the operation that returned NaN, the loop of a carry, the
    type of an unhashable argument, and the place where a leaked value was computed.
    """
    if kind == "leak":
        return next(reversed(created_at(text)), None)
    patterns = {
        "number": r"The problem arose with the `(\w+)` function|occurred in the (\w+)(?:\(\))? method|The (\w+)\(\) "
        r"method was called|(?:argument of|size argument of|in|the|arose for the first argument of) "
        r"((?:jnp|jax\.numpy)\.\w+)|(axis) argument must be|jit-compiling (jnp\.\w+)",
        "index": r"The (__index__)\(\) method",
        "nan": r"\((?:nan|inf)\) encountered in ([\w.]+)",
        "static": r"object of type <class '([\w.]+)'>",
        "carry": r"^(\w+) body function",
        "branches": r"^(\w+) branch",
    }
    match = re.search(patterns[kind], text[:LONGEST], re.M) if kind in patterns else None
    return None if match is None else next(filter(None, match.groups()), None)


def not_finite(text: str) -> str:
    """Return which value that is not finite an operation returned, ``"nan"`` or ``"inf"``; empty if it is not said.

    >>> not_finite("invalid value (nan) encountered in div")
    'nan'
    """
    found = re.search(r"\((nan|inf)\) encountered in|, '(nan|inf)'\)\. Because", text[:LONGEST])
    return "" if found is None else found[1] or found[2]


def holder(text: str) -> str:
    """Return the variable that holds a traced value, if ``jax.checking_leaks()`` names it; else nothing.

    >>> holder("Leaked trace T. Leaked tracer(s): <list 2> is referred to by __main__.cache")
    'cache'
    """
    found = re.search(r"is referred to by (?:[A-Za-z_]\w*\.)+([A-Za-z_]\w*)$", text[:LONGEST], re.M)
    return found[1] if found is not None and text.startswith("Leaked trace ") else ""


def created_at(text: str) -> tuple[str, ...]:
    r"""Return the lines of the user's that computed a leaked value, the innermost last; else that of a library.

    JAX names the five innermost calls outside of itself; before 0.8, those that led to the traced function as well.

    >>> said = "the value leaked was f at a.py:5 traced for jit.\nThe final 5 stack frames were:\nb.py:1 (main)\n"
    >>> created_at(f"function being traced when {said}a.py:7:2 (f)\nc.py:3 (g)\n")
    ('a.py:7', 'c.py:3')
    """
    text = text[:LONGEST]
    calls = re.findall(r"^(.*?):(\d+)(?::\d+)? \((.*)\)$", text.partition("stack frames")[2], re.M)
    frames = [Frame(function=function, file=file, line=int(line)) for file, line, function in calls]
    within = traced(text)
    begins = [
        at
        for at, each in enumerate(frames)
        if within is not None and (each.function.rpartition(".")[2], each.file) == (within.function, within.file)
    ]
    users = [f"{each.file}:{each.line}" for each in frames[begins[0] if begins else 0 :] if is_users(each)]
    return tuple(users or re.findall(r"created on line[:\s]+([^\n]*:\d+):\d+ \(", text)[:1])


def is_of_linen(text: str) -> bool:
    r"""Return whether a layer of ``flax.linen`` computed a leaked value, as a layer does that makes its parameters.

    >>> is_of_linen("The final 5 stack frames were:\nb.py:1 (main)\n/x/flax/linen/linear.py:26:1 (Dense.__call__)\n")
    True
    """
    frames = re.findall(r"^(.*?):\d+(?::\d+)? \(.*\)$", text[:LONGEST].partition("stack frames")[2], re.M)
    return bool(frames) and re.search(r"[/\\]flax[/\\]linen[/\\]", frames[-1]) is not None


def branches(text: str) -> tuple[str, str]:
    r"""Return which two branches differ, in JAX's words with the names of their functions; empty if it is not said.

    >>> said = "true_fun is grow at <stdin>:2\nfalse_fun is <lambda> at <stdin>:2\n\ntrue_fun output is a "
    >>> branches(said + "pytree leaf but false_fun output is a <class 'tuple'>, so their Python types differ.")
    ('true_fun (grow)', 'false_fun')
    """
    label = r"(true_fun|false_fun|branch ?\d+)"
    found = re.search(rf"(?m)^(?:  \* )?{label} output.* but {label} output", text)
    found = found or re.search(rf"he output of {label}.* the corresponding output of {label}", text)
    functions = dict(re.findall(rf"(?m)^{label} is (\w+) at ", text))
    first, other = ("", "") if found is None else found.groups()
    named = (f"{each} ({functions[each]})" if each in functions else each for each in (first, other))
    one, two = (re.sub(r"^branch ?", "branch ", each) for each in named)
    return one, two
