"""Measures a block: the stopwatch, the fence, and waiting for results."""
