"""Reads exceptions that JAX raised into facts."""
