"""Writes what a JAX loop iterates over and carries, with the types of the Python loop."""
