"""Finds double precision that crept in, and products of single precision that the device computes faster in less."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from ... import units
from ...records.call_stack import Frame
from ...records.note import note
from ...xla.hlo import HloModule, Sharded
from ..analysis.faster_products import LEAST_OF_PEAK, OPTIONS, FasterProducts, faster_products
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from ..record.program import CapturedArray, EquationCount, Program
from .device.casts import LEAST_OF_CASTS, casts
from .device.dominant import CERTAIN
from .host.syntax import around
from .rule import LEAST_SHARE, Rule, device_time, is_worth_it, source_at

#: The share of the time of an operation in double precision that single precision spares: it moves half the bytes.
_SPARED = 0.5

#: A faster type of products spares at least this share of a run: less is not worth the precision.
_LEAST_BY_PRODUCTS = 0.1

#: Element types of single precision and below.
_NARROW = ("f32[", "bf16[", "f16[")

#: An array of double precision.
_DOUBLE = re.compile(r"\bf64\[\d")

#: Of more arguments of double precision, the first ones are named.
_MOST_NAMES = 4

#: Text of a line that asks for double precision.
_ASKED = re.compile(r"(astype|dtype|asarray|array)\W.*(float64|double|f8\b|\bfloat\b)|convert_element_type|x64")


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find programs that compute in double precision, slow products, and casts that each call repeats."""
    yield from casts(RULE.name, evidence)
    programs = evidence.programs or ()
    for program in programs:
        named_alike = sum(each.executable.name == program.executable.name for each in programs)
        if program.module is None or not program.equations or program.eager or named_alike > 1:
            continue
        cost_ns = _SPARED * min(_double_ns(evidence, program.executable.name, program.module), evidence.run_ns)
        if cost_ns and is_worth_it(cost_ns, evidence):
            yield from _findings(program, program.module, program.equations, cost_ns)
        elif evidence.profile is not None and program.products and not _asks_for_precision(program.equations):
            name = program.executable.name
            faster = faster_products(evidence.profile, name, program.products, evidence.matmul_precision)
            if faster is not None and faster.spared_ns >= _LEAST_BY_PRODUCTS * evidence.run_ns:
                yield _slow_products(evidence, program, program.equations, faster)


def _double_ns(evidence: Evidence, name: str, module: HloModule) -> float:
    """Return the device time per run of the operations of a program that have arrays of double precision."""
    profile = evidence.profile
    assert profile is not None
    double = (
        each
        for each in profile.operation_times
        if each.module == name and (_DOUBLE.search(each.shape) or _is_double_inside(module, each.name))
    )
    return device_time(double, evidence)


def _is_double_inside(module: HloModule, name: str) -> bool:
    """Return whether a fusion has arrays of double precision inside."""
    number = module.instruction_ids.get(name)
    if number is None:
        return False
    called = module.instructions[number].called_computation_ids
    inside = [module.instructions[one] for each in called for one in module.computations.get(each, ())]
    return any(_DOUBLE.search(each.shape) for each in inside)


def _findings(
    program: Program, module: HloModule, equations: tuple[EquationCount, ...], cost_ns: float
) -> Iterator[RuleFinding]:
    narrow = [each for each in module.inputs if each.shape.startswith(_NARROW) and not each.shape.endswith("[]")]
    double = [each for each in module.inputs if each.shape.startswith("f64[") and not each.shape.endswith("[]")]
    if not narrow or (_elements(double) > _elements(narrow) and not _is_let_in(double, narrow, module, equations)):
        return
    first = _first(equations)
    if not double and (first is None or _is_asked_for(equations)):
        return
    line = None if double or first is None else first.line
    function = program.name
    texts = {ast.unparse(each) for each in _expressions(line)}
    captured = [(text, each) for each in program.captured if (text := _written(each, texts)) is not None]
    if double:
        largest = max(double, key=lambda each: _elements([each]))
        found = note("doctor.double_argument", function=function, argument=largest.name, shape=largest.shape)
        names = [each.name for each in double] if len(double) > 1 else []
        remedy = note("doctor.double_argument_remedy", arguments=", ".join(names[:_MOST_NAMES]), several=len(names))
    else:
        found = note("doctor.double_line", function=function)
        remedy = note("doctor.double_line_remedy", arrays=", ".join(text for text, _ in captured))
        narrow = [each for each in narrow if each.name in texts]
    yield RuleFinding(
        rule=RULE.name,
        found=found,
        line=program.location if line is None else line.location,
        source=source_at(line),
        evidence=(
            *(note("doctor.double_captured", array=text, type=each.type) for text, each in captured),
            note(
                "doctor.double_inputs",
                argument=narrow[0].name if narrow else "",
                shape=narrow[0].shape if narrow else "",
                equations=sum(each.count for each in equations if each.dtype == "float64"),
                double_ns=cost_ns / _SPARED,
            ),
        ),
        cost_ns=cost_ns,
        basis="estimated",
        remedy=remedy,
    )


def _is_let_in(
    double: list[Sharded], narrow: list[Sharded], module: HloModule, equations: tuple[EquationCount, ...]
) -> bool:
    """Return whether inputs make a program compute in double precision that otherwise is one of single precision.

    With 64-bit types on, single precision is asked for, and double precision is what NumPy and JAX give without being
    asked. A program is one of single precision if what it updates is, as parameters are in training, or if it has one
    argument with several arrays of it, as a model, and updates none of the others. In these, nothing is asked for by
    name.
    """
    results = {each.shape for each in module.outputs}
    updated = _elements([each for each in narrow if each.shape in results])
    updated_double = _elements([each for each in double if each.shape in results])
    if _is_asked_for(equations):
        return False
    if updated or updated_double:
        return updated > updated_double
    single, others = {_argument(each) for each in narrow}, {_argument(each) for each in double}
    return len(single) == 1 and len(narrow) > max(1, len(double)) and not single & others


