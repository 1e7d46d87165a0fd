"""Explains arrays whose shardings do not go together, on a mesh with explicit axes, where JAX chooses none."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from .....records.note import note
from ....record.failure import Failure
from ..expression import Expression, call, expression_of, spelled
from .explained import Explained, Rule
from .operands import fact, shortened
from .partition_specs import SPEC, TUPLE, TYPE, axes_of, entries, short

#: Functions and methods of arrays that take ``out_sharding=``, and methods of ``x.at[i]`` that do.
_WITH_OUT_SHARDING = "matmul", "dot", "einsum", "tensordot", "reshape", "ravel", "repeat"
_OF_PARTS = "set", "add", "multiply", "mul", "divide", "power", "min", "max", "get"


def explain_sharded_apart(failure: Failure) -> Explained:
    """Explain operands that are split along other axes than one another."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    types = re.findall(TYPE, fact(failure, "types"))
    specs = fact(failure, "specs")
    shown = types or [short(each) for each in re.findall(SPEC, specs) or re.findall(TUPLE, specs)]
    names, operation = _names(failing, len(shown)), fact(failure, "operation")
    is_product = operation == "dot_general"
    found = note(
        "doctor.error_sharded_apart",
        function=_called(failing) if is_product else operation or _called(failing),
        arrays=" and ".join(f"{name} ({each})" if name else each for name, each in zip(names, shown, strict=True)),
    )
    if is_product:
        return Explained(found, note("doctor.write_out_sharding", jax=jax), _with_out_sharding(failure, failing))
    return Explained(found, note("doctor.write_sharded_alike", jax=jax), _alike(failing, types, jax))


def explain_sharded_sum(failure: Failure) -> Explained:
    """Explain a product that sums over axes that are split."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    left, right = (", ".join(re.findall(r"'(\w+)'", fact(failure, each))) for each in ("left", "right"))
    found = note("doctor.error_sharded_sum", function=_called(failing), left=left, right=right)
    return Explained(found, note("doctor.write_out_sharding", jax=jax), _with_out_sharding(failure, failing))


def explain_sharded_result(failure: Failure) -> Explained:
    """Explain a part, an update or another shape of an array, of which JAX does not choose the sharding."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    type = re.search(TYPE, fact(failure, "type"))
    found = note("doctor.error_sharded_result", function=_called(failing), type=type.group() if type else "")
    return Explained(found, note("doctor.write_out_sharding", jax=jax), _with_out_sharding(failure, failing))


