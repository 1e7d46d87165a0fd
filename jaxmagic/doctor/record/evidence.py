"""The evidence that rules look at: what the runs of some code have shown. It is not saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...compilation.record.compilation import Compilation
from ...profiling.record.profile import Profile
from ...records.call_stack import Frame
from ...timing.record import Timing
from .conversion import Conversion
from .jitted_names import JittedName, StaticParameters
from .library_use import Member, ModuleLibrary
from .placement import DeviceArrays, DevicePut
from .program import KeptPrograms, Program

#: Kinds of objects that the code reads, as far as the rules distinguish them.
InputKind = Literal[
    "numpy array", "jax array", "number", "function", "iterator", "object", "module of arrays", "other"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """An object that the code reads, or an array inside it.

    Attributes:
        path: how the code reaches it: ``"x"``, ``"params['w']"``.
        kind: what it is. An ``"object"`` is nothing that jit takes: text, or of a class that JAX does not know. A
            ``"module of arrays"`` is one of Equinox that ``jax.jit`` takes, as ``eqx.partition`` makes it.
        type: element type and shape of an array, such as ``"f32[8,8]"``; the name of the class of anything else.
        size_bytes: the size of an array; 0 for anything else.
        deleted: whether the first run deleted it, as donating does.
        library: the library of whose modules it is one, or has one inside; ``"nnx"`` for its optimizers as well.
        function: for a plain function that the user wrote, its first line.
        public: for a function of a library, its dotted path, such as ``"jax.numpy.tanh"``.
        value: the value of an integer or a float of Python; ``None`` for anything else.
        can_change: whether it is an object of a class of the user's whose attributes can be assigned.
        members: the attributes of such an object that are no inputs themselves.
    """

    path: str
    kind: InputKind
    type: str
    size_bytes: int = 0
    deleted: bool = False
    library: ModuleLibrary | None = None
    function: Frame | None = None
    public: str = ""
    value: float | None = None
    can_change: bool = False
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryNames:
    """The meanings of the names that the code, or a function of the user's, reads from outside.

    Attributes:
        function: the first line of the function; ``None`` for the code itself.
        paths: names, and in the code also attributes of modules, with the dotted path of the module or of the
            library's function that each is: ``("tanh", "numpy.tanh")``. The path of anything else is empty.
        calls: what the function may call, such as ``"meter.add"``, or ``"hooks[]"`` for any element, with the first
            lines of the user's functions that run then; ``None`` if unknown. What runs none is left out.
        arrays: the names of a function's that are arrays, or containers of arrays.
        values: those that are numbers, texts, or other containers of Python.
        objects: those that are objects of the user's classes whose attributes can be assigned.
    """

    function: Frame | None
    paths: tuple[tuple[str, str], ...]
    calls: tuple[tuple[str, tuple[Frame, ...] | None], ...] = ()
    arrays: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostShare:
    """The share of the samples of a run in which the host was at one of the user's lines.

    Attributes:
        line: the innermost line of the user's code; ``None`` if there was none on the stack.
        called: the function of a library that this line called, such as ``"jax.numpy.asarray"``; empty for the line
            itself and for functions written in C.
        samples: how many samples.
        in_jax: JAX's outermost function below this line, also one that another library called; empty if none.
        loading: the user's lines from this one outwards to the ``for`` loop whose next item was being computed; empty
            if there was none.
        stack: the user's lines from this one outwards, if no item was being computed for a loop.
    """

    line: Frame | None
    called: str
    samples: int
    in_jax: str = ""
    loading: tuple[Frame, ...] = ()
    stack: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionShare:
    """The samples per run that show a user's function on the call stack.

    Attributes:
        function: the first line of the function, with its decorators.
        called: as for :class:`HostShare`, of the innermost line of the user's code.
        samples: how many samples.
        time_ns: the time from the sample before each of them.
    """

    function: Frame
    called: str
    samples: int
    time_ns: int


#: The function of a library that waits in each call for the program that it calls.
WAITING_JIT = "equinox.filter_jit"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostWait:
    """Waits of the code itself for results, at one line.

    Attributes:
        line: the user's line; ``None`` if there was none on the stack.
        function: the function of JAX that waits, such as ``"__float__"`` or ``"block_until_ready"``.
        library: the library's function that called it, such as ``"optax.tree.norm"``; ``None`` if the line did.
            :data:`WAITING_JIT` for what this has made.
        count: how often it was called in the run.
        wait_ns: for how long it waited in all; 0 if the results were there.
        stack: the user's lines from this one outwards, the first time.
    """

    line: Frame | None
    function: str
    library: str | None
    count: int
    wait_ns: int
    stack: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """The calls of one jitted function or eager operation in the profiled run.

    The device is idle where it runs no program; a program that has begun counts as running until its end.

    Attributes:
        name: the name of the function.
        count: how often it was called.
        host_ns: the time of these calls.
        exposed_ns: the part of these calls, and of at most 50 µs of the host's time before each, in which the device
            was idle and the code had not just waited for it.
        after_wait_ns: the same part after such waits.
        pending_ns: the time from the return of these calls until their programs began, as far as the device was idle.
        put_ns: the part of these calls in which the host handed over arrays and the device was idle.
        puts: how often it did so.
        copied_ns: the time of these calls in which the host handed over arrays, whatever the device did.
        busy_ns: the time in which the programs of these calls ran.
    """

    name: str
    count: int
    host_ns: int
    exposed_ns: int
    after_wait_ns: int = 0
    pending_ns: int = 0
    put_ns: int = 0
    puts: int = 0
    copied_ns: int = 0
    busy_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUse:
    """The host and the busiest device in the profiled run, from the first call to the end of the last program.

    Attributes:
        dispatches: the calls, by name.
        idle_ns: the time in which the device ran no program and nothing compiled, without `disturbed_ns`.
        disturbed_ns: how much longer the host took for some steps than it usually does, as when another process ran.
        waited_ns: the part of it after waits of the code for the device, until the device had work again.
        waits: the number of these waits.
        put_ns: the time in which the host handed over arrays outside of calls, as ``jax.device_put`` does.
        puts: how often it did so.
    """

    dispatches: tuple[Dispatch, ...]
    idle_ns: int
    waited_ns: int
    waits: int
    put_ns: int = 0
    puts: int = 0
    disturbed_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringImport:
    """A package that JAX imported while it lowered programs in the first run, which happens once per process.

    Attributes:
        package: its name, such as ``"scipy"``.
        modules: how many modules were loaded for it, its own and those of packages that it needs.
        least_ns: the time from the first to the last of these modules; importing took at least that long.
    """

    package: str
    modules: int
    least_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptArrays:
    """Arrays that each run makes, and that are alive after later runs.

    Attributes:
        name: what holds them, with ``[*]`` in place of keys and indices: ``"history[*]"``.
        arrays: how many per run.
        size_bytes: their bytes per run, on all devices.
        runs: in how many runs this was seen; the first one does not count.
    """

    name: str
    arrays: int
    size_bytes: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The observations of all runs of some code.

    Attributes:
        code: the source of the code; ``None`` if it could not be read.
        first: the first run, with its compilations.
        observed: a later run, in which waits and the host's lines were recorded; the first one if it is the only one.
        timed: later runs that nothing disturbed, in order; empty if the code ran only once.
        profile: the run under the profiler; ``None`` if there was none.
        programs: the programs that ran in the first run, those that need most memory first; ``None`` if this JAX
            cannot be observed.
        device_puts: the arrays that ``jax.device_put`` moved in the first run, by line.
        conversions: the arrays of NumPy that ``jnp.array`` converted in the first run, by line.
        inputs: what the code reads, as far as it could be reached without running the user's code.
        host: the user's lines at which the host was in the observed run, by samples; ``None`` if not sampled.
        functions: the user's functions that were running in these samples.
        host_interval_ns: the time between two of these samples.
        waits: the waits in the observed run, by line, longest first; ``None`` if not recorded.
        host_use: what the host did in the profiled run while the device was idle; ``None`` if unknown.
        cache_dir: the folder of JAX's persistent compilation cache; ``None`` if it is off.
        caches_callbacks: whether the cache keeps programs that call Python, which it does from JAX 0.11 on.
        cache_entries: how many programs it had before of the names that the first run missed; ``None`` if unknown.
        cache_least_ns: the cache keeps no program that took XLA less than this to compile.
        cache_least_bytes: the cache keeps no smaller programs.
        lowering_imports: the packages that JAX imported to lower programs, longest first.
        limit_bytes: the memory to try against: the device's or what the user gave; ``None`` if unknown.
        jitted: the jitted functions that the code names.
        static: the static parameters of the jitted functions that the code leads to.
        names: what the names in the code, and in the user's functions that it leads to, stand for.
        matmul_precision: JAX's option ``jax_default_matmul_precision`` after the runs; ``None`` if it is not set.
        kept: arrays that each run keeps alive beyond its end; ``None`` if the code did not run often enough.
        devices: the arrays on each device that are alive before the first run and after the last.
        kept_programs: the programs of which more are alive after the last run than after the second one.
        resident_bytes: arrays on each device, at least, alive before and after all runs; ``None`` if unknown.
        earlier: compilations for other shapes and static values in earlier measurements of the session.
    """

    code: str | None
    first: Timing
    observed: Timing
    timed: tuple[Timing, ...] = ()
    profile: Profile | None = None
    programs: tuple[Program, ...] | None = None
    device_puts: tuple[DevicePut, ...] = ()
    conversions: tuple[Conversion, ...] = ()
    inputs: tuple[Input, ...] = ()
    host: tuple[HostShare, ...] | None = None
    functions: tuple[FunctionShare, ...] = ()
    host_interval_ns: int = 1_000_000
    waits: tuple[HostWait, ...] | None = None
    host_use: HostUse | None = None
    cache_dir: str | None = None
    caches_callbacks: bool = False
    cache_entries: int | None = None
    cache_least_ns: int = 1_000_000_000
    cache_least_bytes: int = 0
    lowering_imports: tuple[LoweringImport, ...] = ()
    limit_bytes: int | None = None
    jitted: tuple[JittedName, ...] = ()
    static: tuple[StaticParameters, ...] = ()
    names: tuple[LibraryNames, ...] = ()
    matmul_precision: str | None = None
    kept: tuple[KeptArrays, ...] | None = None
    devices: tuple[DeviceArrays, ...] = ()
    kept_programs: tuple[KeptPrograms, ...] = ()
    resident_bytes: int | None = None
    earlier: tuple[Compilation, ...] = ()

    @property
    def run_ns(self) -> int:
        """Wall time of the shortest timed run that compiled nothing; else the median of all, or that of the first."""
        return self.typical.wall_ns

    @property
    def expected_ns(self) -> int:
        """Expected wall time of another run: code that ran once compiled its programs then, and need not again."""
        return self.run_ns if self.repeated else max(self.first.wall_ns - self.first.compile_ns, 0)

    @property
    def repeated(self) -> bool:
        """Whether the code ran more than once, so that what recurs can be told from what happens once."""
        return self.observed is not self.first

    @property
    def typical(self) -> Timing:
        """The run that :attr:`run_ns` is the time of; what compiles in it compiles again and again."""
        runs = sorted(self.timed or [self.first], key=lambda each: each.wall_ns)
        return next((each for each in runs if not each.compilations), runs[(len(runs) - 1) // 2])