def _argument(array: Sharded) -> str:
    """Return the argument that an array is a part of: ``params`` for ``params['w']``."""
    return re.split(r"\W", array.name, maxsplit=1)[0]


def _expressions(line: Frame | None) -> list[ast.expr]:
    """Return the variables, attributes and items in the statement of a line."""
    nodes = [each for node in ([] if line is None else around(line)[-1:]) for each in ast.walk(node)]
    return [each for each in nodes if isinstance(each, ast.Name | ast.Attribute | ast.Subscript)]


def _written(array: CapturedArray, texts: set[str]) -> str | None:
    """Return how a line writes an array of double precision; ``None`` for others, and if it does not."""
    if not array.type.startswith("float64["):
        return None
    longest = sorted(texts, key=len, reverse=True)
    return next((each for each in longest for name in array.names if f".{name}".endswith(f".{each}")), None)


def _slow_products(
    evidence: Evidence, program: Program, equations: tuple[EquationCount, ...], faster: FasterProducts
) -> RuleFinding:
    line = faster.largest.source
    frames = [each.line for each in equations if each.primitive == "dot_general" and each.line is not None]
    return RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.slow_products",
            function=program.name,
            now=faster.now,
            products_ns=faster.products_ns,
            run_ns=evidence.run_ns,
        ),
        line=line or program.location,
        source=source_at(next((each for each in frames if each.location == line), None)),
        evidence=(
            note(
                "doctor.faster_products",
                faster=faster.faster,
                products_ns=faster.products_ns,
                faster_ns=faster.products_ns - faster.spared_ns,
            ),
        ),
        cost_ns=min(faster.spared_ns, evidence.run_ns),
        basis="estimated",
        remedy=note("doctor.faster_products_remedy", faster=faster.faster),
        code=_with_precision(evidence.code, OPTIONS[faster.faster]),
    )


def _asks_for_precision(equations: tuple[EquationCount, ...]) -> bool:
    """Return whether the line of any product asks for a precision, which no option changes."""
    lines = {each.line for each in equations if each.primitive == "dot_general"}
    return any("precision" in (source_at(each) or "").lower() for each in lines)


def _with_precision(code: str | None, precision: str) -> str:
    """Return the code in a block that sets the precision of products; the setting alone if the code is no Python."""
    try:
        if code and ast.parse(code).body:
            return f'with jax.default_matmul_precision("{precision}"):\n{textwrap.indent(code.strip(), "    ")}'
    except (SyntaxError, ValueError):
        pass
    return f'jax.config.update("jax_default_matmul_precision", "{precision}")'


def _is_asked_for(equations: tuple[EquationCount, ...]) -> bool:
    """Return whether any line with double precision asks for it."""
    lines = {each.line for each in equations if each.dtype == "float64"}
    return any(_ASKED.search(source_at(line) or "") for line in lines)


def _first(equations: tuple[EquationCount, ...]) -> EquationCount | None:
    """Return the equation that first has double precision, by its line in the function that converts to it."""
    double = [each for each in equations if each.dtype == "float64" and each.line is not None]
    converting = next((each for each in double if each.primitive == "convert_element_type"), None)
    if converting is None or converting.line is None:
        return double[0] if double else None
    place = converting.line.file, converting.line.function
    beside = [each for each in double if each.line is not None and (each.line.file, each.line.function) == place]
    return min(beside, key=lambda each: 0 if each.line is None else each.line.line)


def _elements(arrays: list[Sharded]) -> int:
    total = 0
    for each in arrays:
        elements = 1
        for size in re.findall(r"\d+", each.shape.partition("[")[2]):
            elements *= int(size)
        total += elements
    return total


RULE = Rule(
    name="precision",
    looks_for="float64 that crept into a float32 program, float32 products that the GPU computes faster in TF32 or "
    "bfloat16, and arrays that each call converts to another type",
    decides="Reports a program that takes arrays of single precision or less, and at most as many elements of "
    "double precision, or more of them if the arrays that it returns again, as parameters in training, have mostly "
    "single precision, or if it returns none again, and one argument, such as a model, has several arrays of single "
    "precision and no other has any; if half of the device time of its operations in double precision is at least "
    f"{units.percent(LEAST_SHARE)} of the run, and no line in double precision asks for it by name. Also reports "
    "matrix products of float32 on an NVIDIA GPU whose data sheet is known, if they reach at least "
    f"{units.percent(LEAST_OF_PEAK)} of the peak rate of their type, memory does not bound them, and the run would "
    f"be at least {units.percent(_LEAST_BY_PRODUCTS)} shorter at the same share of the bfloat16 peak, conversions "
    "included. Their type is TF32 unless a precision is set. It is full float32 if jax_default_matmul_precision "
    "says so, and TF32 is then the faster one. Code that asks for a precision itself is left alone. So are CPUs, "
    "most of which have no fast bfloat16, and TPUs, where bfloat16 is the default. Also reports operations "
    f"that only convert an argument if they take at least {units.percent(LEAST_OF_CASTS)} of the run for one line, "
    "the program does not use the argument as it is, and it is known to be a variable that stays the same in a run. "
    f"{CERTAIN} Other casts have no time of their own: as a rule, XLA computes them within the operations beside "
    "them.",
    source="https://docs.jax.dev/en/latest/201/precision.html",
    look=look,
    needs=("programs", "profile"),
)
