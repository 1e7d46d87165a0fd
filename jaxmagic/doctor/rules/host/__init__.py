"""Rules about the host: waits, eager operations, short calls, input and transfers."""
