"""Declares how much the same program varies from process to process, and what a verdict rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: The source of the noise between processes: the records themselves, if they have three processes on both sides or
#: vary by more than was measured or assumed; else a measurement on this machine; else an assumption.
NoiseSource = Literal["records", "measured", "assumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramNoise:
    """The variation of one program from process to process.

    Attributes:
        call_ns: the median time of a call.
        sd: the standard deviation of the logarithms of the medians of several processes; 0.05 is 5 %.
    """

    call_ns: float
    sd: float

    def __post_init__(self) -> None:
        if not self.call_ns > 0 or self.sd < 0:
            raise ValueError(f"expected a positive call_ns and sd >= 0, got call_ns={self.call_ns}, sd={self.sd}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessNoise:
    """The variation of medians from process to process on one machine, measured with a few small programs.

    Attributes:
        programs: the noise of each program.
        processes: the number of fresh processes in which each was measured.
    """

    programs: tuple[ProgramNoise, ...]
    processes: int

    def __post_init__(self) -> None:
        if not self.programs or self.processes < 2:
            raise ValueError(
                "expected at least one program and two processes, "
                f"got {len(self.programs)} programs and {self.processes} processes"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """The evidence behind a verdict on two records.

    Attributes:
        old_processes: the number of processes of the earlier record.
        new_processes: the number of processes of the later record.
        between_sd: the standard deviation of log medians from process to process; 0.05 is 5 %.
        within_sd: the standard error of a median within its process, as a share of the median.
        source: where `between_sd` comes from.
        smallest_ratio: the smallest ratio of times that two such records show in 8 of 10 cases; ``None`` if it is
            above a hundred.
        old_load: how many processors other processes kept busy beside the earlier record, such as ``1.5 of 2 CPUs``;
            empty if few, or if unknown.
        new_load: how many they kept busy beside the later record.
    """

    old_processes: int
    new_processes: int
    between_sd: float
    within_sd: float
    source: NoiseSource
    smallest_ratio: float | None
    old_load: str = ""
    new_load: str = ""
