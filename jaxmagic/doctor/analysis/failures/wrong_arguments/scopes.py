"""Explains modules of flax.linen that are called, applied or written against its rules."""

from __future__ import annotations

import ast

from .....records.note import Note, note
from ....record.failure import Failure
from ..expression import expression_of, spelled
from ..static_values import CALL
from .explained import Explained, Rule
from .operands import fact, shortened

#: Options of layers that are set for evaluation.
_OF_EVALUATION = "deterministic|use_running_average"

#: Letters of a call that is written out.
_LONGEST = 100


def explain_unbound(failure: Failure) -> Explained:
    """Explain a module that is called, or whose parts are used, without parameters."""
    failing, attribute = expression_of(failure), fact(failure, "attribute")
    node = None if failing is None else failing.node
    function = failure.stack[-1].function if failure.stack else ""
    in_method = "self" in failure.parameters
    module, arguments, method = "model", "x", ""
    if attribute:
        found = note("doctor.error_no_setup", attribute=attribute, module=fact(failure, "module"))
        method = function if in_method and function != "__call__" else ""
    else:
        if isinstance(node, ast.Call):
            module = ast.unparse(node.func)
            arguments = ", ".join(ast.unparse(each) for each in (*node.args, *node.keywords)) or "x"
        found = note("doctor.error_unbound", module=shortened(module))
    remedy = note(
        "doctor.write_applied",
        module=shortened(module),
        arguments=shortened(arguments),
        method=method,
        inside=in_method and not attribute,
    )
    return Explained(found, remedy)


def explain_submodule(failure: Failure) -> Explained:
    """Explain a submodule that is made outside of ``setup()`` and of compact methods."""
    function = failure.stack[-1].function if failure.stack else ""
    name = function if function.isidentifier() else ""
    found = note("doctor.error_submodule", layer=fact(failure, "layer"), function=name)
    return Explained(found, note("doctor.write_submodule", layer=fact(failure, "layer"), function=name))


def explain_variables(failure: Failure) -> Explained:
    """Explain variables that a module needs, and that are not passed."""
    layer, name, collection = _layer(failure), fact(failure, "name"), fact(failure, "collection")
    if fact(failure, "empty"):
        found = note("doctor.error_no_collection", layer=layer, name=name, collection=collection)
        code = _with_collection(failure, collection)
        return Explained(found, note("doctor.write_collection", collection=collection), code, _applied_at(failure))
    found = note("doctor.error_no_variable", layer=layer, name=name, collection=collection or "params")
    return Explained(found, note("doctor.write_variable"), None, _applied_at(failure))


def _applied_at(failure: Failure) -> tuple[Note, ...]:
    """Return a note on the call through which the module gets its variables."""
    code, location = fact(failure, "applied"), fact(failure, "applied at")
    return (note("doctor.error_applied_at", code=code, location=location),) if code else ()


def _applied(failure: Failure) -> ast.Call | None:
    """Return the call of ``apply()``; ``None`` if it is unknown."""
    node = ast.parse(fact(failure, "applied") or "None", mode="eval").body
    return node if isinstance(node, ast.Call) else None


def _with_collection(failure: Failure, collection: str) -> str | None:
    """Return the call of ``apply()`` with a collection beside the parameters, if some variable holds it."""
    node, held = _applied(failure), fact(failure, "held")
    variables = node.args[0] if node is not None and node.args else None
    if node is None or not isinstance(variables, ast.Dict) or not variables.keys or not held:
        return None
    if not all(isinstance(each, ast.Constant) and each.value != collection for each in variables.keys):
        return None
    variables.keys.append(ast.Constant(value=collection))
    variables.values.append(ast.parse(held, mode="eval").body)
    target = fact(failure, "assigned")
    return f"{target} = {ast.unparse(node)}" if target else f"{CALL}\n{ast.unparse(node)}"


def _with_mutable(failure: Failure, collection: str) -> str | None:
    """Return the call of ``apply()`` that updates a collection, and returns it beside the output."""
    node, target, free = _applied(failure), fact(failure, "assigned"), fact(failure, "free")
    if node is None or any(each.arg in ("mutable", None) for each in node.keywords) or not free:
        return None
    names = ast.List([ast.Constant(value=collection)], ast.Load())
    node.keywords.append(ast.keyword(arg="mutable", value=names))
    output = f"({target})" if "," in target else target
    return f"{output}, {free} = {ast.unparse(node)}" if target else f"{CALL}\n{ast.unparse(node)}"


def _layer(failure: Failure) -> str:
    return fact(failure, "scope").strip("/")


