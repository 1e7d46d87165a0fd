"""Rewrites loops that fill an array of JAX element by element, with ``K = K.at[i].set(...)``."""
