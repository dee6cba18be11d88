#include "../kernels/matmat.cu"
SIMT_REGISTER(mat_mat_q8_0)
SIMT_REGISTER(mat_mat_q4_0)
SIMT_REGISTER(mat_mat_q4_1)
SIMT_REGISTER(mat_mat_q5_0)
SIMT_REGISTER(mat_mat_q5_1)
SIMT_REGISTER(mat_mat_q4_k)
SIMT_REGISTER(mat_mat_q5_k)
SIMT_REGISTER(mat_mat_q6_k)
