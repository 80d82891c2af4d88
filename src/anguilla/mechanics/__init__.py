"""The numeric core: the frozen tree, its recursions down and up, and their exact tangent."""
