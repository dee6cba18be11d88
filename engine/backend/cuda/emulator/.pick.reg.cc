#include "../kernels/pick.cu"
SIMT_REGISTER(arg_max)
SIMT_REGISTER(top_k)
