"""Applies remedies to a copy of the code, as far as that can be done mechanically: one file per remedy."""
