"""``%%jaxcompare``."""
