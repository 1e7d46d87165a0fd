"""Explain arguments that JAX's functions do not take. Each kind has a pattern, a function and its words."""
