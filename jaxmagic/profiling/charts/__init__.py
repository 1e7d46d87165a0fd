"""Pictures of device time."""
