#include "../kernels/norm.cu"
SIMT_REGISTER(rms_norm)
SIMT_REGISTER(add_rms_norm)
SIMT_REGISTER(add)
