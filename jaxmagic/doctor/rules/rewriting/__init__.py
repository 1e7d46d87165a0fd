"""Reads the syntax of the user's code, and writes code to paste."""
