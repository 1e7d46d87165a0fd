"""Listens to JAX, and describes the calls that compile."""
