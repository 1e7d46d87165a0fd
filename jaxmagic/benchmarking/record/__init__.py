"""Samples, their conditions, and what is wrong with them."""
