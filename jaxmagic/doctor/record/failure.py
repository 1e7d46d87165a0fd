"""Declares what is known about an exception that JAX raised."""

from __future__ import annotations

from dataclasses import dataclass

from ...records.call_stack import Frame, Stack
from .failing_code import Decision, Difference, Escape, Handed, Holder, JitCall, Kept, Operand, Traced, Value
from .failure_kind import Kind
from .library_use import BatchUse, ModuleUse, Selector
from .not_finite import NotFinite
from .out_of_memory import OutOfMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An exception that JAX raised.

    Attributes:
        kind: the problem.
        error: the name of the exception's type.
        behind: the type of the exception that it led to, if another one ended the code.
        stack: the calls in the user's code, the innermost last.
        source: the text of the failing line.
        statement: the failing statement, without the indentation of its first line; ``None`` if it is unknown.
        node: the position of the failing expression in ``ast.walk`` of the statement; ``None`` if unknown.
        operation: what Python was doing, as the name of a bytecode instruction.
        library: the innermost call in a library that the failing line called; ``None`` if it was JAX or Python.
        type: the type of the value that could not be used, such as ``"bool[]"``.
        detail: what else JAX's message says in a word: the name of a function, of an argument, of an operation.
        traced: the function that was being traced; ``None`` if there is none, or if JAX does not say.
        values: the traced values in the failing statement.
        call: the jitted function and its call; ``None`` if unknown.
        own: whether the failing line is in the traced function itself, rather than in a function that it calls.
        parameters: the parameters of the function with the failing line.
        vmapped: the variables of the failing line that ``jax.vmap`` traces, and what they hold, as ``batch['n']``.
        mapped: whether ``jax.vmap`` called what leads to the failing line, also through ``jax.jit``, which hides that
            from the variables.
        nested: whether tracing went on inside of other tracing; ``None`` if unknown.
        handed: where arguments of the traced function came from, if its caller was being traced, innermost first.
        escapes: lines that may have stored the value that leaked.
        differences: where two pytrees or types differ.
        donated_by: calls that may have donated the array, as they are written.
        donated_before: whether they donated it when they ran before: in this run, they come only later.
        donated_names: the names of the array in the function of these calls, if that is a caller of the failing one.
        kept: the statement that kept the array under another name before they donated it, if there is one.
        names: the names under which the user's code knows modules, such as ``{"jax.numpy": "jnp"}``.
        alive: the largest arrays that were alive, with the names that hold them, when the error was explained.
        alive_bytes: the size of each of these arrays.
        memory: what is known about memory that ran out; ``None`` for another problem.
        said: what the message says, by the names of the groups in its pattern.
        operands: the operands or arguments of the failing expression.
        outer: whether the failing line assigns into a variable that its function does not have.
        holder: what holds the array into which the failing line assigns, if it is known.
        decides: the decision of the failing condition that no function of JAX can make, if there is a known one.
        selector: the Python value that arrives at the failing line as a traced one, if there is one.
        module: the module of a library that the failing call gets, or the layer that it calls with a batch.
        computed_of: the variables that the failing statement reads, with the expressions that they were computed of.
        read_by: the statements that read the variable to which the failing one assigns, or what a failing condition
            reads; compound ones without body.
        not_finite: where NaN or infinity first appeared, if that is known.
        body: all statements of the failing function, for the same kinds; compound ones without body.
    """

    kind: Kind
    error: str
    behind: str | None = None
    stack: Stack = ()
    source: str | None = None
    statement: str | None = None
    node: int | None = None
    operation: str | None = None
    library: Frame | None = None
    type: str | None = None
    detail: str | None = None
    traced: Traced | None = None
    values: tuple[Value, ...] = ()
    call: JitCall | None = None
    own: bool = False
    parameters: tuple[str, ...] = ()
    vmapped: tuple[str, ...] = ()
    mapped: bool = False
    nested: bool | None = None
    handed: tuple[Handed, ...] = ()
    escapes: tuple[Escape, ...] = ()
    differences: tuple[Difference, ...] = ()
    donated_by: tuple[str, ...] = ()
    donated_before: bool = False
    donated_names: tuple[str, ...] = ()
    kept: Kept | None = None
    names: tuple[tuple[str, str], ...] = ()
    alive: tuple[str, ...] = ()
    alive_bytes: tuple[int, ...] = ()
    memory: OutOfMemory | None = None
    said: tuple[tuple[str, str], ...] = ()
    operands: tuple[Operand, ...] = ()
    outer: bool = False
    holder: Holder | None = None
    decides: Decision | None = None
    selector: Selector | None = None
    module: ModuleUse | BatchUse | None = None
    computed_of: tuple[tuple[str, str], ...] = ()
    read_by: tuple[str, ...] = ()
    not_finite: NotFinite | None = None
    body: tuple[str, ...] = ()

    @property
    def line(self) -> str | None:
        """The innermost line of the user's code, such as ``"cell 3:2"``."""
        return self.stack[-1].location if self.stack else None
