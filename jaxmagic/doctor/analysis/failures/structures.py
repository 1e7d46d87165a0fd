"""Explains carries, branches and pytrees whose types or structures differ."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from ....records.names import one_or_tuple
from ....records.note import Note, note
from ...record.failing_code import Difference, Operand
from ...record.failure import Failure
from ...record.finding import RuleFinding
from ..written_paths import root_of
from .differences import ONLY_ONE
from .dtypes import dtype_of, lost_in, wider_dtype
from .expression import Expression, expression_of, spelled
from .origin import error_finding
from .wrong_arguments.operands import Shape, broadcast, fact, written

#: What JAX says where only the axes of a mesh differ along which two values vary, inside of ``shard_map``.
_VARYING = "varying manual axes", "manual axis types"

#: A longer result of a branch is not written again.
_LONGEST_RESULT = 60


def explain_carry(failure: Failure) -> RuleFinding:
    """Explain a loop whose carry ends with another type than it began with."""
    failing = expression_of(failure)
    called = "" if failing is None else (failing.called or "").rpartition(".")[2]
    loop = called if called == "fori_loop" else failure.detail or "loop"
    first, more = _first(failure)
    found = note(
        "doctor.error_carry",
        loop=loop,
        leaf=first.path,
        expected=first.expected,
        got=first.got,
        aspect=first.aspect,
    )
    return _finding(failure, found, more, _varying(failure, first) or _carry_remedy(first, _jnp(failure), loop))


def explain_branches(failure: Failure) -> RuleFinding:
    """Explain branches of ``lax.cond`` or ``lax.switch`` that return different types."""
    first, more = _first(failure)
    found = note(
        "doctor.error_branches",
        function=failure.detail or "cond",
        leaf=first.path,
        expected=first.expected,
        got=first.got,
        aspect=first.aspect,
        branch=fact(failure, "branch"),
        other=fact(failure, "other branch"),
    )
    return _finding(failure, found, more, _varying(failure, first) or _branches_remedy(failure, first))


def explain_pytree(failure: Failure) -> RuleFinding:
    """Explain two pytrees that had to have the same structure."""
    first, more = _first(failure)
    said = dict(failure.said)
    found = note(
        "doctor.error_pytree",
        path=first.path,
        expected=first.expected,
        got=first.got,
        tree=said.get("tree", ""),
        other=said.get("other", ""),
        placed=int(bool(said.get("placed"))),
    )
    if first.path.startswith(("vmap in_axes", "vmap out_axes")):
        option = first.path.split()[1].partition("[")[0]
        return _finding(failure, found, more, note("doctor.write_axes_tree", option=option))
    if {"None", "NoneType"} & {first.expected, first.got} and not first.path.startswith("shard_map "):
        return _finding(failure, found, more, note("doctor.write_none_leaf"))
    failing = expression_of(failure)
    called = "" if failing is None else failing.called or ""
    if called.rpartition(".")[2] == "apply_updates" and first.got == "tuple":
        node = None if failing is None else failing.node
        given = node.args[1] if isinstance(node, ast.Call) and len(node.args) == 2 else None
        passed = given.id if isinstance(given, ast.Name) else ""
        return _finding(failure, found, more, note("doctor.write_updates", passed=passed))
    optimizer = _optimizer_of_others(failure, failing, said)
    if optimizer is not None:
        return _finding(failure, found, more, optimizer)
    of_specs = first.path.startswith("shard_map ")
    return _finding(failure, found, more, note("doctor.write_specs") if of_specs else note("doctor.write_same_tree"))


def _optimizer_of_others(failure: Failure, failing: Expression | None, said: dict[str, str]) -> Note | None:
    """Advise on the state of an optimizer of Optax that was made for other parameters; ``None`` for anything else."""
    if failing is None or failure.library is None or "/optax/" not in failure.library.file.replace("\\", "/"):
        return None
    match failing.node:
        case ast.Call(func=ast.Attribute(value=optimizer, attr="update"), args=[grads, state, *_]):
            held, given = ast.unparse(state), ast.unparse(grads)
            inside = [
                said[each].removeprefix(held) for each in ("tree", "other") if said.get(each, "").startswith(held)
            ]
            others = [said[each] for each in ("tree", "other") if said.get(each, "").startswith(given)]
            if len(inside) == len(others) == 1 and re.search(r"\.\w+", inside[0]):  # a field of a state
                return _init_again(failure, failing.node, optimizer, state, others[0])
    return None


def _init_again(failure: Failure, update: ast.Call, optimizer: ast.expr, state: ast.expr, gradient: str) -> Note:
    """Advise to make the state of an optimizer again, in the names of the code that makes it.

    That is a caller if the failing function gets the state as an argument. Its names are known if its call is. A list
    in place of a tuple, or the other way round, may be that of a gradient that has been put together by hand.
    """
    first = _first(failure)[0]
    sides = {fact(failure, "tree"): first.expected, fact(failure, "other"): first.got}
    container = next((kind for text, kind in sides.items() if text != gradient), "")
    held = ast.unparse(state)
    outside = root_of(held) in failure.parameters

    def named(node: ast.expr | None, usual: str, *, argument: bool = True) -> str:
        text = "" if node is None else ast.unparse(node)
        if (outside and argument) or text.partition(".")[0] in failure.parameters:
            text = fact(failure, f"caller's {text}")
        return text if re.fullmatch(r"[^\W\d][\w.]*", text) else usual

    keywords = [each.value for each in update.keywords if each.arg == "params"]
    params = named(next(iter([*update.args[2:3], *keywords]), None), "params")
    made = f"{named(optimizer, 'optimizer', argument=False)}.init({params})"
    return note(
        "doctor.write_init_again",
        state=held,
        code=f"{named(state, 'state')} = {made}",
        function=fact(failure, "caller's") if outside else "",
        outside=outside,
        gradient=f"{gradient}{first.path}" if {*sides.values()} == {"list", "tuple"} else "",
        container=container if fact(failure, "placed") else "",
    )


def _finding(failure: Failure, found: Note, more: tuple[Difference, ...], remedy: Note) -> RuleFinding:
    others = [
        note("doctor.error_differs_too", leaf=each.path, expected=each.expected, got=each.got) for each in more[:10]
    ]
    return error_finding(
        failure,
        found=found,
        evidence=others,
        remedy=remedy,
    )


def _first(failure: Failure) -> tuple[Difference, tuple[Difference, ...]]:
    """Return the first difference and the others; an empty one if JAX's message was not understood."""
    unknown = Difference(path="", expected="", got="", aspect="")
    first, *more = map(_of_fori_loop, failure.differences or (unknown,))
    return first, tuple(more)


