"""Declares samples and their conditions, and finds what is wrong with them."""
