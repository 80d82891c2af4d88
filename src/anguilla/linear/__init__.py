"""Linear algebra of large robots: blocks of a tree, their elimination, and one sparse matrix of nets."""
