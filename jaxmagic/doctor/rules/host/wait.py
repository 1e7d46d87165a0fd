"""Finds waits for results that recur, after which the device is idle, and callbacks for which it waits."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from .... import units
from ....records.call_stack import Frame
from ....records.note import Note, note
from ...record.evidence import WAITING_JIT, Evidence, HostWait
from ...record.finding import RuleFinding
from ..rewriting.jit.obstacles import sized_by_values
from ..rewriting.loops.kept_lists import extreme_after, is_kept_until_after, loop_that_fills
from ..rewriting.meanings import path_at, paths_in
from ..rewriting.rewritten import after, in_loop
from ..rewriting.syntax import have_own_lines, last_name, parameters, source_of_location
from ..rule import LEAST_IDLE, Rule, source_at
from .decisions import decides
from .functions.one_call import one_call_around
from .functions.single_reads import is_in_loop
from .host_time import LEAST_NS, SEVERAL, HostTime, best_run, host_time, matters, part_of_waits
from .syntax import around, comprehension_around, function_around, loop_around

#: The function and the method that only wait.
_BLOCK = "block_until_ready"

#: Functions with which NumPy reads an array, and what NumPy computes on the host as JAX does on the device.
_READ_BY_NUMPY = "__array__", "__buffer__"
# fmt: off
_IN_BOTH = frozenset((
    "abs", "all", "any", "argmax", "argmin", "argsort", "clip", "concatenate", "cos", "cumsum", "dot", "exp",
    "einsum", "log", "log1p", "matmul", "max", "maximum", "mean", "min", "minimum", "prod", "sign", "sin", "sort",
    "sqrt", "square", "stack", "std", "sum", "tanh", "var", "where",
))
# fmt: on

#: The most other lines that are named.
_MOST_LINES = 3


def only_waits(node: ast.AST) -> bool:
    """Return whether code calls the function or the method that only waits."""
    return any(isinstance(each, ast.Attribute) and each.attr == _BLOCK for each in ast.walk(node))


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find waits after which the device had nothing to do, and callbacks for which it waited."""
    time = host_time(evidence)
    if time is not None and time.waits and matters(time.wait_cost_ns, evidence):
        yield _waits(time, evidence)
    yield from _callbacks(evidence)


def _waits(time: HostTime, evidence: Evidence) -> RuleFinding:
    waits, idle_ns = time.waits, time.use.waited_ns * time.scale
    first = waits[0]
    assert first.line is not None
    rest = idle_ns < sum(each.wait_ns for each in waits)  # each was measured in a run of its own
    told = note("doctor.host_wait_idle", idle_ns=round(idle_ns), rest=int(rest and not time.latency_ns))
    latency = (
        [note("doctor.host_wait_latency", latency_ns=round(time.latency_ns), busy_ns=round(time.device_ns))]
        if time.latency_ns
        else []
    )
    loop = comprehension_around(first.line) or loop_around(first.line)
    others = [
        note("doctor.host_wait_also", line=each.line.location, count=each.count, share=_share(each, evidence))
        for each in waits[1 : 1 + _MOST_LINES]
        if each.line is not None
    ]
    if evidence.first.environment.backend == "cpu":  # without the waits, both would compete for them
        others.append(note("doctor.host_wait_cores"))
    remedy, code = _advice(waits, first.line, loop, evidence)
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.host_wait",
            count=first.count,
            share=_share(first, evidence),
            library=first.library or "",
            loop=int(loop is not None),
        ),
        line=first.line.location,
        source=source_at(first.line),
        evidence=(told, *latency, *others),
        cost_ns=time.wait_cost_ns,
        basis="estimated",
        remedy=remedy,
        code=code,
    )


def _share(wait: HostWait, evidence: Evidence) -> float:
    """Return the part of the run whose time is told; the one in which waits were observed is slower."""
    best = best_run(evidence)
    return min(part_of_waits((wait,), evidence) * (best.code_wait_ns or 0) / max(best.wall_ns, 1), 1.0)


def _advice(
    waits: tuple[HostWait, ...], line: Frame, loop: ast.AST | None, evidence: Evidence
) -> tuple[Note, str | None]:
    """Return the remedy for the first of some waits, and code to paste if there are no others."""
    first = waits[0]
    remedy = _remedy(first, line, loop, evidence)
    if loop is None or len(waits) > 1 or first.library or first.function == "device_put" or "numpy" in remedy.kind:
        return remedy, None
    code = _code(first, line, loop)
    if code is not None or first.function == _BLOCK:
        return remedy, code
    code = one_call_around(line, evidence)
    return (remedy if code is None else note("doctor.host_wait_one_call")), code


