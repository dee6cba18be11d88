import trap.kernels.cpu
