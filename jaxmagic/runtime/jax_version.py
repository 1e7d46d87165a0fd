"""Is there a JAX, and is it one that we know how to measure?"""

from __future__ import annotations

from ..errors import JaxNotAvailable

#: The oldest JAX whose events and logs the measuring code reads.
OLDEST = (0, 7, 2)

#: The oldest JAX that keeps the line of each call to a nested jitted function. 0.8.2 does not.
_KEEPS_LINES = (0, 10)


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
            f"jaxmagic needs JAX {oldest} or newer, got {jax.__version__}. It does not upgrade it for you, because "
            "that would separate JAX from the plugin of its accelerator. Upgrade both together: "
            f'pip install -U "jax[cuda12]>={oldest}", or whatever JAX was installed with; on a CPU "jax>={oldest}".'
        )


def keeps_lines() -> bool:
    """Tell whether operations within a nested jitted function have the line of their own call on this JAX."""
    import jax

    return jax.__version_info__ >= _KEEPS_LINES


def about_lines() -> list[str]:
    """Return what a reader of source lines must know on this JAX, a sentence each."""
    import jax

    if jax.__version_info__ >= _KEEPS_LINES:
        return []
    return [
        "JAX before 0.10 may give what runs in a function that is jitted itself, such as jnp.sort, the line of an "
        "earlier call with the same shapes, perhaps of another program. The body of a vmapped while_loop has the "
        "line of its call."
    ]