def _remedy(wait: HostWait, line: Frame, loop: ast.AST | None, evidence: Evidence) -> Note:
    if wait.library == WAITING_JIT:
        return note("doctor.host_wait_filter_jit")
    if wait.library:  # the user keeps no array there that could be read later
        return note("doctor.host_wait_library", library=wait.library)
    if wait.function == _BLOCK:
        return note("doctor.host_wait_leave_out")
    if wait.function == "device_put":
        return note("doctor.host_wait_moved")
    computed = _computed_by_numpy(wait, line, evidence)
    if computed is not None:
        return note("doctor.host_wait_numpy", function=ast.unparse(computed), name=last_name(computed) or "")
    sized = sized_by_values(line)
    if sized is not None and not any(map(_is_read, ast.walk(around(line)[-1]))):
        return note("doctor.host_wait_sized", text=sized.text, argument=sized.argument)
    decided = decides(line, wait.function)
    if loop is None and not decided and not is_in_loop(wait, evidence):
        return note("doctor.host_wait_later")
    function = function_around(line) if loop is None else None
    called = "" if function is None else function.name
    kept = "" if loop is None or decided else _list_of_others(line)
    if kept:
        return note("doctor.host_wait_kept", kept=kept)
    return note("doctor.host_wait_remedy", decides=int(decided), called=called)


def _list_of_others(line: Frame) -> str:
    """Return the list to which a line appends what it reads, if that is an argument or an attribute; else ``""``."""
    match around(line)[-1:]:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=kept, attr="append"), args=[read]))] if _is_read(read):
            function = function_around(line)
            given = set() if function is None else parameters(function)
            is_given = isinstance(kept, ast.Name) and kept.id in given
            return ast.unparse(kept) if is_given or isinstance(kept, ast.Attribute) else ""
    return ""


def _computed_by_numpy(wait: HostWait, line: Frame, evidence: Evidence) -> ast.expr | None:
    """Return the only function of NumPy, but for conversions, that a line calls, if NumPy reads an array there."""
    nodes = around(line)
    if wait.function not in _READ_BY_NUMPY or not nodes or decides(line, wait.function):
        return None
    paths = paths_in(function_around(line) or nodes[0], line.file, evidence.names)
    calls = [each for each in ast.walk(nodes[-1]) if isinstance(each, ast.Call)]
    found = [each.func for each in calls if path_at(each.func, paths).startswith("numpy.")]
    computed = [each for each in found if last_name(each) not in ("array", "asarray")]
    path = path_at(computed[0], paths) if len(computed) == 1 else ""
    return computed[0] if path.removeprefix("numpy.") in _IN_BOTH else None


def _code(wait: HostWait, line: Frame, loop: ast.AST) -> str | None:
    """Rewrite a line to read after the loop: ``losses.append(float(loss))``, or ``[float(f(x)) for x in xs]``.

    Nothing may need what is read before the loop, or the loops around it, have ended. A wait for its own sake is
    left out.
    """
    statement = around(line)[-1]
    if not isinstance(statement, ast.stmt) or not have_own_lines([statement], line.file):
        return None
    if wait.function == _BLOCK:
        return _unblocked(statement)
    if isinstance(loop, ast.ListComp):
        return _read_together(statement, loop)
    match statement:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=kept), attr="append"), args=[read], keywords=[])
        ):
            pass
        case _:
            return None
    value, extreme = _read_value(read), extreme_after(statement, kept, line)
    also = None if extreme is None else extreme.statement
    outer = loop_that_fills(line, kept, also)
    if value is None or outer is None or any(map(_is_read, ast.walk(value))):
        return None
    place = after(0 if outer is loop else outer.lineno)
    appends, follows = f"{kept}.append({ast.unparse(value)})", f"{place}\n{kept} = {_numbers(read, kept)}"
    if extreme is None or also is None:
        return f"    {appends}\n{follows}"
    if not is_kept_until_after(extreme, outer, line) or not have_own_lines([statement, also], line.file):
        return None
    best = f"{extreme.name} = {extreme.function}([{extreme.name}, *{kept}])"
    return "\n".join([in_loop(statement.lineno, also.end_lineno or also.lineno), f"    {appends}", follows, best])


