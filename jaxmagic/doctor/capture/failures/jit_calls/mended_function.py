"""Makes the function of a failing call with its remedy applied."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, NamedTuple

from .....records.note import note
from ....analysis.failures.static_values import CALL
from ....analysis.replaced_node import ReplacedNode
from ....record.failing_code import JitCall
from ....record.failure import Failure
from ....record.finding import RuleFinding
from ...remedies.remedy import NotTried
from ..statement import Place, definition
from .arguments import Arguments, arguments_of
from .call_values import CallValues


class FailingCall(NamedTuple):
    """The call of a jitted function in a frame of a traceback, what was passed, and where its code failed."""

    values: CallValues
    node: ast.Call
    jitted: Any
    call: JitCall
    failed: Place


def made_static(finding: RuleFinding) -> list[str]:
    """Return the arguments that a remedy declares static: under jit, they stay Python's numbers."""
    remedy = finding.remedy
    return [] if remedy is None or remedy.kind != "doctor.write_static" else str(remedy.facts["argument"]).split(", ")


def mend(
    failure: Failure, finding: RuleFinding, site: FailingCall, function: FunctionType, plain: Arguments
) -> tuple[Callable[..., Any], Arguments]:
    """Return the function with the remedy under jit, and its arguments.

    Raises:
        NotTried: that is not mechanical.
    """
    import jax

    leading = plain[0][: len(plain[0]) - len(site.node.args)]
    remedy = "" if finding.remedy is None else finding.remedy.kind.removeprefix("doctor.")
    if finding.code is None:
        raise NotTried(note("doctor.not_mended", code=False))
    if finding.remedy is not None and remedy in ("write_tuple", "write_hashable", "write_pairs", "write_converted"):
        call = _only_call(finding.code, site.call.function)
        if call is None:
            raise NotTried(note("doctor.not_mended", code=True))
        given = arguments_of(call, site.values)
        given = [*leading, *given[0]], given[1]
        before, marked, _ = finding.code.partition(f"\n{CALL}\n")
        if not marked:
            return site.jitted, given
        if "@" in before:  # the decorator of a class of the user
            raise NotTried(note("doctor.not_mended", code=True))
        read_back = _reading_back(function, before, str(finding.remedy.facts["argument"]))
        return jax.jit(read_back, static_argnames=site.call.static), given
    given = arguments_of(site.node, site.values)
    given = [*leading, *given[0]], given[1]
    static = list(site.call.static)
    if remedy == "write_static":
        static += made_static(finding)
        return jax.jit(function, static_argnames=static), given
    if not failure.own or failure.traced is None or failure.traced.transform != "jit":
        raise NotTried(note("doctor.not_mended", code=True))
    code = finding.code
    if remedy == "write_dynamic_slice" and finding.remedy is not None:
        static += filter(None, str(finding.remedy.facts.get("static", "")).split(", "))
        code = "\n".join(each for each in code.splitlines() if not each.startswith("@"))  # of the function
    new = _with_statement(function, site.failed, code)
    return jax.jit(new, static_argnames=static or None), given


def _reading_back(function: FunctionType, code: str, name: str) -> Callable[..., Any]:
    """Return a function that first makes of an argument what it reads, with the advised statements."""
    signature, statements = inspect.signature(function), compile(_parsed(code), "<jaxmagic: a remedy>", "exec")

    @functools.wraps(function)
    def with_original(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        names = {**function.__globals__, name: bound.arguments[name]}
        exec(statements, names)
        bound.arguments[name] = names[name]
        return function(*bound.args, **bound.kwargs)

    return with_original


def _only_call(code: str, function: str) -> ast.Call | None:
    """Return the call of a function in a statement, if it is the only one."""
    found = [
        each for each in ast.walk(_parsed(code)) if isinstance(each, ast.Call) and ast.unparse(each.func) == function
    ]
    return found[0] if len(found) == 1 else None


def _parsed(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError:
        raise NotTried(note("doctor.not_mended", code=True)) from None


def _with_statement(function: FunctionType, failed: Place, code: str) -> FunctionType:
    """Return a copy of a function with other code in place of the statement that failed."""
    home = definition(failed.tree, function.__name__, function.__code__.co_firstlineno)
    if home is None or failed.statement is None or all(each is not failed.statement for each in ast.walk(home)):
        raise NotTried(note("doctor.not_mended", code=True))
    new = ReplacedNode(failed.statement, _parsed(code).body).visit(home)
    new.decorator_list = []
    new.args.defaults = [ast.Constant(None) for _ in new.args.defaults]  # those of the original are passed on
    new.args.kw_defaults = [each and ast.Constant(None) for each in new.args.kw_defaults]
    new.returns = None
    for each in ast.walk(new.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    free = function.__code__.co_freevars
    around = ast.parse(f"def __jaxmagic_around__({', '.join(free)}):\n    return {function.__name__}").body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body.insert(0, new)
    made: dict[str, Any] = {}
    module = ast.fix_missing_locations(ast.Module([around], []))
    exec(compile(module, "<jaxmagic: a remedy>", "exec", dont_inherit=True), function.__globals__, made)
    inner = made["__jaxmagic_around__"](*[None] * len(free))
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    closure = tuple(cells.get(name) or CellType(None) for name in inner.__code__.co_freevars)
    copied = FunctionType(inner.__code__, function.__globals__, function.__name__, function.__defaults__, closure)
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied
