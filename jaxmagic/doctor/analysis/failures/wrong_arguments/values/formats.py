"""Explains a traced value that is formatted, and writes ``jax.debug.print()`` with the user's own text."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from string import Formatter

from ......records.note import Note, note
from .....record.failing_code import Value
from .....record.failure import Failure
from ...expression import Expression, call, expression_of, gets_traced, spelled, value_named, with_imports
from ..explained import Explained, Rule
from .scalars import is_scalar

#: What ``%`` formats in a string, and ``format()`` in the same way.
_PERCENT = re.compile(r"%(?:(%)|(\.\d+)?([efg])|(d)|(s))")


def explain_format(failure: Failure) -> Explained:
    """Explain ``f"{x:.3f}"``, ``"%.3f" % x`` and ``"{:.3f}".format(x)`` on a traced value."""
    failing = expression_of(failure)
    text = "" if failing is None else _formatted_value(failure, failing)
    value = value_named(failure, text)
    found = note("doctor.error_format", value=text, type="" if value is None else value.type)
    debug = f"{spelled(failure, 'jax')}.debug.print"
    code = None if failing is None else _printed(failure, failing)
    return Explained(found, note("doctor.write_printed", debug=debug, printed=code is not None, value=text), code)


def _formatted_value(failure: Failure, failing: Expression) -> str:
    """Return the first value in the failing expression that has a format and is traced; empty if it is unknown."""
    for each in ast.walk(_whole_text(failing)):
        for value in with_format(each):
            if gets_traced(failure, failing, value):
                return ast.unparse(value)
    return ""


def _whole_text(failing: Expression) -> ast.AST:
    """Return the f-string of which the failing node is a part, if all its parts have its position, or the node.

    That is so before Python 3.12, where it is unknown which part failed.
    """
    texts = [each for each in ast.walk(failing.statement) if isinstance(each, ast.JoinedStr)]
    around = next((each for each in texts if failing.node in [*ast.walk(each)]), None)
    is_same = around is not None and around.col_offset == getattr(failing.node, "col_offset", -1)
    return around if around is not None and is_same else failing.node


def with_format(node: ast.AST) -> list[ast.expr]:
    """Return the values that a node formats as more than their text, in their order; none if that is unknown."""
    match node:
        case ast.FormattedValue(value=value, format_spec=ast.JoinedStr()):
            return [value]
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            values = right.elts if isinstance(right, ast.Tuple) else [right]
            if not isinstance(left, ast.Constant) or not isinstance(left.value, str):
                return values if len(values) == 1 else []
            types = re.findall(r"%[^a-zA-Z%]*([a-zA-Z])", left.value.replace("%%", ""))
            pairs = zip(types, values, strict=False) if len(types) == len(values) else []
            return [value for type, value in pairs if type not in "sra"]
        case ast.Call(func=ast.Name(id="format"), args=[value, _]):
            return [value]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=args):
            fields = [each for each in Formatter().parse(text) if each[1] is not None]
            named = {str(number): value for number, value in enumerate(args)}
            named |= {each.arg: each.value for each in node.keywords if each.arg is not None}
            found = [(name or str(number), spec) for number, (_, name, spec, _) in enumerate(fields)]
            return [named[name] for name, spec in found if spec and name in named]
    return []


def formatted(failure: Failure, failing: Expression) -> tuple[Note, str | None] | None:
    """Return the advice for a conversion such as ``print(f"{float(x):.3f}")``; ``None`` if it is not for a text."""
    node = failing.node
    if not isinstance(node, ast.Call) or not any(node in _converted_in(each) for each in ast.walk(failing.statement)):
        return None
    kept = node.func.value if isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
    kind = failure.type or ""
    same = {"float": ("f", "bf"), "int": ("i", "u")}.get(failing.called or "", ("f", "bf", "i", "u"))
    code = None
    if kept is not None and kind.startswith(same) and kind.endswith("[]") and failing.with_node(kept) is not None:
        values = (*failure.values, Value(name=ast.unparse(kept), type=kind))
        alone = not any(_converts(each) for each in ast.walk(failing.statement))
        code = _printed(replace(failure, values=values), failing) if alone else None
    debug = f"{spelled(failure, 'jax')}.debug.print"
    return note("doctor.write_printed", debug=debug, printed=code is not None), code


def _converted_in(node: ast.AST) -> list[ast.expr]:
    """Return what an f-string, a ``%`` after a text, ``format()`` or ``print()`` makes a text of."""
    match node:
        case ast.FormattedValue(value=value):
            return [value]
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=ast.Tuple(elts=values)):
            return values
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=value):
            return [value]
        case ast.Call(func=ast.Name(id="print" | "str" | "repr"), args=values):
            return values
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format"), args=values):
            return [*values, *(each.value for each in node.keywords)]
    return []


def _converts(node: ast.AST) -> bool:
    """Return whether a node makes a Python number of a value."""
    match node:
        case ast.Call(func=ast.Name(id="float" | "int" | "complex" | "bool") | ast.Attribute(attr="item" | "tolist")):
            return True
    return False


def _printed(failure: Failure, failing: Expression) -> str | None:
    """Return ``jax.debug.print("{:.3f}", x)`` for ``print(f"{x:.3f}")``; ``None`` for other statements."""
    statement = failing.statement
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    printing = statement.value
    if ast.unparse(printing.func) != "print" or len(printing.args) != 1 or printing.keywords:
        return None
    parts = _parts(failure, printing.args[0])
    if parts is None:
        return None
    text, values = parts
    new = call(f"{spelled(failure, 'jax')}.debug.print", ast.Constant(value=text), *values)
    code = ast.unparse(ast.fix_missing_locations(new))
    return with_imports(failure, code, "jax")


def _parts(failure: Failure, node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """Return a text for ``format()``, and the values in it."""
    if isinstance(node, ast.JoinedStr):
        return _of_fstring(failure, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        return _of_percent(failure, node.left.value, node.right)
    if not isinstance(node, ast.Call) or node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return None
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "format" and isinstance(function.value, ast.Constant):
        return _of_format(failure, function.value.value, node.args)
    return None


def _of_format(failure: Failure, text: object, values: list[ast.expr]) -> tuple[str, list[ast.expr]] | None:
    if not isinstance(text, str):
        return None
    fields = [
        (name, spec or "", conversion) for _, name, spec, conversion in Formatter().parse(text) if name is not None
    ]
    if len(fields) != len(values) or any(name or conversion or "{" in spec for name, spec, conversion in fields):
        return None
    fit = all(_fits(failure, value, spec) for value, (_, spec, _) in zip(values, fields, strict=True))
    return (text, values) if fit else None


def _of_fstring(failure: Failure, node: ast.JoinedStr) -> tuple[str, list[ast.expr]] | None:
    text, values = "", []
    for each in node.values:
        if isinstance(each, ast.Constant):
            text += str(each.value).replace("{", "{{").replace("}", "}}")
            continue
        if not isinstance(each, ast.FormattedValue) or each.conversion != -1:
            return None
        spec = ""
        if each.format_spec is not None:
            parts = each.format_spec.values if isinstance(each.format_spec, ast.JoinedStr) else []
            if not all(isinstance(part, ast.Constant) for part in parts):
                return None
            spec = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
        if not _fits(failure, each.value, spec):
            return None
        text += f"{{:{spec}}}" if spec else "{}"
        values.append(each.value)
    return text, values


def _of_percent(failure: Failure, text: object, right: ast.expr) -> tuple[str, list[ast.expr]] | None:
    values = list(right.elts) if isinstance(right, ast.Tuple) else [right]
    if not isinstance(text, str) or "{" in text or "}" in text or "%" in _PERCENT.sub("", text):
        return None
    specs = [match for match in _PERCENT.finditer(text) if not match[1]]
    if len(specs) != len(values):
        return None
    for value, match in zip(values, specs, strict=True):
        traced = value_named(failure, ast.unparse(value))
        if match[4] and (traced is None or not traced.type.startswith(("i", "u"))):
            return None  # %d also takes a float, and {:d} does not
        if not _fits(failure, value, "" if match[5] else "f"):
            return None
    new = _PERCENT.sub(lambda m: "%" if m[1] else "{}" if m[5] else f"{{:{m[2] or ''}{m[3] or m[4]}}}", text)
    return new, values


def _fits(failure: Failure, value: ast.expr, spec: str) -> bool:
    """Return whether ``format()`` takes a value with a specification: an array has none unless it is a scalar."""
    traced = value_named(failure, ast.unparse(value))
    if traced is not None:
        return not spec or traced.type.endswith("[]")
    known = isinstance(value, ast.Constant) or is_scalar(failure, value)
    return not spec or known or _is_number(failure, ast.unparse(value))


def _is_number(failure: Failure, text: str) -> bool:
    """Return whether an operand of the line is a Python number or a string."""
    return any(each.text == text and each.type in ("int", "float", "str") for each in failure.operands)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "format", explain_format,
        r"unsupported format string passed to (?P<tracer>\w+)\.__format__"),
    Rule("TypeError", "format", explain_format,
        r"%\w format: .+ is required, not (?P<tracer>\w+)"),
)
# fmt: on
