"""Code for methods that compute with attributes: what jit can keep of an object, and what it gets."""
