import trap.kernels.table
