"""Reasons about values that a call may use up: what the code replaces, what it keeps, and what else it passes."""