def _of_fori_loop(difference: Difference) -> Difference:
    """Leave out that JAX carries the index of ``fori_loop`` and its bounds beside the user's carry."""
    path = re.sub(r"^loop_carry\[1\]", "carry", difference.path)
    return replace(difference, path=path)


def _jnp(failure: Failure) -> str:
    return spelled(failure, "jax.numpy")


def _varying(failure: Failure, first: Difference) -> Note | None:
    """Advise on values of which only one varies along axes of a mesh; ``None`` if something else differs."""
    if first.aspect not in _VARYING:
        return None
    expected, got = _axes_of(first.expected), _axes_of(first.got)
    missing = [each for each in got if each not in expected] or [each for each in expected if each not in got]
    jax, axes = spelled(failure, "jax"), one_or_tuple(missing) if missing else ""
    new = "{V:" in first.expected + first.got
    return note(
        "doctor.write_varying",
        place="branch" if failure.kind == "branches" else "end" if set(got) < set(expected) else "begin",
        call=f'{jax}.lax.pcast(x, {axes}, to="varying")' if new else f"{jax}.lax.pvary(x, {axes})",
    )


def _axes_of(kind: str) -> list[str]:
    """Return the axes of a mesh along which a value varies.

    >>> _axes_of("f32[4]{V:(x,y)}"), _axes_of("f32[4]{x}"), _axes_of("f32[4]")
    (['x', 'y'], ['x'], [])
    """
    match = re.search(r"\{(?:V:)?\(?([\w,]+)\)?\}$", kind)
    return [] if match is None else match[1].split(",")


