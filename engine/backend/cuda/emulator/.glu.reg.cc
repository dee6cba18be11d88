#include "../kernels/glu.cu"
SIMT_REGISTER(swiglu)
SIMT_REGISTER(geglu)
