#include "../kernels/kv.cu"
SIMT_REGISTER(kv_write_f16)
SIMT_REGISTER(kv_write_q8q4)