def _carry_remedy(first: Difference, jnp: str, loop: str) -> Note:
    if first.aspect == "dtypes":
        begun, ended = dtype_of(first.expected), dtype_of(first.got)
        known = bool(begun and ended)
        return note(
            "doctor.write_carry_dtype",
            leaf=first.path,
            expected=first.expected,
            got=first.got,
            expected_dtype=begun,
            got_dtype=ended,
            jnp=jnp,
            decides=loop == "while_loop" and begun == "bool",
            lost_at_begin=lost_in(ended, of=begun) if known else "",
            lost_at_end=lost_in(begun, of=ended) if known else "",
        )
    if first.aspect == "structure":
        return note("doctor.write_carry_structure", expected=first.expected, loop=loop, added=_added(first))
    if first.aspect == "metadata":
        return note("doctor.write_carry_metadata", leaf=first.path, type=first.expected)
    return note(
        "doctor.write_carry_shape",
        leaf=first.path,
        got=first.got,
        expected=first.expected if loop == "while_loop" else "",
    )


def _added(first: Difference) -> str:
    """Return the keys that the end of the body has besides all those of the beginning; empty if that is unknown."""
    begun = re.search(r"with (\d+) child", first.expected)
    ended = re.search(rf"with (\d+) child\w*{ONLY_ONE}(.+)", first.got)
    keys = [] if ended is None else re.findall(r"'[^']*'", ended[2])
    known = begun is not None and ended is not None and int(ended[1]) - int(begun[1]) == len(keys)
    return ", ".join(keys) if known else ""


def _branches_remedy(failure: Failure, first: Difference) -> Note:
    jnp = _jnp(failure)
    shape, dtype = _common_shape(first), wider_dtype(first.expected, first.got)
    if first.aspect == "dtypes":
        return note(
            "doctor.write_branch_dtype",
            expected=first.expected,
            got=first.got,
            dtype=dtype,
            jnp=jnp,
            result=_result_to_convert(failure, first, None, dtype),
        )
    if first.aspect in ("shapes", "shapes and dtypes") and shape is not None and dtype:
        result = _result_to_convert(failure, first, shape, dtype)
        return note("doctor.write_branch_shape", shape=written(shape), dtype=dtype, jnp=jnp, result=result)
    return note("doctor.write_branch_structure")


def _common_shape(difference: Difference) -> Shape | None:
    """Return the shape to which both sides broadcast; ``None`` without one."""
    shapes = [_shape(each) for each in (difference.expected, difference.got)]
    known = [each for each in shapes if each is not None]
    return broadcast(known) if len(known) == len(shapes) else None


def _shape(kind: str) -> Shape | None:
    return Operand(text="", type=kind).shape


def _result_to_convert(failure: Failure, first: Difference, shape: Shape | None, dtype: str) -> str:
    """Return what the branch with the other type returns, as it is written; empty if that is not one expression.

    Args:
        failure: the failure.
        first: the types of the two branches.
        shape: the shape that both are to have; ``None`` if they have one shape.
        dtype: the dtype that both are to have.
    """
    failing = expression_of(failure)
    branches = [] if failing is None or first.path else _branches(failing.node)
    others = [
        branch
        for branch, kind in zip(branches, (first.expected, first.got), strict=False)
        if dtype_of(kind) != dtype or (shape is not None and _shape(kind) != shape)
    ]
    if len(branches) != 2 or len(others) != 1 or not isinstance(others[0], ast.Lambda):
        return ""
    text = ast.unparse(others[0].body)
    return text if len(text) <= _LONGEST_RESULT else ""


def _branches(node: ast.AST) -> list[ast.expr]:
    """Return the branches that a call of ``lax.cond`` or ``lax.switch`` writes."""
    match node:
        case ast.Call(func=function, args=[_, ast.List(elts=branches) | ast.Tuple(elts=branches), *_]):
            return branches if ast.unparse(function).rpartition(".")[2] == "switch" else []
        case ast.Call(func=function, args=given) if ast.unparse(function).rpartition(".")[2] == "cond":
            named = {each.arg: each.value for each in node.keywords}
            branches = [*given[1:3], *(named[name] for name in ("true_fun", "false_fun") if name in named)]
            return branches if len(branches) == 2 else []
    return []
