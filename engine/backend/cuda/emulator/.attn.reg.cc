#include "../kernels/attn.cu"
SIMT_REGISTER(attn_softmax)
SIMT_REGISTER(attn_scores_f16)
SIMT_REGISTER(attn_mix_f16)
SIMT_REGISTER(attn_scores_q8q4)
SIMT_REGISTER(attn_mix_q8q4)
