"""The machine: clocks, devices, listeners.

The law of this room: it alone says ``jax.``, reads a clock or waits. It draws nothing and leaves the session as
it found it: whatever is registered, set or started ends in a ``finally``, and no array is kept alive.
"""
