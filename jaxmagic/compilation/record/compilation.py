"""Declares compilations, with their stages and their causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from ...records.exportable import Exportable

#: Why a function was compiled. The words for people are in :attr:`Cause.reason`.
CauseKind = Literal[
    "first call",  # JAX had never seen the function
    "cleared caches",  # JAX had seen the function, but no longer has it in its caches
    "shape",  # an argument has a different shape
    "dtype",  # … a different element type
    "weak type",  # … a Python scalar where an array or another type of scalar was, or an array where a scalar was
    "static value",  # a static argument has a different value
    "pytree",  # the arguments have a different pytree structure
    "new function",  # the same source, but a new function object
    "options",  # jitted with different options: donated or static arguments, shardings
    "placement",  # a different device, sharding or commitment
    "context",  # a different configuration or mesh
    "transformation",  # part of jax.grad, jax.vmap, … applied from outside ``jit``
    "eager",  # an operation outside ``jit``, unless it differs from an earlier call: then that is the cause
    "transfer",  # a copy from the host, or between devices, that needs a program of its own
    "while tracing",  # an operation that ran while a function was traced
    "ahead of time",  # ``.lower().compile()`` was called
    "unknown",  # JAX gave no reason, and none could be derived
]

#: The stages of a compilation, in order.
Stage = Literal["tracing", "lowering", "compilation", "cache retrieval"]

#: What reports call the stages, as JAX's own methods do, and the fields of the records that have their times.
STAGES = (
    ("trace", "tracing_ns"),
    ("lower", "lowering_ns"),
    ("XLA", "compilation_ns"),
    ("cache", "cache_retrieval_ns"),
)

#: The result of a lookup in the persistent compilation cache.
CacheAnswer = Literal["hit", "miss"]

CAUSE_KINDS: tuple[str, ...] = get_args(CauseKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause(Exportable):
    """The cause of a compilation, and what would avoid it.

    Attributes:
        kind: one of ``CAUSE_KINDS``.
        reason: the cause in words, one line.
        remedy: what to do about it, one line; ``None`` where nothing needs doing.
        argument: the argument that differs, as JAX names it (``x``, ``params['w']``).
        now: its type or value in this call.
        before: its type or value in the closest earlier call.
        new_objects: the static arguments and fields, by name, that are objects re-created for this call. JAX compiles
            for each such object, also if the function itself is made once.
    """

    kind: CauseKind
    reason: str
    remedy: str | None = None
    argument: str | None = None
    now: str | None = None
    before: str | None = None
    new_objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation(Exportable):
    """One program that JAX traced, lowered and compiled, or fetched from its persistent cache.

    The stages are *self* times: they exclude nested compilations, so that stages of different compilations can be
    added up.

    Attributes:
        function: the name of the function, as it was given to ``jax.jit``; or of the eager operation.
        location: where the function is defined, if JAX reports it: ``"train.py:3"``, in a notebook ``"cell 12:3"``.
        tracing_ns: Python to jaxpr.
        lowering_ns: jaxpr to StableHLO.
        compilation_ns: StableHLO to an executable, by XLA; zero on a hit in the persistent cache.
        cache_retrieval_ns: the lookup in the persistent cache and the loading of its entry, on a hit.
        cache: ``"hit"`` or ``"miss"`` in the persistent cache; ``None`` if it was not consulted.
        saved_ns: the time that a hit saved, by JAX's own estimate (it may be negative).
        last_stage: the last stage that was reached; ``jax.eval_shape`` only traces.
        cause: why it was compiled.
        called_at: the line of the user's code that called it, ``"cell 12:5"``; ``None`` if that is the line at which
            the measurement began, or is not known.
        thread: the name of the thread that compiled it, if it is not one of the measured code's. The stages
            are then no part of the wall time. ``None`` for the measured code's own threads.
        began_ns: when its first stage began, since the start of the clock; ``None`` if it is not known.
        ended_ns: when its last stage ended; its stages need not follow each other without a gap.
        eager: whether this was a single operation outside ``jit``.
    """

    _derived: ClassVar[tuple[str, ...]] = ("total_ns",)

    function: str
    location: str | None
    tracing_ns: int
    lowering_ns: int
    compilation_ns: int
    cache_retrieval_ns: int
    cache: CacheAnswer | None
    saved_ns: int | None
    last_stage: Stage = "compilation"
    cause: Cause
    called_at: str | None = None
    thread: str | None = None
    began_ns: int | None = None
    ended_ns: int | None = None
    eager: bool = False

    def __post_init__(self) -> None:
        if self.cause.kind == "eager":  # records of earlier versions have no such field
            object.__setattr__(self, "eager", True)
        for name in ("tracing_ns", "lowering_ns", "compilation_ns", "cache_retrieval_ns"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: expected a duration of 0 or more, got {getattr(self, name)}")

    @property
    def total_ns(self) -> int:
        """The sum of all stages."""
        return self.tracing_ns + self.lowering_ns + self.compilation_ns + self.cache_retrieval_ns

    @property
    def compiled(self) -> bool:
        """Whether there is an executable, and not just a trace or a lowered program."""
        return self.last_stage in ("compilation", "cache retrieval")
