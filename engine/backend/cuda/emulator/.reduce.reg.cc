#include "../kernels/reduce.cu"
SIMT_REGISTER(all_reduce_add)
