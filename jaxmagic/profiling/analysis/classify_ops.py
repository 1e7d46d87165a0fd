"""Classifies the events of devices, from the compiled modules or else from the statistics of the events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...records.call_stack import Frame, Stack
from ...records.inside import inside, line_of
from ...xla.costs.bytes_accessed import bytes_accessed, payload_bytes
from ...xla.costs.cost_analysis import category, flops, multiplied
from ...xla.hlo import HloModule
from ...xla.lines.labels import label_of_instruction
from ...xla.lines.origins import Origins, Place
from ...xla.lines.performed import Performed, performed
from ..record.recording import EventMetadata, ProgramKey, StatValue
from .attribution import CALLBACK, COLLECTIVE, COMPUTE, CONTROL, COPY
from .devices.command_buffers import in_command_buffer, may_be_several
from .devices.graph_kernels import op_of_kernel
from .devices.kernel_names import kernel_function

#: What the names of jaxmagic's own programs begin with.
OURS = "jaxmagic_fence"

#: An event name of a TPU: the HLO text ``%name = shape opcode(operands)``.
_TEXT = re.compile(r"%(?P<name>[\w.-]+) = (?P<rest>.*)", re.DOTALL)

#: Parts of kernel names and of TPU categories, with our category; the first match counts.
_BY_NAME = (
    ("memcpy", "memcpy"),
    ("copybuffer", "memcpy"),
    ("memset", "memset"),
    ("fillbuffer", "memset"),
    ("nccl", "collective"),
    ("rccl", "collective"),
    ("all-reduce", "collective"),
    ("all-gather", "collective"),
    ("all-to-all", "collective"),
    ("reduce-scatter", "collective"),
    ("collective", "collective"),
    ("copy-start", "copy"),
    ("copy-done", "copy"),
)

#: Categories of a TPU (``hlo_category``) that have another name here.
_CATEGORIES = {
    "loop fusion": "elementwise fusion",
    "output fusion": "matmul",
    "convolution fusion": "matmul",
    "while": "control flow",
    "conditional": "control flow",
    "call": "control flow",
    "data formatting": "layout change",
}

#: Larger numbers are not taken for FLOPs or bytes.
_MOST = 2**60

#: A source line as the profiler writes it: ``"train.py:3:8"``, or without the column.
_LINE = re.compile(r"(?P<file>.+?):(?P<line>\d{1,9})(?::\d+)?")


@dataclass(frozen=True, slots=True)
class ClassifiedOp:
    """An operation of a device, as its events describe it.

    Attributes:
        name: the name of the instruction, or of the kernel.
        module: the name of its program; empty if not known.
        category: the kind of work, such as ``"matmul"``.
        priority: a priority of :mod:`jaxmagic.profiling.analysis.attribution`.
        ours: whether it belongs to a program of jaxmagic.
        split: whether it has several source lines.
        places: the share of its time for each place in the source; empty if none is known.
        performs: for a place with operations of its own, the operation that is performed there.
        shape: the shape of its result.
        flops: FLOPs of one execution.
        multiplied: the element type that most of its matrix products multiply; empty without products.
        bytes_accessed: bytes accessed by one execution.
        opcode: XLA's opcode; empty if not known.
        payload_bytes: for a collective, the size of its operands or its result, whichever is larger.
        replica_group_count: for a collective, the number of its replica groups; 0 if not known.
        about: why it has no line, or which part of an argument it communicates; empty for most.
        asynchronous: whether it overlaps other operations, from its start to its done instruction.
    """

    name: str
    module: str = ""
    category: str = "other"
    priority: int = COMPUTE
    ours: bool = False
    split: bool = False
    places: Mapping[Place, float] = field(default_factory=dict)
    performs: Mapping[Place, Performed] = field(default_factory=dict)
    shape: str = ""
    flops: int | None = None
    multiplied: str = ""
    bytes_accessed: int | None = None
    opcode: str = ""
    payload_bytes: int | None = None
    replica_group_count: int = 0
    about: str = ""
    asynchronous: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """Return a key that is equal for events of one operation, also across recompiled programs."""
        return self.module, self.name, self.category, self.shape, self.flops, self.bytes_accessed

    @property
    def place(self) -> Place:
        """The place with most of its time."""
        return max(self.places, key=lambda each: self.places[each], default=((), ""))

    @property
    def source(self) -> str | None:
        """The line of that place, such as ``"cell 12:3"``; ``None`` if it is not known."""
        frame = line_of(self.place[0])
        return None if frame is None else frame.location

    @property
    def inside(self) -> str | None:
        """The library function that this line called; ``None`` if it called none, or if that is not known."""
        return inside(self.place[0])


def is_ours(kind: EventMetadata) -> bool:
    """Return whether an event belongs to a program of jaxmagic."""
    return OURS in str(kind.stats.get("hlo_module"))


def classify(
    kind: EventMetadata, modules: Mapping[ProgramKey, HloModule], origins: dict[ProgramKey, Origins] | None = None
) -> ClassifiedOp:
    """Classify the events of one kind.

    Args:
        kind: their metadata.
        modules: the compiled modules of the trace.
        origins: caches the source lines of each module.
    """
    text = _TEXT.match(kind.name)
    done_op = _word(kind.stats.get("hlo_op"))
    module = None if kind.program is None else modules.get(kind.program)
    name = text["name"] if text else done_op or kernel_function(kind.name)
    if in_command_buffer(kind):
        name = op_of_kernel(kind.name, module)
    module_name = _word(kind.stats.get("hlo_module")) or (module.name if module else "")
    number = None if module is None else module.instruction_ids.get(name)
    if text and done_op not in ("", name):  # asynchronous: from its start to its done instruction
        return replace(_by_stats(kind, f"async {name.replace('-start', '')}", module_name), asynchronous=True)
    if kind.program is None or module is None or number is None or may_be_several(kind):
        return _by_stats(kind, name, module_name)
    origins = {} if origins is None else origins
    if kind.program not in origins:
        origins[kind.program] = Origins(module)
    instruction = module.instructions[number]
    op_category: str = category(module, instruction)
    places = origins[kind.program].shares(instruction)
    copied = op_category == "host callback" and "memcpy_details" in kind.stats  # what a GPU does for a callback
    return ClassifiedOp(
        name=instruction.name,
        module=module_name,
        category=op_category,
        priority=COPY if copied else _priority(op_category, instruction.opcode),
        ours=OURS in module_name,
        split=len({stack[-1:] for stack, _ in places}) > 1,
        places=places,
        performs=performed(module, instruction, origins[kind.program]),
        shape=instruction.shape,
        flops=flops(module, instruction),
        multiplied=multiplied(module, instruction),
        bytes_accessed=bytes_accessed(module, instruction),
        opcode=instruction.opcode,
        payload_bytes=payload_bytes(module, instruction) if op_category == "collective" else None,
        replica_group_count=instruction.num_replica_groups,
        about=label_of_instruction(module, instruction),
    )


def _by_stats(kind: EventMetadata, name: str, module: str) -> ClassifiedOp:
    """Classify without the instruction: a TPU's events have a category and a source line, others only a name."""
    hlo_category = _word(kind.stats.get("hlo_category"))
    lower = hlo_category.lower() or kind.name.lower()
    if "memcpy_details" in kind.stats:
        lower = "memcpy"
    otherwise = _CATEGORIES.get(hlo_category, hlo_category or "other")
    op_category = next((category for part, category in _BY_NAME if part in lower), otherwise)
    stack = _stack(_word(kind.stats.get("source_stack")) or _word(kind.stats.get("source")))
    scope = _word(kind.stats.get("tf_op")).rstrip(":")
    return ClassifiedOp(
        name=name,
        module=module,
        category=op_category,
        priority=_priority(op_category, hlo_category),
        ours=OURS in module,
        places={(stack, scope): 1.0} if stack or scope else {},
        shape=_word(kind.stats.get("shape_with_layout")),
        flops=whole_number(kind.stats.get("flops")),
        bytes_accessed=whole_number(kind.stats.get("bytes_accessed")),
        opcode=hlo_category if op_category == "collective" else "",
    )


def _priority(category: str, opcode: str) -> int:
    """Return the priority. A copy that a kernel computes, such as a transposition, is computation."""
    if category == "control flow":
        return CONTROL
    if category == "collective":
        return COLLECTIVE
    if category == "host callback":
        return CALLBACK
    if category in ("memcpy", "memset"):
        return COPY
    moved = category in ("copy", "infeed") and opcode in ("", "copy", "copy-start", "copy-done", "infeed", "outfeed")
    return COPY if moved else COMPUTE


def _stack(text: str) -> Stack:
    lines = (_LINE.fullmatch(each.strip()) for each in text.splitlines())
    return tuple(Frame(function="", file=each["file"], line=int(each["line"])) for each in lines if each)


def _word(fact: StatValue | None) -> str:
    return fact if isinstance(fact, str) else ""


def whole_number(fact: object) -> int | None:
    """Return a statistic that can be a number of FLOPs or bytes, else ``None``."""
    return fact if isinstance(fact, int) and 0 <= fact < _MOST else None
