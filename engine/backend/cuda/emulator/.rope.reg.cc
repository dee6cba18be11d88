#include "../kernels/rope.cu"
SIMT_REGISTER(rope_table)
SIMT_REGISTER(rope)
