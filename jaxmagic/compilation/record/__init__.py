"""Compilations, their causes, and what JAX said of them."""
