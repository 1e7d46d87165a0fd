"""Explain what Flax, Equinox and Optax do not take."""
