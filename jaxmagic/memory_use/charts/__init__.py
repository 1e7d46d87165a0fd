"""Pictures of memory."""
