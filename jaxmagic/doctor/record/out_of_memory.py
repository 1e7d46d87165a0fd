"""Declares records about memory that ran out: the failed program, its peak by line, and smaller variants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: A variant that spares less than this share is no remedy.
LEAST_SPARED = 0.02

#: The remedies by which a variant of a program needs less memory.
SmallerBy = Literal[
    "donate",  # arguments are donated that the failing statement replaces
    "checkpoint",  # functions are recomputed in the backward pass
    "microbatch",  # the batch is taken in parts, one after the other
    "shard",  # the batch is sharded over several devices
    "bfloat16",  # float32 arguments are bfloat16, which changes the results
]

#: Reasons for which the failed program is unknown.
Unknown = Literal[
    "call",  # the failing line calls no jitted function whose arguments are known without running code
    "outside",  # no line of the user's waited for the result, as where it was displayed
    "waited",  # the failing line waits for a result, and no known program that it may come from needs as much
    "unexamined",  # it waits for a result, and an argument of a call that it may come from is not known so
    "compile",  # compiling it failed
    "sizes",  # the backend does not report the sizes
]

#: Stands for any call of a jitted function.
ANY_CALL = "f, *args"

#: Reasons for which some variants were not tried.
Incomplete = Literal[
    "",  # every one was, or one fits
    "budget",  # the time was up
    "interrupted",
    "differs",  # the function with other options than those of its jit is another program
    "library",  # the function is not the user's
    "converted",  # the library that jits it converts its arguments
]


#: Reasons for which the batch was not split.
Unsplit = Literal[
    "",  # it was, or there was no need to
    "unknown",  # it is not evident which arguments are a batch
    "one device",  # it was taken in parts, and there is one device only
]


#: Reasons for which no function was recomputed in the backward pass.
Uncheckpointed = Literal[
    "",  # one was, or there was no need to
    "no gradient",  # there is no backward pass
    "inside",  # the function reads none that the user wrote and that can be replaced from outside
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A failed allocation, as far as the message of an error describes it.

    Attributes:
        asked_bytes: the allocation that failed; ``None`` if the message does not say.
        space: the memory space that a program exceeds, such as ``"hbm"``; empty if the message names none.
        used_bytes: what the program needs there; ``None`` if unknown.
        capacity_bytes: how much there is; ``None`` if unknown.
    """

    asked_bytes: int | None = None
    space: str = ""
    used_bytes: int | None = None
    capacity_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldAtPeak:
    """Buffers that are live at the peak of a program and come from the same line.

    Attributes:
        line: the line, such as ``"cell 3:5"``; ``None`` for arguments.
        name: the argument, or the shape of the largest buffer.
        size_bytes: their bytes.
    """

    line: str | None
    name: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Smaller:
    """A variant of a program, which was compiled and did not run.

    Attributes:
        by: the remedies that were applied together.
        donated: the parameters that are donated in addition.
        checkpointed: the functions inside ``jax.checkpoint``.
        batch: the parameters that are the batch, if it is split.
        parts: the number of its parts, or of the devices over which it is sharded.
        mean: the differentiated function, if it has to return a mean over the batch, and may not, for the variant to
            compute the same; empty otherwise.
        code: the function as it takes its batch in parts; ``None`` if there is none.
        others_bytes: arrays beside it, on the fullest of the devices over which the batch is sharded; ``None`` if
            the variant uses the devices of the program.
        need_bytes: what the variant needs on a device.
    """

    by: tuple[SmallerBy, ...]
    donated: tuple[str, ...] = ()
    checkpointed: tuple[str, ...] = ()
    batch: tuple[str, ...] = ()
    parts: int = 1
    mean: str = ""
    code: str | None = None
    others_bytes: int | None = None
    need_bytes: int

    @property
    def same_results(self) -> bool:
        """Whether the variant evidently computes the same, up to rounding."""
        return "bfloat16" not in self.by and not self.mean


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedProgram:
    """The program that the failing line calls, compiled again for the types of its arguments.

    Attributes:
        function: the function as it is written at the call.
        need_bytes: what it needs on a device: arguments, results and temporaries.
        argument_bytes: its arguments.
        output_bytes: its results, without those in the memory of donated arguments.
        temporary_bytes: its temporaries.
        at_module_level: whether the call stands outside of functions, where later code may have changed its
            arguments.
        held: what is live at its peak, by line, largest first.
        others_bytes: live arrays that are not its arguments, on the fullest of its devices, and its constants;
            ``None`` if they are unknown.
        limit_bytes: the memory of a device; ``None`` if it is unknown.
        limit_given: whether the user gave the limit.
        variants: what was tried, in order.
        incomplete: why not everything was tried; empty if it was, or if a variant fits.
        unsplit: why the batch was not split.
        uncheckpointed: why ``jax.checkpoint`` was not tried.
    """

    function: str
    need_bytes: int
    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    at_module_level: bool = False
    held: tuple[HeldAtPeak, ...] = ()
    others_bytes: int | None = 0
    limit_bytes: int | None = None
    limit_given: bool = False
    variants: tuple[Smaller, ...] = ()
    incomplete: Incomplete = ""
    unsplit: Unsplit = ""
    uncheckpointed: Uncheckpointed = ""

    def fits(self, variant: Smaller | None = None) -> bool | None:
        """Return whether a variant, or the program itself, fits beside other arrays; ``None`` if that is unknown."""
        need_bytes = self.need_bytes if variant is None else variant.need_bytes
        others_bytes = self.others_bytes
        if variant is not None and variant.others_bytes is not None:
            others_bytes = variant.others_bytes
        if self.limit_bytes is None or others_bytes is None:
            return None
        return need_bytes + others_bytes <= self.limit_bytes

    @property
    def best(self) -> Smaller | None:
        """The first variant that fits, or else the smallest with the same results.

        ``None`` if none is smaller by at least 2 %.
        """
        smaller = [each for each in self.variants if self._is_smaller(each)]
        fitting = next((each for each in smaller if self.fits(each)), None)
        same = [each for each in smaller if each.same_results]
        return fitting or min(same, key=lambda each: each.need_bytes, default=None)

    @property
    def in_vain(self) -> frozenset[SmallerBy]:
        """The remedies that were compiled and do not help: the variant is not smaller, or does not fit."""
        vain = [each for each in self.variants if not self._is_smaller(each) or self.fits(each) is False]
        return frozenset(by for each in vain for by in each.by)

    def _is_smaller(self, variant: Smaller) -> bool:
        return variant.need_bytes <= (1 - LEAST_SPARED) * self.need_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfMemory:
    """Memory that ran out.

    Attributes:
        shortage: what the message says.
        program: the program that the failing line calls; ``None`` if it is unknown.
        unknown: why it is unknown.
        unknown_call: a call whose program is unknown, as the function and its arguments; :data:`ANY_CALL` if a result
            was waited for, and its call is unknown.
    """

    shortage: Shortage
    program: FailedProgram | None = None
    unknown: Unknown | None = None
    unknown_call: str = ""
