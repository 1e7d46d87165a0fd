"""Finds programs of operations outside of jit that take long to compile."""
