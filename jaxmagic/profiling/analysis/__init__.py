"""Turns a trace into device time by line, operation and scope."""
