"""The records of a session, oldest first."""
