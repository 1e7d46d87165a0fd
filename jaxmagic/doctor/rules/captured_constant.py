"""Finds large arrays that are built into programs as constants, and programs whose result is one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ... import units
from ...memory_use.record.memory_profile import Allocation, Buffer
from ...records.cell_names import text_of
from ...records.note import Note, note
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from ..record.program import CapturedArray, Program
from .captured_module import about_module, code_with_module, module_with
from .host.same_result import same_results
from .rewriting.syntax import file_of, free_names, is_jit, loaded, source_of_location, tree_of, with_imports
from .rule import LEAST_SHARE, Rule
from .stale_attributes import stale_attributes

#: The constants of a function are worth a finding if they take at least this much memory on a device.
_LEAST_BYTES = 2**20

#: Constants without an array on a device take no more memory than an argument would, but time to compile. Of this
#: size, they take at least as long as a small program does.
_LEAST_SLOW_BYTES = 16 * 2**20

#: A name that can become a parameter.
_NAME = re.compile(r"[A-Za-z_]\w*")

#: Functions with more lines are not shown again.
_MOST_LINES = 20

#: Options of ``jax.jit`` that stay the same with further parameters at the end.
_KEPT = {"static_argnums", "static_argnames", "donate_argnums", "donate_argnames"}


class _Constants(NamedTuple):
    """The programs of one function, each with its large constants."""

    of_programs: list[tuple[Program, list[Buffer]]]

    @property
    def programs(self) -> list[Program]:
        return [program for program, _ in self.of_programs]

    @property
    def buffers(self) -> list[Buffer]:
        return [each for _, buffers in self.of_programs for each in buffers]

    @property
    def size_bytes(self) -> int:
        return _size_bytes(self.buffers)

    @property
    def together(self) -> _Constants:
        """The programs known to be in memory at the same time: of those that were freed, only the largest."""
        freed = [each for each in self.of_programs if each[0].freed]
        largest = [max(freed, key=lambda each: _size_bytes(each[1]))] if freed else []
        return _Constants([*(each for each in self.of_programs if not each[0].freed), *largest])

    @property
    def captured(self) -> list[CapturedArray]:
        """The large arrays that these programs captured, largest first, each once."""
        arrays = [each for program in self.programs for each in program.captured if each.size_bytes >= _LEAST_BYTES]
        return list(dict.fromkeys(arrays))

    @property
    def names(self) -> list[str]:
        """The names of these arrays, as far as they are known."""
        return list(dict.fromkeys(each.names[0] for each in self.captured if each.names))

    @property
    def extra_bytes(self) -> int:
        """The bytes of the constants beyond one copy of each array that is not on a device."""
        there = {name for each in self.captured if each.on_device for name in each.names}
        once: set[str] = set()
        extra = 0
        for buffer in self.buffers:
            name = " ".join(buffer.captured) or f"{buffer.shape} {buffer.source}"
            if name in once or there.intersection(buffer.captured):
                extra += buffer.size_bytes
            once.add(name)
        return extra


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the functions whose programs have large or old constants, and those that compute the same repeatedly."""
    stale = list(stale_attributes(evidence, RULE.name))
    yield from stale
    outdated = {each.found.facts["function"] for each in stale}
    yield from (each for each in same_results(evidence, RULE.name) if each.applies_to not in outdated)
    for constants in _by_function(evidence.programs or ()):
        together = constants.together
        extra = together.extra_bytes
        needs = sum((each.executable.peak_bytes or 0) for each in together.programs) + together.size_bytes
        if extra < max(_LEAST_BYTES, LEAST_SHARE * needs) and constants.size_bytes < _LEAST_SLOW_BYTES:
            continue
        program = constants.programs[0]
        names = constants.names
        line = next((each.source for each in constants.buffers if each.source), program.location)
        on_host = [name for each in constants.captured if not each.on_device for name in each.names[:1]]
        module = module_with(names, evidence)
        yield RuleFinding(
            rule=RULE.name,
            found=note(
                "doctor.captured_constant",
                function=program.function or "",
                size_bytes=constants.size_bytes,
                constants=len(constants.buffers),
                programs=len(constants.programs),
                freed=sum(each.freed for each in constants.programs),
            ),
            line=line,
            source=source_of_location(line, evidence),
            evidence=tuple(_notes(constants)),
            cost_bytes=extra or None,
            basis="measured" if extra else None,
            remedy=_remedy(constants, on_host) if module is None else about_module(*module, program, evidence),
            code=_code(program, names, on_host, evidence)
            if module is None
            else code_with_module(*module, program, evidence),
        )


def _by_function(programs: Iterable[Program]) -> list[_Constants]:
    found: dict[tuple[str | None, str | None], _Constants] = {}
    for program in programs:
        buffers = [each for every in program.executable.allocations or () for each in _large_constants(every)]
        if buffers and not program.eager:
            found.setdefault((program.function, program.location), _Constants([])).of_programs.append(
                (program, buffers)
            )
    return list(found.values())


def _size_bytes(buffers: Iterable[Buffer]) -> int:
    return sum(each.size_bytes for each in buffers)


def _folded_bytes(program: Program) -> int:
    """Return the bytes of large constants beyond the arrays that a program has captured, which XLA made of them."""
    buffers = (each for allocation in program.executable.allocations or () for each in _large_constants(allocation))
    captured = sum(each.size_bytes for each in program.captured if each.size_bytes >= _LEAST_BYTES)
    return max(sum(each.size_bytes for each in buffers) - captured, 0) if captured else 0


