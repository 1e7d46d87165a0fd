"""Evidence about the programs that ran."""

from __future__ import annotations

from dataclasses import dataclass

from ...memory_use.record.memory_profile import Executable
from ...records.call_stack import Frame
from ...xla.hlo import HloModule
from .constant_work import ConstantWork
from .jitted_names import JittedName
from .library_use import ModuleLibrary
from .partial_sort import PartialSort
from .placement import Placement, UnevenShards

#: Primitives that call Python.
_CALLBACKS = ("pure_callback", "io_callback", "debug_callback", "debug_print")

#: What the custom calls that call Python have in their targets, and the opcodes that do so on a TPU, among others.
_CALLBACK_TARGET = "python"
_TRANSFERS = ("send", "recv")


@dataclass(frozen=True, slots=True, kw_only=True)
class EquationCount:
    """Equations of a jaxpr with one primitive that come from one line; those in the body of a loop count once.

    Attributes:
        primitive: the name of the primitive, such as ``"dot_general"``.
        line: the user's line; ``None`` if it is unknown.
        count: how many there are.
        inside_loop: whether they are in the body of a ``scan``, ``while`` or ``cond``.
        dtype: the element type of their first result, such as ``"float32"``; empty if they have none.
        inside_call: whether they are in a jitted function that the line calls, such as ``jnp.clip``.
    """

    primitive: str
    line: Frame | None
    count: int
    inside_loop: bool = False
    dtype: str = ""
    inside_call: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductCount:
    """Matrix products or convolutions of a jaxpr that multiply one type with one precision.

    Attributes:
        primitive: ``"dot_general"`` or another primitive that multiplies.
        multiplied: the element type of the factors, such as ``"float32"``; ``"bfloat16*float32"`` for different ones.
        precision: the precision that the code or an option of JAX asks for, such as ``"highest"``; empty for none.
        count: how many there are; those in the body of a loop count once.
    """

    primitive: str
    multiplied: str
    precision: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedArray:
    """An array that a function captured and that became a constant of its program.

    Attributes:
        type: element type and shape, such as ``"float32[1000,1000]"``.
        size_bytes: its size.
        names: the names that reach it from the function's variables or the session; empty if none is known.
        on_device: whether it is an array on a device, and not one of NumPy.
    """

    type: str
    size_bytes: int
    names: tuple[str, ...] = ()
    on_device: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleAttribute:
    """An attribute or variable that had another value when the run ended than what was built into a program.

    Attributes:
        parameter: the parameter of the function that takes the object, such as ``"self"``; empty for a variable
            outside of the function.
        name: the attribute or variable; ``"model.w"`` for an attribute of an object that a variable holds.
        owner: the class of the object; empty for a variable.
        before: the value in the program: a number in words, or the type of an array.
        now: the same at the end of the run.
        number: whether it is a number of Python, which may have decided shapes.
        passable: whether it holds nothing but arrays and numbers, so that it may be an argument.
        bound: whether the object is part of the function, as in ``jax.jit(model.step)``, and no static argument.
    """

    parameter: str
    name: str
    owner: str
    before: str
    now: str
    number: bool = False
    passable: bool = True
    bound: bool = False

    @property
    def path(self) -> str:
        """The attribute or variable as the function reads it."""
        return f"{self.parameter}.{self.name}" if self.parameter else self.name

    @property
    def root(self) -> str:
        """The variable that holds it."""
        return self.path.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedLine:
    """A line of a jitted function, or of what it calls, that was traced to many equations outside of loops of JAX.

    Attributes:
        line: the user's line.
        equations: how many equations come from it and from what it calls.
        repeated: how many of these belong to a primitive with one result shape that it has at least 8 times.
        primitives: the most frequent of these primitives, with their counts.
        rounds: how often the line ran while it was traced, as far as call stacks tell: most of its equations repeat
            at least this often with one call stack.
    """

    line: Frame
    equations: int
    repeated: int
    primitives: tuple[tuple[str, int], ...]
    rounds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPrograms:
    """Compiled programs of one name that have become more from the second run to the last.

    Attributes:
        name: the name of their modules, such as ``"jit_f"``.
        programs: how many more of them are alive.
        code_bytes: the size of their code; ``None`` if the backend does not report it.
    """

    name: str
    programs: int
    code_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedArray:
    """An array that a function passed to a program, the first time.

    Attributes:
        parameter: the number of the program's parameter.
        paths: how the variables of that function lead to it, such as ``"params['w']"``; ``None`` if not all are
            known.
        outer_paths: how the variables of functions around that one lead to it; ``None`` if not all are known.
        shares_memory: whether another array, or another parameter, has the same memory.
        alive: whether it is alive after the code has ended.
        names: names in the session that lead to it then.
    """

    parameter: int
    paths: tuple[str, ...] | None
    outer_paths: tuple[str, ...] | None
    shares_memory: bool
    alive: bool
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The user's function that ran a program first.

    Attributes:
        jitted: the names that it has for the jitted function, such as ``"step"`` or ``"self.step"``.
        arrays: the arrays that it passed.
    """

    jitted: tuple[JittedName, ...]
    arrays: tuple[PassedArray, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramKind:
    """How a program compares with the others of its function.

    Attributes:
        operations: a number that programs share which have the same operations with the same parameters and shapes,
            and which return the same containers.
        constants: a number that those of them share which have the same constants as well: they compute the same.
    """

    operations: int
    constants: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A compiled program that ran in the first run.

    Attributes:
        executable: the memory that it needs.
        module: its instructions; ``None`` if they could not be read.
        function: the name of the jitted function; ``None`` if unknown.
        location: where that function is defined, such as ``"cell 3:2"``; ``None`` if unknown or not the user's.
        arguments: the names of the parameters of the function; empty if unknown.
        equations: the equations of its jaxpr, by primitive and line; ``None`` if unknown.
        captured: large arrays that it captured, largest first.
        stale: the attributes of objects that it keeps the values of, although they have others by the end of the run.
        eager: whether it is a single operation outside ``jit``.
        repeated_lines: the user's lines from which many equations come; ``None`` if unknown.
        donated: the numbers of the parameters that the call donates.
        from_host: the numbers of those for which the first call passed numbers or arrays of NumPy, which JAX copies.
        called_at: the user's line whose call ran it first; ``None`` if unknown.
        called_from: the user's lines from that one outwards; empty if unknown.
        placements: where the user's larger arrays lay that it took, if it runs on several devices.
        uneven: the arrays in it that are sharded along an axis which the devices do not divide.
        partial_sorts: the sorts of its jaxpr of which it uses few elements.
        constant_work: the equations of its jaxpr that compute with captured arrays and with no argument.
        products: the matrix products and convolutions of its jaxpr; ``None`` if unknown.
        transformed: the name of the jitted function, or eager operation, whose call was transformed outside of
            ``jit``, as in ``jax.vmap(f)(x)``: the program is the transformed one, and has no function. ``None`` if
            there is none.
        transformed_at: where the user's jitted function is defined whose call was transformed, also if this is the
            program of its backward pass; ``None`` if unknown, or if there is none.
        library: the library of modules through which that line called it, as ``model(x)`` or a function under the
            library's jit does; ``None`` if there is none, and for what makes modules.
        modules: the names that this line may have for modules of the library.
        caller: the function with that line, if it passed large arrays; ``None`` at the top level, and if unknown.
        freed: whether it was gone when the run had ended, since its function was.
        static_only: the outer variables of its function that ``jit`` takes only as static arguments, each with what
            it is: ``("loss", "function")``.
        kind: how it compares with the other programs of its function; ``None`` if unknown, or if there is no other.
    """

    executable: Executable
    module: HloModule | None
    function: str | None = None
    location: str | None = None
    arguments: tuple[str, ...] = ()
    equations: tuple[EquationCount, ...] | None = None
    captured: tuple[CapturedArray, ...] = ()
    stale: tuple[StaleAttribute, ...] = ()
    eager: bool = False
    repeated_lines: tuple[RepeatedLine, ...] | None = None
    donated: tuple[int, ...] = ()
    from_host: tuple[int, ...] = ()
    called_at: Frame | None = None
    called_from: tuple[Frame, ...] = ()
    placements: tuple[Placement, ...] = ()
    uneven: tuple[UnevenShards, ...] = ()
    partial_sorts: tuple[PartialSort, ...] = ()
    constant_work: tuple[ConstantWork, ...] = ()
    products: tuple[ProductCount, ...] | None = None
    transformed: str | None = None
    transformed_at: str | None = None
    library: ModuleLibrary | None = None
    modules: tuple[str, ...] = ()
    caller: Caller | None = None
    freed: bool = False
    static_only: tuple[tuple[str, str], ...] = ()
    kind: ProgramKind | None = None

    @property
    def name(self) -> str:
        """The name of its jitted function, or else the name under which it was compiled."""
        return self.function or self.executable.name

    @property
    def calls_python(self) -> bool | None:
        """Whether it calls Python while it runs, by its equations or its custom calls; ``None`` if unknown.

        JAX does not write such a program to its persistent cache.
        """
        instructions = () if self.module is None else self.module.instructions.values()
        if any(each.primitive in _CALLBACKS for each in self.equations or ()):
            return True
        if any(_CALLBACK_TARGET in each.custom_call_target for each in instructions):
            return True
        if self.equations is None and (
            self.module is None or any(each.opcode in _TRANSFERS for each in instructions)
        ):
            return None
        return False
