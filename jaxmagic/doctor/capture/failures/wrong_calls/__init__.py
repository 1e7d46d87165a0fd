"""Recognizes wrong calls of JAX by their arguments, where the message alone does not tell."""
