"""Read the references of an object without running code of the user's."""
