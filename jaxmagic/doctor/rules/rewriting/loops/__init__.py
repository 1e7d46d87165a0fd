"""Reads the loops of the code: how they end, what they need, and how they are written as one program."""
