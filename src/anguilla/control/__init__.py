"""Control in constraint space."""
