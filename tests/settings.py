"""What has another name in the oldest versions that are supported, of JAX or of ipywidgets."""

from __future__ import annotations

from typing import Any

import jax


def live_widgets() -> dict[str, Any]:
    """The widgets that exist in this kernel, by their models."""
    import ipywidgets

    module = ipywidgets.widgets.widget
    found: dict[str, Any] = module._instances if hasattr(module, "_instances") else ipywidgets.Widget.widgets
    return found


def enabled_x64() -> Any:
    """A block in which numbers have 64 bits."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()