def _unblocked(statement: ast.AST) -> str | None:
    """Write a statement without its waits; ``None`` if it would do nothing else, or has a body."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr):
        return None
    left: ast.AST = _Unblocked().visit(copy.deepcopy(statement))
    does_nothing = isinstance(left, ast.Expr) and not isinstance(left.value, ast.Call)
    return None if does_nothing else ast.unparse(left)


class _Unblocked(ast.NodeTransformer):
    """Puts ``x`` in place of ``x.block_until_ready()`` and ``jax.block_until_ready(x)``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr=attr), args=[value]) if attr == _BLOCK:
                return value
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=[]) if attr == _BLOCK:
                return value
        return node


def _read_together(statement: ast.AST, loop: ast.ListComp) -> str | None:
    """Rewrite a list of numbers that are read one by one, if it is assigned or returned as it is."""
    value = _read_value(loop.elt)
    if value is None or getattr(statement, "value", None) is not loop or any(each.ifs for each in loop.generators):
        return None
    kept, arrays = ast.unparse(statement), ast.unparse(ast.ListComp(value, loop.generators))
    return kept.replace(ast.unparse(loop), _numbers(loop.elt, arrays))


def _numbers(read: ast.expr, arrays: str) -> str:
    """Write a list of what ``float()`` or ``.item()`` reads from arrays; the two differ for integers."""
    number = "float(each)" if isinstance(read, ast.Call) and read.args else "each.item()"
    return f"[{number} for each in jax.device_get({arrays})]"


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.expr) and _read_value(node) is not None


def _read_value(read: ast.expr) -> ast.expr | None:
    """Return the array that ``float()`` or ``.item()`` reads; ``None`` if an expression is neither."""
    match read:
        case ast.Call(func=ast.Name(id="float"), args=[value], keywords=[]):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
            return value
    return None


def _callbacks(evidence: Evidence) -> Iterator[RuleFinding]:
    profile = evidence.profile
    if profile is None or not profile.recorded_ns:
        return
    runs = max(profile.runs or 1, 1)
    scale = min(1.0, best_run(evidence).wall_ns * runs / profile.recorded_ns) if evidence.repeated else 1.0
    waited = {each.device: each.callback_ns for each in profile.device_uses}
    found: dict[tuple[str | None, str], tuple[float, int]] = {}
    for each in profile.operation_times:
        if each.category == "host callback":
            key = (each.source, each.scope.rpartition("/")[2] or each.name)
            time_ns, count = found.get(key, (0.0, 0))
            found[key] = (time_ns + min(each.time_ns, waited.get(each.device, 0)), count + each.count)
    for (source, primitive), (time_ns, count) in found.items():
        cost_ns = time_ns / runs / max(len(profile.device_uses), 1) * scale
        if matters(cost_ns, evidence):
            yield RuleFinding(
                rule=RULE.name,
                found=note("doctor.host_callback", primitive=primitive, count=round(count / runs)),
                line=source,
                source=None if source is None else source_of_location(source, evidence),
                cost_ns=cost_ns,
                basis="estimated",
                remedy=note("doctor.host_callback_remedy", printing=int("debug" in primitive)),
            )


RULE = Rule(
    name="host-wait",
    looks_for="waits for results in a loop, and callbacks, during which the device has nothing to do",
    decides=f"Reports lines that wait at least {SEVERAL} times per run, if the device is then idle until it has work "
    f"again. This idle time has to be at least {units.percent(LEAST_IDLE)} of the run without compiling, and at "
    f"least {units.time(LEAST_NS)}. The cost is this idle time, but at most the time of the waits, because waiting "
    "costs nothing while the device computes. A call that reads a list of arrays, as jax.device_get after a loop, "
    "waits once. On the CPU, reading copies nothing. There, the time that the waits "
    "take beyond all of the device's work, in the run without the profiler, counts as well. Copies that follow a "
    f"wait and delay the device count in transfer, not here. What {WAITING_JIT} waits for in each call counts only "
    "if the device is not the CPU. Callbacks count with the time in which the device did nothing else. The advice to "
    "let the device decide is given only if the syntax shows that a condition needs the value, directly or through "
    "variables. Values that are only shown or kept can be read later.",
    source="https://docs.jax.dev/en/latest/async_dispatch.html",
    look=look,
    needs=("waits", "profile"),
)
