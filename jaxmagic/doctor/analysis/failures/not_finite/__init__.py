"""Explain NaN or infinity under ``jax_debug_nans`` and ``jax_debug_infs``."""
