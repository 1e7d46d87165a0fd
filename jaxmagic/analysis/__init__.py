"""Pure reasoning: from what was noted to what it means.

The law of this room: a function's answer depends on its arguments alone. No clock, no JAX, no state, no drawing.
"""
