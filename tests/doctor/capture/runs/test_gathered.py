"""What is gathered beside the runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jax
import pytest

from jaxmagic.doctor.capture.runs.gathered import _cache_entries


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    """A folder of JAX's persistent cache with entries as JAX names them, and the switch to use it."""
    before = jax.config.jax_compilation_cache_dir
    for name, age_s in (("jit_f-ab12", 60), ("jit_f-cd34", 60), ("jit_f-new", -60), ("jit_f_2-ef56", 60)):
        entry = tmp_path / f"{name}-cache"
        entry.touch()
        os.utime(entry, (1_700_000_000 - age_s, 1_700_000_000 - age_s))
        (tmp_path / f"{name}-atime").touch()
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield tmp_path
    jax.config.update("jax_compilation_cache_dir", before)


@pytest.mark.parametrize(("functions", "had"), [(["f"], 2), (["f", "f_2"], 3), (["g"], 0), ([], None)])
def test_programs_of_a_missed_name_that_the_cache_had_before_are_counted(
    cache: Path, timing: Any, compilation: Any, functions: list[str], had: int | None
) -> None:
    missed = [compilation(function=each, cache="miss") for each in functions]
    hit = compilation(function="f_2", cache="hit")
    first = timing(*missed, hit, started_at="2023-11-14T22:13:20+00:00")  # 1,700,000,000 s
    assert cache.is_dir()
    assert _cache_entries(first) == had


def test_a_bucket_is_not_read(cache: Path, timing: Any, compilation: Any) -> None:
    jax.config.update("jax_compilation_cache_dir", "gs://bucket/cache")
    assert _cache_entries(timing(compilation(cache="miss"))) is None
