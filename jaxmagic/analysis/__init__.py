"""Pure reasoning: from what was noted to what it means.

The law of this room: a function's answer depends on its arguments alone. No clock, no JAX, no drawing; what is
remembered from one measurement to the next is passed in (:class:`~jaxmagic.analysis.causes.Memory`).
"""
