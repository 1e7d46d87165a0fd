"""Explain what JAX's transformations and loops do not take."""
