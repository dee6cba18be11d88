package steps

import "glassbox/trace/file"

// sglang is SGLang: the HTTP server with the tokenizer manager, the scheduler with the model, and the detokenizer.
var sglang = Engine{
	Name: "sglang", Title: "SGLang", Repo: "github.com/sgl-project/sglang", Version: "0.5.23", Commit: "v0.5.23",
	Packages: []string{"sglang"}, Root: "python",
	// Helpers that every layer asks for flags and settings, hundreds of thousands of calls in a long answer.
	Skip: []string{
		"get_forward", "ForwardFlags.__getattr__", "StageBoundary.kind", "get_bf16_gemm_backend", "ParallelContext._read",
		"ForwardMode.is_context_parallel_extend", "get_attn_tp_context", "stream_of", "use_intel_amx_backend",
		"StagePlan.path_for", "StagePlan.variant_for", "AttnTpContext.input_scattered", "_batch_shards_over_cp", "_bound_for",
		"get_group_rank_size", "Bf16GemmBackend.is_cutedsl", "Bf16GemmBackend.is_gemv", "get_parallel",
		"MHATokenToKVPool.is_quantized_kv_cache", "RuntimeContext.config_bag", "_install_parallel_properties.<locals>.getter",
		"get_exec", "ForwardMode.is_decode", "get_flags", "EnvField.get", "EnvField._resolve_default", "ResidualStream.check",
		"is_allocation_symmetric", "is_dp_attention_enabled", "use_symmetric_memory", "is_symmetric_memory_enabled",
		"StageBoundary.entry", "StageBoundary.norm", "is_in_breakable_cuda_graph", "ParallelContext.__getattr__",
		"ForwardMode.is_extend", "ForwardMode.is_idle", "is_in_prefill_graph_scope", "unwrap_write_loc",
	},
	Pass: "python/sglang/srt/model_executor/model_runner.py:ModelRunner.forward", Layer: "python/sglang/srt/models/llama.py:LlamaDecoderLayer.forward",
	Lanes: []LaneRule{
		{Lane: file.Lane{ID: "scheduler", Title: "Scheduler and model", Note: "process 2"}, Process: `(?i)sglang::scheduler`, Thread: `^main$`},
		{Lane: file.Lane{ID: "scheduler.threads", Title: "Scheduler, other threads", Note: "process 2"}, Process: `(?i)sglang::scheduler`},
		{Lane: file.Lane{ID: "detok", Title: "Detokenizer", Note: "process 3"}, Process: `(?i)sglang::detokenizer`, Thread: `^main$`},
		{Lane: file.Lane{ID: "detok.threads", Title: "Detokenizer, other threads", Note: "process 3"}, Process: `(?i)sglang::detokenizer`},
		{Lane: file.Lane{ID: "api", Title: "HTTP and tokenizer manager", Note: "process 1, event loop"}, Thread: `^main$`},
		{Lane: file.Lane{ID: "api.threads", Title: "HTTP, other threads", Note: "process 1"}},
	},
	Entries: []string{"sglang.launch_server", "sglang.srt.managers.scheduler", "sglang.srt.managers.detokenizer_manager"},
	URL:     "http://127.0.0.1:30000", Health: "/health",
}
