"""Estimate the share of time that one function takes, and the time that jitting it saves."""
