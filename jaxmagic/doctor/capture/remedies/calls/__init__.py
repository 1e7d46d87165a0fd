"""Jits calls: what a transformation of JAX returns, and calls of libraries."""
