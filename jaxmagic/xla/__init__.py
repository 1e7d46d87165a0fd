"""Compiled XLA programs: reading them and analysing them. Nothing here imports JAX."""
