"""Finds loops that copy the items of NumPy arrays, or of lists of them, to the device one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.note import Note, note
from ....analysis.written_paths import root_of
from ....record.evidence import Evidence
from ....record.finding import RuleFinding
from ...rewriting.list_items import changed_in_place
from ...rewriting.meanings import path_at, paths_in
from ...rewriting.replaced_calls import with_replaced_calls
from ...rewriting.rewritten import then
from ...rewriting.syntax import last_name, loaded, parameters
from ...rule import source_at
from ..functions.inputs_inside import ArrayList, fits, inputs_inside, lists_in_turn
from ..host_time import HostTime, matters, putting_ns, without_compiling_ns
from ..syntax import Function, around, assigned, comprehension_around, function_around, loop_around, own_nodes
from .converted_again import CONVERTING, conversions, conversions_ns
from .donated_copies import may_be_donated

_PUT = "jax.device_put"

#: What leaves an array of JAX as it is, and so may stay in the loop.
_WITHOUT_COPY = "asarray"

#: Fewer samples are chance.
_LEAST_SAMPLES = 10


class Sources(NamedTuple):
    """The lists and arrays whose items a loop copies in turn.

    Attributes:
        lists: one for each copy.
        passes: how often the loop goes through all of them in a run.
    """

    lists: tuple[ArrayList, ...]
    passes: int

    @property
    def names(self) -> str:
        """The lists, by their names in the code."""
        return ", ".join(dict.fromkeys(each.path for each in self.lists))

    @property
    def size_bytes(self) -> int:
        """The bytes of all of them."""
        return sum({each.path: each.size_bytes for each in self.lists}.values())

    @property
    def shapes(self) -> set[str]:
        """The shapes of their items."""
        return {shape for each in self.lists for shape in each.shapes}

    @property
    def spared(self) -> float:
        """The share of the copies that a run is spared if there is one before its loops, or else before the run."""
        return 1 - 1 / self.passes if self.passes > 1 else 1.0

    def remedy(self, code: str | None) -> Note:
        """Return the advice to copy them once, as some code does if there is any."""
        arrays = ", ".join(dict.fromkeys(each.path for each in self.lists if each.is_array and code is not None))
        if self.passes > 1:
            return note("doctor.transfer_all", names=self.names, size_bytes=self.size_bytes, arrays=arrays)
        return note("doctor.transfer_before", names=self.names, size_bytes=self.size_bytes, arrays=arrays)


def sources_at(line: Frame, items: Sequence[ast.expr], count: int, evidence: Evidence) -> Sources | None:
    """Return what the loop around a line takes some items from; ``None`` if any of them may be something else.

    Args:
        line: the line.
        items: the expressions that it copies.
        count: how often it does so with each of them, per run.
        evidence: what the code reads.
    """
    nodes = around(line)
    scope = (function_around(line) or nodes[0]) if nodes else None
    if scope is None:
        return None
    inputs = inputs_inside(line, evidence)
    arrays = {name: each for name, each in inputs.items() if each.kind == "numpy array"}
    found = [next(lists_in_turn(line, [each], inputs, arrays), None) for each in items]
    lists = tuple(each for each in found if each is not None)
    changed = assigned(scope) | changed_in_place(scope)
    if len(lists) < len(items) or any(root_of(each.name) in changed for each in lists):
        return None
    passes = min((count // each.items for each in lists), default=0)
    sources = Sources(lists, passes)
    if passes == 0 or not fits(sources.size_bytes, evidence) or items_may_be_donated(lists, evidence):
        return None
    return sources


def converted_in_turn(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find loops that convert items with ``jnp.asarray``, and convert nothing else.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    for call, programs in conversions(evidence, time):
        lines = {each.called_at for each in programs}
        if None in lines or not lines:
            continue
        line = min((each for each in lines if each is not None), key=lambda each: each.line)
        calls = _calls_in_loop(line, CONVERTING, evidence)
        count = call.count // max(len(calls), 1)
        sources = sources_at(line, [each.args[0] for each in calls], count, evidence) if calls else None
        sizes = {each.executable.output_bytes for each in programs}
        if sources is None or not sizes <= _sizes(sources):
            continue
        cost_ns = conversions_ns(call, evidence, time) * sources.spared
        if matters(cost_ns, evidence):
            yield _finding(rule, line, sources, calls, call.count, cost_ns)


def put_in_turn(rule: str, evidence: Evidence, time: HostTime) -> Iterator[RuleFinding]:
    """Find loops that copy items with ``jax.device_put``.

    Args:
        rule: the name of the rule.
        evidence: the observations of the runs.
        time: the time of the host.
    """
    puts = [each for each in evidence.device_puts if each.on_host and each.line is not None]
    for line in dict.fromkeys(each.line for each in puts):
        here = [each for each in puts if each.line == line]
        assert line is not None
        calls = _calls_in_loop(line, frozenset({_PUT}), evidence)
        again = max(each.count for each in here)
        if not calls or any(each.lineno != line.line for each in calls) or (again > 1 and here[0].same_values):
            continue
        count = sum(each.count for each in here) // len(calls)
        sources = sources_at(line, [each.args[0] for each in calls], count, evidence)
        shapes = {each.type.partition("[")[2] for each in here}
        if sources is None or not {f"[{each}" for each in shapes} <= {
            s for each in sources.lists for s in each.shapes
        }:
            continue
        here_bytes = sum(each.count * each.moved_bytes for each in here)
        handed_ns = putting_ns(time, sum(each.count for each in here), here_bytes)
        cost_ns = max(handed_ns, min(_sampled_ns(line, evidence), time.host_ns)) * sources.spared
        if matters(cost_ns, evidence):
            yield _finding(rule, line, sources, calls, sum(each.count for each in here), cost_ns)


def _finding(
    rule: str, line: Frame, sources: Sources, calls: list[ast.Call], count: int, cost_ns: float
) -> RuleFinding:
    code = code_once(line, sources, calls)
    return RuleFinding(
        rule=rule,
        found=note(
            "doctor.in_turn",
            names=", ".join(f"{each}[*]" for each in sources.names.split(", ")),
            count=count,
            size_bytes=sources.size_bytes * sources.passes,
        ),
        line=line.location,
        source=source_at(line),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=sources.remedy(code),
        code=code,
    )


def code_once(line: Frame, sources: Sources, calls: Sequence[ast.Call] = ()) -> str | None:
    """Return what copies all items once, and the statement of the loop without its copies.

    Statements that only copy are removed. Where several others copy, they stay as they are if this copies no array
    of JAX; otherwise, there is no code. There is none either if the code uses an array of NumPy for anything
    but its items: it becomes a list.

    Args:
        line: the line.
        sources: what the items are from.
        calls: what copies them now; a jitted function that is given them, if there are none.
    """
    nodes = around(line)
    scope, own = function_around(line) or nodes[0], nodes[-1]
    inside = {id(each) for each in ast.walk(own)}
    fixed = [each for call in calls for each in (*call.args[1:], *(word.value for word in call.keywords))]
    if not isinstance(own, ast.stmt):
        return None
    removed = _only_copies(calls, scope)
    stays = not removed and (hasattr(own, "body") or any(id(each) not in inside for each in calls))
    if stays and not all(last_name(each.func) == _WITHOUT_COPY for each in calls):
        return None
    bound = assigned(scope) | (parameters(scope) if isinstance(scope, Function) else set())
    if loaded(fixed) & bound or any(_used_whole(each.name, scope) for each in sources.lists if each.is_array):
        return None
    when = "before the loops" if sources.passes > 1 else "once, before this code"
    lists = {each.path: f"list({each.path})" if each.is_array else each.path for each in sources.lists}
    made = {path: f"{path} = jax.device_put({value})  # {when}" for path, value in lists.items()}
    if not calls:
        return "\n".join(made.values())
    for call, each in zip(calls, sources.lists, strict=True):
        one = ast.Call(call.func, [ast.Name("each"), *call.args[1:]], call.keywords)
        if not each.is_nested:
            made[each.path] = f"{each.path} = [{ast.unparse(one)} for each in {each.path}]  # {when}"
        elif fixed:
            return None
    if removed:
        function = scope.name if isinstance(scope, Function) else ""
        return "\n".join([*made.values(), then(removed[0], removed[-1], "", function)])
    if stays:
        return "\n".join(made.values())
    changed = with_replaced_calls(own, {each: each.args[0] for each in calls})
    return "\n".join([*made.values(), f"{changed}  # in the loop"])


def _only_copies(calls: Sequence[ast.Call], scope: ast.AST) -> list[int]:
    """Return the lines of statements that only copy, as ``x = jnp.asarray(x)``, if these follow each other."""
    lines: list[int] = []
    for node in ast.walk(scope) if calls else ():
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=item), *_]) as value):
                if name == item and any(each is value for each in calls) and node.lineno == node.end_lineno:
                    lines.append(node.lineno)
    follow = len(lines) == len(calls) and lines == [*range(lines[0], lines[-1] + 1)] if lines else False
    return lines if follow else []


def _calls_in_loop(line: Frame, paths: frozenset[str], evidence: Evidence) -> list[ast.Call]:
    """Return the calls of some functions in the innermost loop around a line, in its order."""
    loop = comprehension_around(line) or loop_around(line)
    if loop is None:
        return []
    known = paths_in(function_around(line) or around(line)[0], line.file, evidence.names)
    calls = [each for each in own_nodes(loop) if isinstance(each, ast.Call) and each.args]
    return [each for each in calls if path_at(each.func, known) in paths]


def _used_whole(name: str, scope: ast.AST) -> bool:
    """Return whether a scope uses an array for more than the items along its first axis and their number."""
    items: set[int] = set()
    for node in ast.walk(scope):
        match node:
            case ast.For(iter=source) | ast.comprehension(iter=source):
                calls = [each for each in ast.walk(source) if isinstance(each, ast.Call)]
                items |= {id(each) for each in (source, *(one for call in calls for one in call.args))}
            case ast.Subscript(value=value, slice=ast.Name() | ast.Constant()):
                items.add(id(value))
            case ast.Call(func=ast.Name(id="len"), args=[value]):
                items.add(id(value))
    uses = (each for each in ast.walk(scope) if isinstance(each, ast.Name | ast.Attribute | ast.Subscript))
    return any(id(each) not in items for each in uses if ast.unparse(each) == name)


def _sizes(sources: Sources) -> set[int | None]:
    """Return the bytes of single items, also with half of the bits."""
    sizes = [size for each in sources.lists for size in each.sizes]
    return {*sizes, *(each // 2 for each in sizes)}


def items_may_be_donated(lists: tuple[ArrayList, ...], evidence: Evidence) -> bool:
    """Return whether a program may donate an array with the shape of an item."""
    return any(may_be_donated(each, evidence) for each in Sources(lists, 1).shapes)


def _sampled_ns(line: Frame, evidence: Evidence) -> float:
    """Return how long the host is in ``jax.device_put`` at a line per run, by its samples; 0 if these are few."""
    host = evidence.host or ()
    samples = sum(each.samples for each in host if each.line == line and each.called.endswith(".device_put"))
    share = samples / max(sum(each.samples for each in host), 1)
    return without_compiling_ns(evidence) * share if samples >= _LEAST_SAMPLES else 0.0
