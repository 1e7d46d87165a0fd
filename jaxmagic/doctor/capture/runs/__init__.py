"""Runs of the examined code: how often, what is observed in each, and the evidence that they give."""
