"""Explains an exception: what JAX's message says, what the failing expression does, and what to write instead."""
