"""In each of many programs with a planted slow line, this line comes first."""

from __future__ import annotations

import jax
import pytest
from planted import Planted, programs

import jaxmagic
from jaxmagic.profiling.analysis.source_lines import line_times
from jaxmagic.profiling.record.profile import Profile

#: What JAX 0.8 does not tell, and why.
NOT_TOLD = {
    "split_after_another_program": "keeps the line of the first caller alone",
    "checkpoint": "gives what is computed again the line of the call",
    "vmapped_while_loop": "gives the body of such a loop the line of the call",
    "differential_equation": "keeps the innermost line alone, which is equinox's",
    "root_of_optimistix": "keeps the innermost line alone, which is lineax's and equinox's",
    "checkpoint_of_equinox": "keeps no line of what equinox computes again",
}


def told(profile: Profile, program: Planted) -> tuple[bool, float]:
    """Return whether the slow line is first, and the share of the time without a line."""
    lines = line_times(profile)
    frame = lines[0].frame
    nowhere = sum(each.time_ns for each in lines if each.frame is None)
    return frame is not None and (frame.file, frame.line) == (program.file, program.line), nowhere / profile.device_ns


@pytest.mark.clock
@pytest.mark.parametrize("program", list(programs()), ids=lambda program: program.name)
def test_the_slow_line_is_first_and_little_has_no_line(program: Planted) -> None:
    if program.missing:
        pytest.skip(f"takes {', '.join(program.missing)}")
    if jax.__version_info__ < (0, 9, 2) and program.name in NOT_TOLD:
        pytest.skip(f"this JAX {NOT_TOLD[program.name]}")
    function, arguments = program.build(True)
    first, nowhere = told(jaxmagic.profile(function, *arguments, n=2), program)
    assert first
    assert nowhere < 0.05
