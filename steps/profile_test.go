package steps

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
	"glassbox/trace/importer"
)

// profile imports a file or text and lays an engine's walk over it.
func profile(t *testing.T, engine, text string) (*file.Recording, ProfileReport) {
	e, err := EngineOf(engine)
	require.NoError(t, err)
	c, err := e.Catalogue()
	require.NoError(t, err)
	rec, _, err := importer.Read(strings.NewReader(text), "x", importer.Options{Telling: c.Telling()})
	require.NoError(t, err)
	rec.Request.Params["recorded_by"] = ImportedBy
	file.Finish(rec)
	rep := c.MatchProfile(rec)
	c.Apply(rec)
	return rec, rep
}

// A real profile of vLLM's worker, one decode pass of a model with 30 layers: each op is found as often as the model has it.
func TestARealProfileOfVLLMFindsItsSteps(t *testing.T) {
	raw, err := os.ReadFile("../trace/importer/testdata/vllm-decode.json.gz")
	require.NoError(t, err)
	rec, rep := profile(t, "vllm", string(raw))
	want := map[string]int{"embed": 1, "norm": 60, "qkv": 30, "rope": 30, "attention": 30, "kv_update": 30, "attend": 30, "o_proj": 30, "gate_up": 30, "silu": 30, "down": 30, "final_norm": 1, "logits": 1, "flash": 0}
	for step, n := range want {
		w := stepOf(t, rec, step)
		require.Equal(t, n, w.Count, step)
		require.Equal(t, n > 0, w.TimeNs > 0, step)
	}
	require.Len(t, rec.Passes, 1)
	require.Equal(t, "decode", rec.Passes[0].Kind)
	layers := map[int]bool{}
	for _, s := range rec.Spans {
		if s.Step == "qkv" {
			layers[s.Layer] = true
		}
	}
	require.Len(t, layers, 30)
	require.Contains(t, stepOf(t, rec, "flash").Text, "The imported file has no event that is known to be this step.")
	require.Zero(t, rep.Kernels)
	require.Greater(t, rep.ByStack, 300)
}

// Device work is known by the function that launched it, else by its name; what is neither is kept and counted.
func TestKernelsFindTheirSteps(t *testing.T) {
	text := `{"deviceProperties":[{"name":"NVIDIA H100"}],"traceEvents":[
	{"ph":"X","cat":"python_function","name":"nn.Module: LlamaMLP_0","pid":1,"tid":1,"ts":0,"dur":100},
	{"ph":"X","cat":"python_function","name":"vllm/model_executor/models/llama.py(1): forward","pid":1,"tid":1,"ts":1,"dur":98},
	{"ph":"X","cat":"python_function","name":"nn.Module: RowParallelLinear_4","pid":1,"tid":1,"ts":2,"dur":50},
	{"ph":"X","cat":"python_function","name":"/x/site-packages/vllm/model_executor/layers/linear.py(1700): forward","pid":1,"tid":1,"ts":3,"dur":48},
	{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":4,"dur":40},
	{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5,"dur":9,"args":{"correlation":77}},
	{"ph":"X","cat":"kernel","name":"nvjet_tst_64x8_64x16_4x1_v_bz_TNT","pid":0,"tid":7,"ts":20,"dur":5,"args":{"correlation":77,"stream":7}},
	{"ph":"X","cat":"kernel","name":"void vllm::reshape_and_cache_flash_kernel<...>(...)","pid":0,"tid":7,"ts":30,"dur":5,"args":{"correlation":78}},
	{"ph":"X","cat":"kernel","name":"void flash_fwd_splitkv_kernel<...>","pid":0,"tid":7,"ts":40,"dur":5},
	{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16","pid":0,"tid":8,"ts":41,"dur":5},
	{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pinned)","pid":0,"tid":7,"ts":50,"dur":2},
	{"ph":"X","cat":"kernel","name":"nobody_knows_this","pid":0,"tid":7,"ts":60,"dur":3}]}`
	rec, rep := profile(t, "vllm", text)
	got := map[string]string{}
	for _, s := range rec.Spans {
		if s.Kernel != "" {
			by, _ := s.Attrs["known_by"].(string)
			got[s.Name] = strings.TrimSpace(s.Step + " " + s.Op + " " + by)
		}
	}
	require.Equal(t, map[string]string{"nvjet_tst_64x8_64x16_4x1_v_bz_TNT": "down matmul launch", "void vllm::reshape_and_cache_flash_kernel<...>(...)": "kv_update kv_write name",
		"void flash_fwd_splitkv_kernel<...>": "attend attention name", "ncclDevKernel_AllReduce_Sum_bf16": "all_reduce", "Memcpy DtoH (Device -> Pinned)": "copy", "nobody_knows_this": ""}, got)
	require.Equal(t, 6, rep.Kernels)
	require.Equal(t, 3, rep.Unknown)
	require.EqualValues(t, 10_000, rep.UnknownNs)
	require.Equal(t, 1, rep.Names["nobody_knows_this"])
	require.EqualValues(t, 48_000, stepOf(t, rec, "down").TimeNs-5_000, "the function's own time, and the kernel's on its lane")
}

// Each family that names a step names one of the engine's, and a kernel of each has its family.
func TestFamilies(t *testing.T) {
	for _, f := range families {
		for engine, step := range f.steps {
			e, err := EngineOf(engine)
			require.NoError(t, err)
			c, err := e.Catalogue()
			require.NoError(t, err)
			require.NotNil(t, c.Step(step), "%s: %s", engine, step)
		}
	}
	for kernel, want := range map[string]string{"kernel_unified_attention_2d": "attention", "aten::scaled_dot_product_attention": "attention", "void vllm::rms_norm_kernel<c10::BFloat16>": "norm",
		"aten::layer_norm": "norm", "fused_add_rms_norm_kernel": "norm", "vllm::rotary_embedding_kernel": "rope", "vllm::act_and_mul_kernel": "activation", "aten::silu": "activation", "aten::embedding": "embed",
		"aten::argmax": "sample", "sm90_xmma_gemm_bf16bf16": "matmul", "aten::linear": "matmul", "aten::addmm": "matmul", "Memset (Device)": "copy", "aten::copy_": "copy", "void at::native::vectorized_elementwise_kernel<4>": "elementwise",
		"mul_mat_q4_K": "matmul", "flash_attn_ext_f16": "attention", "rms_norm_f32": "norm", "rope_norm": "rope", "ampere_bf16_s16816gemm": "matmul", "per_token_group_quant_8bit": "quantize"} {
		f := familyOf(kernel)
		require.NotNil(t, f, kernel)
		require.Equal(t, want, f.name, kernel)
	}
	require.Nil(t, familyOf("nobody_knows_this"))
	doc, err := os.ReadFile("../docs/import.md")
	require.NoError(t, err)
	last := 0
	for _, name := range Families() { // in the order of the table
		at := strings.Index(string(doc), "| `"+name+"` |")
		require.Greater(t, at, last, name)
		last = at
	}
}
