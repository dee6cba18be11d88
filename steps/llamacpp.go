package steps

import "glassbox/trace/file"

// nameOffset is where ggml_tensor has its name (ggml/include/ggml.h): type, buffer, ne, nb, op, op_params, flags, src, view_src,
// view_offs, data, name.
const nameOffset = 8 + 8 + 4*8 + 4*8 + 4 + 64 + 4 + 10*8 + 8 + 8 + 8

// llamacpp is llama.cpp's server: threads that answer HTTP, the thread that computes, the threads that help it, and one that
// answers from the queue meanwhile.
var llamacpp = Engine{
	Name: "llamacpp", Title: "llama.cpp", Repo: "github.com/ggml-org/llama.cpp", Version: "b11434", Commit: "b11434", Native: true,
	Packages: []string{"llama-server", "libllama", "libggml"},
	// It is called once for each row of each product.
	Skip: []string{"ggml_vec_dot_q4_1_q8_1"},
	Nodes: []NodeRule{
		{Prefix: "ggml_compute_forward_rms_norm_mul_fused", Arg: 3, Offset: nameOffset}, // the product's node, behind the norm's
		{Prefix: "ggml_compute_forward_", Arg: 2, Offset: nameOffset},
	},
	Pass: "llama_context::process_ubatch",
	Lanes: []LaneRule{
		{Lane: file.Lane{ID: "loop", Title: "Inference thread", Note: "main thread, also the first worker"}, Thread: `^main$`},
		{Lane: file.Lane{ID: "workers", Title: "ggml worker", Note: "OpenMP"}, Thread: ` (ggml_|main$)`},
		{Lane: file.Lane{ID: "side", Title: "Queue's helper thread", Note: "while the model runs"}, Thread: ` server_queue::`},
		{Lane: file.Lane{ID: "http", Title: "HTTP thread", Note: "of a pool"}},
	},
	URL: "http://127.0.0.1:8080", Health: "/health",
}
