"""Check that JAX is installed, in a version that jaxmagic can measure."""

from __future__ import annotations

from ..errors import JaxNotAvailable

#: The oldest JAX whose events and logs jaxmagic can read.
OLDEST = (0, 7, 2)

#: The oldest JAX known to report source lines correctly inside nested jitted functions; 0.8.2 does not.
_KEEPS_LINES = (0, 10)

#: The oldest JAX whose persistent cache keeps programs that call Python.
_CACHES_CALLBACKS = (0, 11)


def require_jax() -> None:
    """Import JAX, or say what to install.

    Importing JAX starts no backend: ``jax.distributed.initialize()`` and platform settings still work after it.

    Raises:
        JaxNotAvailable: JAX is not installed, does not import, or is older than :data:`OLDEST`.
    """
    oldest = ".".join(map(str, OLDEST))
    try:
        import jax
        import jax.monitoring
    except ImportError as error:
        raise JaxNotAvailable(
            f"jaxmagic measures JAX, and JAX cannot be imported ({error}). "
            f'Install it with: pip install "jax>={oldest}"'
        ) from error
    if jax.__version_info__ < OLDEST:
        raise JaxNotAvailable(
            f"jaxmagic needs JAX {oldest} or newer, got {jax.__version__}. It does not upgrade JAX for you, because "
            "JAX and its accelerator plugin have to match. Upgrade both together: "
            f'pip install -U "jax[cuda12]>={oldest}", or the extra that JAX was installed with; on a CPU '
            f'"jax>={oldest}".'
        )


def keeps_lines() -> bool:
    """Return whether operations within a nested jitted function have the line of their own call on this JAX."""
    import jax

    return jax.__version_info__ >= _KEEPS_LINES


def caches_callbacks() -> bool:
    """Return whether the persistent cache of this JAX keeps programs that call Python while they run."""
    import jax

    return jax.__version_info__ >= _CACHES_CALLBACKS
