"""Find out what traced values on the failing line depend on, and where they went."""
