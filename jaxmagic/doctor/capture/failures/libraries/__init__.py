"""Reads how the failing code uses libraries around JAX: flags that pass through them, and their modules."""
