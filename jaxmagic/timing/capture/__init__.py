"""The stopwatch, the fence, and how to wait for a result."""
