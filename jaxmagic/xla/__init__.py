"""Compiled programs as XLA wrote them. Nothing here sees JAX."""
