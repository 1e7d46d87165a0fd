"""Programs that JAX traced, found in the frames of its calls, and their equations."""
