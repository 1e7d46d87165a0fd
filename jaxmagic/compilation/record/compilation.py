"""What JAX compiled, in which stages, and why it had to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from ...records.exportable import Exportable

#: Why a function was compiled. The words for people are in :attr:`Cause.reason`.
CauseKind = Literal[
    "first call",  # JAX had never seen the function
    "shape",  # an argument has another shape
    "dtype",  # … another element type
    "weak type",  # … a Python scalar where an array was, or the reverse
    "static value",  # a static argument has another value
    "pytree",  # the arguments are nested in another way
    "new function",  # the same source, but a function object made anew
    "options",  # jitted with other options: donated or static arguments, shardings
    "placement",  # another device, sharding or commitment
    "context",  # another configuration or mesh
    "transformation",  # a part of jax.grad, jax.vmap, … applied from outside ``jit``
    "eager",  # an operation outside ``jit``; one that was seen before has what differs as its cause
    "transfer",  # a copy from the host, or from device to device, that is a program of its own
    "while tracing",  # an operation that ran while a function was traced
    "ahead of time",  # ``.lower().compile()`` was called
    "unknown",  # JAX gave no reason, and none could be derived
]

#: The stages of a program, in the order in which it goes through them.
Stage = Literal["tracing", "lowering", "compilation", "cache retrieval"]

#: What the persistent compilation cache answered; ``None`` where it was not asked.
CacheAnswer = Literal["hit", "miss"]

CAUSE_KINDS: tuple[str, ...] = get_args(CauseKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause(Exportable):
    """Why a function was compiled, and what would spare it.

    Attributes:
        kind: one of :data:`CAUSE_KINDS`.
        reason: the cause in words, one line.
        remedy: what to do about it, one line; ``None`` where nothing needs doing.
        argument: the argument that differs, as JAX names it (``x``, ``params['w']``).
        now: its type or value in this call.
        before: its type or value in the closest earlier call.
    """

    kind: CauseKind
    reason: str
    remedy: str | None = None
    argument: str | None = None
    now: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation(Exportable):
    """One program that JAX traced, lowered and compiled, or fetched from its persistent cache.

    The stages are *self* times: time that nested compilations took is theirs, not this one's, so that stages of
    different compilations can be added up.

    Attributes:
        function: the name of the function, as it was given to ``jax.jit``; or of the eager operation.
        location: where it is defined, where JAX tells: ``"train.py:3"``, or of a notebook ``"cell 12:3"``.
        tracing_ns: Python to jaxpr.
        lowering_ns: jaxpr to StableHLO.
        compilation_ns: StableHLO to an executable, by XLA. Zero when the persistent cache answered.
        cache_retrieval_ns: asking the persistent cache and loading what it had.
        cache: ``"hit"`` or ``"miss"`` of the persistent cache, ``None`` where it was not asked.
        saved_ns: what a hit saved, by JAX's own estimate (it may be negative).
        last_stage: how far it came: ``jax.eval_shape`` traces only.
        cause: why it was compiled.
        thread: the name of the thread that compiled it while the measured code ran beside it. The stages
            are then in no part of the wall time. ``None`` for the measured code's own threads.
        began_ns: when its first stage began, since the start of the clock; ``None`` if it is not known.
        ended_ns: when its last stage ended. Between them there may have been other things as well.
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
    thread: str | None = None
    began_ns: int | None = None
    ended_ns: int | None = None
    eager: bool = False

    def __post_init__(self) -> None:
        if self.cause.kind == "eager":  # in records of versions that had no such field
            object.__setattr__(self, "eager", True)
        for name in ("tracing_ns", "lowering_ns", "compilation_ns", "cache_retrieval_ns"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: expected a duration of 0 or more, got {getattr(self, name)}")

    @property
    def total_ns(self) -> int:
        """All stages together."""
        return self.tracing_ns + self.lowering_ns + self.compilation_ns + self.cache_retrieval_ns

    @property
    def compiled(self) -> bool:
        """True if there is an executable now: not after tracing or lowering alone."""
        return self.last_stage in ("compilation", "cache retrieval")