def explain_nested(failure: Failure) -> Explained:
    """Explain ``{"params": variables}`` where the variables have a key ``"params"`` themselves."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    code, flat, passed, named = None, bool(fact(failure, "flat")), "", ""
    if failing is not None and isinstance(node, ast.Call) and node.args:
        match node.args[0]:
            case ast.Dict(keys=[ast.Constant(value="params")], values=[value]):
                node.args[0] = value
                code = failing.with_node(node)
            case ast.Dict() | ast.Starred():
                pass
            case variables if flat:
                passed = ast.unparse(variables)
                inputs = [f'{{"params": {passed}}}', *map(ast.unparse, (*node.args[1:], *node.keywords))]
                named = f"{ast.unparse(node.func)}({', '.join(inputs)})"
    remedy = note("doctor.write_flat_variables", passed=shortened(passed), named=shortened(named, _LONGEST))
    return Explained(note("doctor.error_nested_variables", flat=flat), remedy, code)


def explain_immutable(failure: Failure) -> Explained:
    """Explain a variable that a module updates in a collection that ``apply()`` keeps as it is."""
    collection = fact(failure, "collection")
    found = note(
        "doctor.error_collection_kept", layer=_layer(failure), name=fact(failure, "name"), collection=collection
    )
    remedy = note("doctor.write_mutable", collection=collection)
    return Explained(found, remedy, _with_mutable(failure, collection), _applied_at(failure))


def explain_module_key(failure: Failure) -> Explained:
    """Explain a key that a module does not get."""
    layer, name = fact(failure, "layer"), fact(failure, "name")
    if name:
        return Explained(
            note("doctor.error_no_module_key", layer=layer, name=name), note("doctor.write_module_key", name=name)
        )
    failing = expression_of(failure)
    called = "" if failing is None else failing.called or ""
    first = called.rpartition(".")[2] in ("init", "init_with_output")
    return Explained(
        note("doctor.error_init_key", init=first),
        note(
            "doctor.write_init_key",
            called=shortened(called) if first else "model.init",
            jax=spelled(failure, "jax"),
        ),
    )


def explain_unset(failure: Failure) -> Explained:
    """Explain a layer that does not know whether it trains."""
    return Explained(
        note("doctor.error_unset", name=fact(failure, "name")), note("doctor.write_set", name=fact(failure, "name"))
    )


def explain_name_in_use(failure: Failure) -> Explained:
    """Explain a submodule or a parameter with a name that the module has already."""
    what = {"submodule": "submodule", "param": "parameter"}.get(fact(failure, "what"), "variable")
    name, module = fact(failure, "name"), fact(failure, "module")
    found = note("doctor.error_name_in_use", what=what, name=name, module=module)
    return Explained(found, note("doctor.write_name_once", submodule=what == "submodule"))


def explain_frozen_module(failure: Failure) -> Explained:
    """Explain an attribute that a method of a module sets."""
    found = note("doctor.error_frozen_module", name=fact(failure, "name"), module=fact(failure, "module"))
    return Explained(found, note("doctor.write_variable_of_module"))


#: The messages that are explained here, in flax's words.
# fmt: off
RULES = (
    Rule("CallCompactUnboundModuleError", "unbound", explain_unbound,
        r"Can't call compact methods on unbound modules"),
    Rule("AttributeError", "unbound", explain_unbound,
        r'"(?P<module>\w+)" object has no attribute "(?P<attribute>\w+)"\. If "\w+" is defined in \'\.setup\(\)\', '
        r"remember these fields are only accessible from inside"),
    Rule("AssignSubModuleError", "submodule", explain_submodule,
        r"Submodule (?P<layer>\w+) must be defined in `setup\(\)` or in a method wrapped in `@compact`"),
    Rule("NameInUseError", "name in use", explain_name_in_use,
        r'Could not create (?P<what>\w+) "(?P<name>[^"]*)" in Module (?P<module>\w+): Name in use'),
    Rule("SetAttributeFrozenModuleError", "frozen module", explain_frozen_module,
        r"Can't set (?P<name>\w+)=[^\n]* for Module of type (?P<module>\w+): Module instance is frozen"),
    Rule("ScopeCollectionNotFound", "variables", explain_variables,
        r'Tried to access "(?P<name>[^"]*)" from collection "(?P<collection>[^"]*)" in "(?P<scope>[^"]*)" but the '
        r"collection is (?P<empty>empty)"),
    Rule("ScopeParamNotFoundError", "variables", explain_variables,
        r'Could not find parameter named "(?P<name>[^"]*)" in scope "(?P<scope>[^"]*)"'),
    Rule("ScopeVariableNotFoundError", "variables", explain_variables,
        r'No Variable named "(?P<name>[^"]*)" for collection "(?P<collection>[^"]*)" exists in "(?P<scope>[^"]*)"'),
    Rule("ApplyScopeInvalidVariablesStructureError", "nested variables", explain_nested,
        r"Expect the `variables` \(first argument\) passed to apply\(\)"),
    Rule("ApplyScopeInvalidVariablesTypeError", "nested variables", explain_nested,
        r"The first argument passed to an apply function should be a (?P<flat>dictionary) of collections"),
    Rule("ModifyScopeVariableError", "immutable", explain_immutable,
        r'Cannot update variable "(?P<name>[^"]*)" in "(?P<scope>[^"]*)" because collection "(?P<collection>[^"]*)" '
        r"is immutable"),
    Rule("InvalidRngError", "module key", explain_module_key,
        r'(?P<layer>\w+) needs PRNG for "(?P<name>\w+)"'),
    Rule("InvalidRngError", "module key", explain_module_key,
        r"RNGs should be of shape \(2,\) or PRNGKey in Module \w+, but rngs are: "),
    Rule("ValueError", "unset", explain_unset,
        rf'Parameter "(?P<name>{_OF_EVALUATION})" must be passed to the constructor or at call time'),
)
# fmt: on
