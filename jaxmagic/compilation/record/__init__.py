"""Compilations, their causes, and what JAX reported about them."""
