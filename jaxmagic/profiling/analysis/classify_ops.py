"""What the operations of a recording are: from its modules, or from what the profiler itself wrote beside them."""

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
from .devices.command_buffers import in_command_buffer, op_of_kernel
from .devices.kernel_names import kernel_function

#: Names of our own programs.
OURS = "jaxmagic_fence"

#: An instruction as the profiler of a TPU names its events: ``%name = shape opcode(operands)``.
_TEXT = re.compile(r"%(?P<name>[\w.-]+) = (?P<rest>.*)", re.DOTALL)

#: What parts of the names of kernels tell, and of the words of a TPU's profiler, the first that is found.
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

#: Words of a TPU's profiler that have another name here.
_CATEGORIES = {
    "loop fusion": "elementwise fusion",
    "output fusion": "matmul",
    "convolution fusion": "matmul",
    "while": "control flow",
    "conditional": "control flow",
    "call": "control flow",
    "data formatting": "layout change",
}

#: Larger numbers are none of operations or bytes.
_MOST = 2**60

#: Where a line begins to be a path and a number: ``"train.py:3:8"``, the column not always there.
_LINE = re.compile(r"(?P<file>.+?):(?P<line>\d{1,9})(?::\d+)?")


@dataclass(frozen=True, slots=True)
class ClassifiedOp:
    """What an event of a device is.

    Attributes:
        name: of the instruction, or of the kernel.
        module: the name of its program; empty if not known.
        category: what kind of work it is.
        rank: which of the ranks of :mod:`jaxmagic.profiling.analysis.attribution`.
        ours: whether it belongs to a program of this package.
        split: whether it belongs to several places.
        places: how its time is divided among the places that it comes from; empty if they are not known.
        shape: of its result.
        flops: of one run.
        multiplied: the type of the numbers that most of its products multiply; empty without any.
        accessed_bytes: of one run.
        performs: of each place that has operations of its own, which one it performs.
        opcode: what the instruction does, in XLA's words; empty if not known.
        payload_bytes: of a collective operation, the larger of what it takes and gives.
        about: why it has no line, or what of an argument it exchanges; empty for most.
        asynchronous: whether it goes on beside other operations, from its start to its end.
        groups: of a collective operation, among how many groups of devices it exchanges; 0 if not known.
    """

    name: str
    module: str = ""
    category: str = "other"
    rank: int = COMPUTE
    ours: bool = False
    split: bool = False
    places: Mapping[Place, float] = field(default_factory=dict)
    performs: Mapping[Place, Performed] = field(default_factory=dict)
    shape: str = ""
    flops: int | None = None
    multiplied: str = ""
    accessed_bytes: int | None = None
    opcode: str = ""
    payload_bytes: int | None = None
    groups: int = 0
    about: str = ""
    asynchronous: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """Return a key that is equal for events of one operation, also across recompiled programs."""
        return self.module, self.name, self.category, self.shape, self.flops, self.accessed_bytes

    @property
    def place(self) -> Place:
        """The place that most of its time belongs to."""
        return max(self.places, key=lambda each: self.places[each], default=((), ""))

    @property
    def source(self) -> str | None:
        """The line of that place, such as ``"cell 12:3"``; ``None`` if it is not known."""
        frame = line_of(self.place[0])
        return None if frame is None else frame.location

    @property
    def inside(self) -> str | None:
        """The function of a library that this line called; ``None`` if it called none, or that is not known."""
        return inside(self.place[0])


def is_ours(kind: EventMetadata) -> bool:
    """Tell whether an event belongs to a program of this package."""
    return OURS in str(kind.facts.get("hlo_module"))


def recorded(
    kind: EventMetadata, modules: Mapping[ProgramKey, HloModule], origins: dict[ProgramKey, Origins] | None = None
) -> ClassifiedOp:
    """Say what an event of this kind is.

    Args:
        kind: it.
        modules: those of the recording.
        origins: the lines of the instructions of each module, as far as they have been asked for.
    """
    text = _TEXT.match(kind.name)
    ended_by = _word(kind.facts.get("hlo_op"))
    module = None if kind.program is None else modules.get(kind.program)
    name = text["name"] if text else ended_by or kernel_function(kind.name)
    if in_command_buffer(kind):
        name = op_of_kernel(kind.name, module)
    title = _word(kind.facts.get("hlo_module")) or (module.name if module else "")
    number = None if module is None else module.instruction_ids.get(name)
    if text and ended_by not in ("", name):  # what goes on beside the operations, from its start to its end
        return replace(_by_facts(kind, f"async {name.replace('-start', '')}", title), asynchronous=True)
    if kind.program is None or module is None or number is None:
        return _by_facts(kind, name, title)
    origins = {} if origins is None else origins
    if kind.program not in origins:
        origins[kind.program] = Origins(module)
    instruction = module.instructions[number]
    kind_of_work: str = category(module, instruction)
    places = origins[kind.program].shares(instruction)
    copied = kind_of_work == "host callback" and "memcpy_details" in kind.facts  # what a GPU does for a callback
    return ClassifiedOp(
        name=instruction.name,
        module=title,
        category=kind_of_work,
        rank=COPY if copied else _rank(kind_of_work, instruction.opcode),
        ours=OURS in title,
        split=len({stack[-1:] for stack, _ in places}) > 1,
        places=places,
        performs=performed(module, instruction, origins[kind.program]),
        shape=instruction.shape,
        flops=flops(module, instruction),
        multiplied=multiplied(module, instruction),
        accessed_bytes=bytes_accessed(module, instruction),
        opcode=instruction.opcode,
        payload_bytes=payload_bytes(module, instruction) if kind_of_work == "collective" else None,
        groups=instruction.num_replica_groups,
        about=label_of_instruction(module, instruction),
    )


def _by_facts(kind: EventMetadata, name: str, module: str) -> ClassifiedOp:
    """Without the instruction: its category and its source stand with the event, on a TPU, or its name has to do."""
    said = _word(kind.facts.get("hlo_category"))
    lower = said.lower() or kind.name.lower()
    if "memcpy_details" in kind.facts:
        lower = "memcpy"
    found = next((category for part, category in _BY_NAME if part in lower), _CATEGORIES.get(said, said or "other"))
    stack = _stack(_word(kind.facts.get("source_stack")) or _word(kind.facts.get("source")))
    scope = _word(kind.facts.get("tf_op")).rstrip(":")
    return ClassifiedOp(
        name=name,
        module=module,
        category=found,
        rank=_rank(found, said),
        ours=OURS in module,
        places={(stack, scope): 1.0} if stack or scope else {},
        shape=_word(kind.facts.get("shape_with_layout")),
        flops=whole_number(kind.facts.get("flops")),
        accessed_bytes=whole_number(kind.facts.get("bytes_accessed")),
        opcode=said if found == "collective" else "",
    )


def _rank(category: str, opcode: str) -> int:
    """A copy that is computed, such as a transposition, is computation."""
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
    """A number of operations or bytes; ``None`` for what can be none."""
    return fact if isinstance(fact, int) and 0 <= fact < _MOST else None
