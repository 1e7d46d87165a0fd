"""Explains exceptions, and derives facts from the evidence that several rules need."""
