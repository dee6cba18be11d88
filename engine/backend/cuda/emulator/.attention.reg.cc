#include "../kernels/attention.cu"
SIMT_REGISTER(attention_join)
SIMT_REGISTER(attention_f16_2)
SIMT_REGISTER(attention_f16_4)
SIMT_REGISTER(attention_f16_8)
SIMT_REGISTER(attention_q8q4_2)
SIMT_REGISTER(attention_q8q4_4)
SIMT_REGISTER(attention_q8q4_8)
