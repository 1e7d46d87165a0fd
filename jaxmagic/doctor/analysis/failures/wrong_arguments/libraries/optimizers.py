"""Explains optimizers of Optax and flax.nnx that are used as those of PyTorch, and losses of wrong dtypes."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ...expression import before_dot, expression_of
from ..explained import Explained, Rule
from ..operands import fact, shortened


def explain_optimizer(failure: Failure) -> Explained:
    """Explain an update without parameters or state, and a method that no optimizer of Optax has."""
    failing, method = expression_of(failure), fact(failure, "method")
    called = "" if failing is None else failing.called or ""
    optimizer = shortened(called.rpartition(".")[0]) if called.endswith(".update") else "optimizer"
    problem = "method" if method else "params" if fact(failure, "params") else "other state"
    if fact(failure, "no_state"):
        problem = "state"
    found = note("doctor.error_optimizer", problem=problem, method=method)
    return Explained(found, note("doctor.write_optimizer", problem=problem, optimizer=optimizer))


def explain_nnx_optimizer(failure: Failure) -> Explained:
    """Explain an optimizer of flax.nnx that does not get all that it needs since Flax 0.11."""
    failing, wrt = expression_of(failure), fact(failure, "missing") == "wrt"
    node = None if failing is None else failing.node
    code = None
    if wrt and failing is not None and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        kept = ast.Attribute(node.func.value, "Param", ast.Load())
        node.keywords.append(ast.keyword(arg="wrt", value=kept))
        code = failing.with_node(node)
    found = note("doctor.error_nnx_optimizer", missing=fact(failure, "missing"))
    return Explained(found, note("doctor.write_nnx_optimizer", wrt=wrt), code)


def explain_loss_dtype(failure: Failure) -> Explained:
    """Explain a loss of Optax that gets floats for labels that are integers, or integers for floats."""
    failing, wanted = expression_of(failure), fact(failure, "wanted")
    called, node = ("", None) if failing is None else (failing.called or "", failing.node)
    text = array = ""
    if isinstance(node, ast.Call) and called.endswith("with_integer_labels"):
        place, parameter = (1, "labels") if wanted == "integer" else (0, "logits")
        named = [each.value for each in node.keywords if each.arg == parameter]
        given = next(iter(named or node.args[place : place + 1]), None)
        text = array = "" if given is None else ast.unparse(given)
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "astype":
            array = ast.unparse(given.func.value)
    found = note(
        "doctor.error_loss_dtype",
        called=called,
        argument=shortened(text),
        dtype=fact(failure, "dtype"),
        wanted=wanted,
    )
    new = f"{before_dot(array) or 'labels'}.astype(int)"
    return Explained(found, note("doctor.write_loss_dtype", converted=new if wanted == "integer" else ""))


#: The functions of Optax around the update functions that Python names where they get no state.
_MAKERS = r"(?:chain|named_chain|scale\w*|clip\w*|add_\w+|identity|trace|masked|partition|apply_\w+)"

#: The messages that are explained here, in the words of Optax and Flax.
# fmt: off
RULES = (
    Rule("ValueError", "optimizer", explain_optimizer,
        r"You are using a transformation that requires the current value of (?P<params>parameters)"),
    Rule("ValueError", "optimizer", explain_optimizer,
        r"The number of updates and (?P<state>states) has to be the same in chain"),
    Rule("AttributeError", "optimizer method", explain_optimizer,
        r"'GradientTransformation(?:ExtraArgs)?' object has no attribute '(?P<method>\w+)'"),
    Rule("TypeError", "optimizer method", explain_optimizer,
        rf"{_MAKERS}\.<locals>\.update(?:_fn)?\(\) missing \d required positional arguments?: [^\n]*"
        r"'(?P<no_state>state)'"),
    Rule("TypeError", "loss dtype", explain_loss_dtype,
        r"Expected the input to have a dtype that is a subdtype of <class '[\w.]*\.(?P<wanted>integer|floating)'>, "
        r"got (?P<dtype>\w+) instead"),
    Rule("TypeError", "nnx optimizer", explain_nnx_optimizer,
        r"Missing required argument `(?P<missing>wrt|grads)`"),
)
# fmt: on
