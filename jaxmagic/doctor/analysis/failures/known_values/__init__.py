"""Decides what has to be known while a function is traced, and what a static argument makes known."""
