"""A robot compiled for computation: its tables, its residual and the exact tangent."""
