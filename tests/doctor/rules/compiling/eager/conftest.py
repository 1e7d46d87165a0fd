from __future__ import annotations

import jax
import pytest

from jaxmagic.doctor.rules.compiling import compile_time
from jaxmagic.doctor.rules.compiling.eager.eager_programs import eager_programs


@pytest.fixture
def any_programs_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """All operations compile in the test, and one nanosecond of that is enough."""
    jax.clear_caches()
    monkeypatch.setattr(
        compile_time, "eager_programs", lambda found, rule, _, evidence: eager_programs(found, rule, 1, evidence)
    )
