"""Runs code with all that looks at memory."""