def _large_constants(allocation: Allocation) -> list[Buffer]:
    if allocation.kind != "constant":
        return []
    return [each for each in allocation.buffers if each.size_bytes >= _LEAST_BYTES]


def _notes(constants: _Constants) -> Iterator[Note]:
    for each in constants.captured[:3]:
        yield note(
            "doctor.captured_array",
            name=each.names[0] if each.names else "",
            type=each.type,
            size_bytes=each.size_bytes,
        )
    folded = _folded_bytes(constants.programs[0])
    if folded >= _LEAST_BYTES:
        yield note("doctor.captured_folded", size_bytes=folded)
    if not constants.captured:
        for buffer in constants.buffers[:3]:
            yield note(
                "doctor.captured_unknown",
                shape=buffer.shape,
                size_bytes=buffer.size_bytes,
                source=buffer.source or "",
            )


def _remedy(constants: _Constants, on_host: list[str]) -> Note:
    names = constants.names
    if not names:
        return note("doctor.captured_unknown_remedy")
    is_slow = any(_size_bytes(buffers) >= _LEAST_SLOW_BYTES for _, buffers in constants.of_programs)
    return note("doctor.captured_remedy", names=", ".join(names), on_host=", ".join(on_host), sooner=is_slow)


def _code(program: Program, names: list[str], on_host: list[str], evidence: Evidence) -> str | None:
    """Return the function with the arrays as further parameters; ``None`` where that is not mechanical."""
    place = file_of(program.location, evidence)
    tree = None if place is None else tree_of(place[0])
    if place is None or tree is None or not names or not all(map(_NAME.fullmatch, names)):
        return None
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.decorator_list]
    at = (each for each in functions if each.decorator_list[0].lineno <= place[1] <= each.lineno)
    function = next((each for each in at if each.name == program.function), None)
    if function is None or not _takes_more(function) or not _reads_alone(function, names, tree):
        return None
    parameters = [each.arg for each in function.args.args]
    first = function.decorator_list[0].lineno
    lines = text_of(place[0])[first - 1 : function.end_lineno]
    signature = f"def {function.name}({', '.join([*parameters, *names])})"
    head = f"def {function.name}({', '.join(parameters)})"
    text = "\n".join(lines)
    if len(lines) > _MOST_LINES or head not in text:
        return None
    puts = "".join(f"{name}_on_device = jax.device_put({name})\n" for name in on_host)
    passed = [f"{name}_on_device" if name in on_host else name for name in names]
    call = f"# Call it as {function.name}({', '.join([*parameters, *passed])})."
    return with_imports(f"{text.replace(head, signature, 1)}\n\n\n{puts}{call}", tree)


def _takes_more(function: ast.FunctionDef) -> bool:
    """Return whether further parameters at the end change nothing else: it is jitted, and only jitted."""
    given = function.args
    if given.vararg or given.kwonlyargs or given.kwarg or given.defaults or given.posonlyargs:
        return False
    (decorator, *others) = function.decorator_list
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    counted_from_the_end = any(isinstance(each, ast.USub) for option in options for each in ast.walk(option))
    return not others and is_jit(decorator) and {each.arg for each in options} <= _KEPT and not counted_from_the_end


def _reads_alone(function: ast.FunctionDef, names: list[str], tree: ast.Module) -> bool:
    """Return whether a function reads some variables, and none of the functions that it calls by name does."""
    if not set(names) <= free_names(function):
        return False
    calls = [each.func for each in ast.walk(function) if isinstance(each, ast.Call)]
    called = {each.id for each in calls if isinstance(each, ast.Name)}
    others = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each is not function]
    return not any(each.name in called and loaded(each.body).intersection(names) for each in others)


RULE = Rule(
    name="captured-constant",
    looks_for="arrays that are built into programs and are large or old, and programs that always compute the same",
    decides=f"Reports constants of at least {_LEAST_BYTES // 2**20} MiB in XLA's buffer assignment if they occupy "
    "device memory a second time, because the function captured an array on a device or several programs have the "
    "same constant. Of programs that are freed with their functions by the end of the run, one counts. These copies "
    f"have to take at least {_LEAST_BYTES // 2**20} MiB and {units.percent(LEAST_SHARE)} of the memory that the "
    f"programs need; or else the constants have at least {_LEAST_SLOW_BYTES // 2**20} MiB "
    "together, which take long to compile. Arrays that JAX passes as hidden arguments, and arrays that have one "
    "value everywhere, are not constants. Also reports a jitted function of yours that computes the same in every "
    "call: its program takes no arguments and has no effects or callbacks. Random numbers from a key made inside "
    "are the same, too. So does a function that a loop calls with arrays that it does not change, "
    "beside others that it does; an array of NumPy has to have had the same values in all of these calls. The "
    "function has to be called at least twice per run, its device time beyond the "
    f"first call has to be at least {units.percent(LEAST_SHARE)} of the run, and no program may donate "
    "anything, since a donated array has to be computed again. Also "
    "reports attributes of an object that a function reads and that have other values by the end of the run than the "
    "program was compiled with, if the object is a static argument that is not "
    "compared by them, or the object of a jitted method. The same goes for variables outside of a function, if it is "
    "called after they change. What XLA computes of constants while it compiles, "
    "compile-time reports.",
    source="https://github.com/jax-ml/jax/issues/10615",
    look=look,
    needs=("programs",),
)
