"""Explain values that are not what a function or an operator needs."""
