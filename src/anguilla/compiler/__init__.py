"""The private compiler: kernels, tables by address, distant kernels, four numbers at a time."""
