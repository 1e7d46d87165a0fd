"""Programs that ran out of memory."""
