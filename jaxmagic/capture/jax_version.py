"""Is there a JAX, and is it one that we know how to measure?"""

from __future__ import annotations

import sys

from ..errors import JaxNotAvailable

#: The oldest JAX whose events and logs the measuring code reads.
OLDEST = (0, 8, 0)


def require_jax() -> None:
    """Import JAX, or say what to install.

    Importing JAX starts no backend: ``jax.distributed.initialize()`` and platform settings still work after it.

    Raises:
        JaxNotAvailable: JAX is not installed, does not import, or is older than :data:`OLDEST`.
    """
    if "jax" in sys.modules and "jax.monitoring" in sys.modules:
        return
    oldest = ".".join(map(str, OLDEST))
    try:
        import jax
        import jax.monitoring
    except ImportError as error:
        raise JaxNotAvailable(
            f"jaxmagic measures JAX, and JAX cannot be imported ({error}). "
            f'Install it with: pip install -U "jax>={oldest}"'
        ) from error
    if jax.__version_info__ < OLDEST:
        raise JaxNotAvailable(
            f"jaxmagic needs JAX {oldest} or newer; found {jax.__version__}, "
            f'which does not report what it compiles. Update it with: pip install -U "jax>={oldest}"'
        )
