"""Explain names that the modules and the arrays of JAX do not have."""
