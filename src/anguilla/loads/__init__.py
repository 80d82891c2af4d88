"""loads."""