def explain_sharded_axis(failure: Failure) -> Explained:
    """Explain an axis that is split where it has to be whole, or divides into other parts than its result."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    type, spec, axis = fact(failure, "type"), fact(failure, "spec"), int(fact(failure, "axis") or -1)
    found = note(
        "doctor.error_sharded_axis",
        function=_called(failing),
        type=type,
        spec=short(spec) if spec else "",
        axis=axis,
        size=int(fact(failure, "size") or -1),
    )
    specs = [entry for _, entry in axes_of(type)] or (entries(spec) if spec else [])
    whole = [entry if axis not in (place, -1) else "None" for place, entry in enumerate(specs)]
    return Explained(found, note("doctor.write_whole_axis", jax=jax, spec=f"P({', '.join(whole)})" if whole else ""))


def explain_sharding_count(failure: Failure) -> Explained:
    """Explain another number of shardings in ``in_shardings`` than of arguments."""
    given, arguments = int(fact(failure, "given")), int(fact(failure, "arguments"))
    found = note("doctor.error_sharding_count", option=fact(failure, "option"), given=given, arguments=arguments)
    return Explained(found, note("doctor.write_sharding_count", option=fact(failure, "option")))


def _called(failing: Expression | None) -> str:
    """Return the function that the failing line calls; empty for an operator."""
    return "" if failing is None else failing.called or ""


def _names(failing: Expression | None, count: int) -> Sequence[str]:
    """Return the texts of the arrays on the failing line; empty ones if it has another number of them."""
    node = None if failing is None else failing.node
    given: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        given = [node.left, node.right]
    elif isinstance(node, ast.Call) and node.args and not ast.unparse(node.func).endswith("stack"):  # with a new axis
        first = node.args[0]
        given = first.elts if isinstance(first, ast.List | ast.Tuple) else node.args
    return [shortened(ast.unparse(each)) for each in given] if len(given) == count else [""] * count


def _alike(failing: Expression | None, types: Sequence[str], jax: str) -> str | None:
    """Return the statement in which the right operand is resharded as the left one, if both have one shape."""
    node = None if failing is None else failing.node
    shapes = [[size for size, _ in axes_of(each)] for each in types]
    if failing is None or not isinstance(node, ast.BinOp) or len(shapes) != 2 or shapes[0] != shapes[1]:
        return None
    if not isinstance(node.left, ast.Name | ast.Attribute):
        return None
    sharding = ast.Attribute(value=call(f"{jax}.typeof", node.left), attr="sharding", ctx=ast.Load())
    return failing.with_node(
        ast.BinOp(left=node.left, op=node.op, right=call(f"{jax}.sharding.reshard", node.right, sharding))
    )


def _with_out_sharding(failure: Failure, failing: Expression | None) -> str | None:
    """Return the statement with ``out_sharding=P()``, whose result is whole on each device."""
    node = None if failing is None or failure.library is not None else failing.node
    jax, new = spelled(failure, "jax"), None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        new = call(f"{spelled(failure, 'jax.numpy')}.matmul", node.left, node.right)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        at = ast.Subscript(ast.Attribute(node.value, "at", ast.Load()), node.slice, ast.Load())
        new = ast.Call(func=ast.Attribute(at, "get", ast.Load()), args=[], keywords=[])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of_part = isinstance(node.func.value, ast.Subscript) and ast.unparse(node.func.value.value).endswith(".at")
        if node.func.attr in (_OF_PARTS if of_part else _WITH_OUT_SHARDING):
            new = ast.Call(func=node.func, args=node.args, keywords=list(node.keywords))
    if failing is None or new is None:
        return None
    new.keywords.append(ast.keyword("out_sharding", call(f"{jax}.P")))
    return failing.with_node(new)


#: The messages that are explained here, all of them about explicit axes.
# fmt: off
RULES = (
    Rule("ShardingTypeError", "sharded apart", explain_sharded_apart,
        r"(?P<operation>\w+) operation with inputs: (?P<types>.+) produces an illegally sharded result: "),
    Rule("ShardingTypeError", "sharded apart", explain_sharded_apart,
        r"(?P<operation>\w+) got incompatible shardings for broadcasting: (?P<specs>.+)\.$"),
    Rule("ShardingTypeError", "sharded apart", explain_sharded_apart,
        r"All operands should have the same sharding\. Got shardings (?P<specs>.+)"),
    Rule("ShardingTypeError", "sharded apart", explain_sharded_apart,
        r"(?P<operation>dynamic_update_slice) operand sharding must be equal to update sharding, got operand "
        r"sharding (?P<types>.+)"),
    Rule("ShardingTypeError", "sharded sum", explain_sharded_sum,
        r"(?:Contracting dimensions are sharded and it is ambiguous how the output should be sharded\. .*Got "
        rf"lhs_contracting_spec=|dot_general requires contracting dimensions to have consistent sharding, got )"
        rf"(?P<left>{TUPLE}) and (?:rhs_contracting_spec=)?(?P<right>{TUPLE})"),
    Rule("ShardingTypeError", "sharded result", explain_sharded_result,
        r"Use `\.at\[\.\.\.\]\.(?:get|set/add/mul/\.\.\.)\(out_sharding=\)` to provide output PartitionSpec"
        r"(?:.*? Got operand=(?P<type>.+))?"),
    Rule("ShardingTypeError", "sharded result", explain_sharded_result,
        r"This reshape is not supported\. Please specify the sharding of the output .*Got operand type: "
        r"(?P<type>.+)"),
    Rule("ValueError", "sharded result", explain_sharded_result,
        r"Please pass sharding to `jnp\.repeat` via `out_sharding` parameter"),
    Rule("ShardingTypeError", "sharded axis", explain_sharded_axis,
        rf"(?:Input|The input) should be unsharded over the axis .*Got input type=(?P<type>{TYPE}) and "
        r"axis=(?P<axis>\d+)"),
    Rule("ShardingTypeError", "sharded axis", explain_sharded_axis,
        rf"Arguments to sort must be unsharded over the sorting dimension\. .*spec=(?P<spec>{SPEC})\) and sorting "
        r"dimension=(?P<axis>\d+)"),
    Rule("ShardingTypeError", "sharded axis", explain_sharded_axis,
        rf"`a` cannot be sharded on the axis being rolled over\. Got arr type=(?P<type>{TYPE}) and "
        r"axis=\((?P<axis>\d+),\)"),
    Rule("ShardingTypeError", "sharded axis", explain_sharded_axis,
        rf"Input \d+ to \w+ must be unsharded on non-batch dimensions, but got (?P<spec>{SPEC})"),
    Rule("ValueError", "sharded axis", explain_sharded_axis,
        rf"(?P<axis>0)th dimension of all xs should be replicated\. Got (?P<spec>{SPEC})"),
    Rule("ShardingTypeError", "sharded axis", explain_sharded_axis,
        r"\w+ on sharded dims where out dim \((?P<size>\d+)\) is not divisible by mesh axes \(\d+\) with spec "
        rf"\(\w+\) is not implemented\.(?: Got input type=(?P<type>{TYPE}))?"),
    Rule("ValueError", "sharding count", explain_sharding_count,
        r"pjit (?P<option>in_shardings) specification must be a tree prefix of .* is the wrong length: got a tuple "
        r"or list of length (?P<given>\d+) for an args tuple of length (?P<arguments>\d+)"),
)
# fmt: on
