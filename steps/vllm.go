package steps

import "glassbox/trace/file"

// vllm is vLLM as its wheel for CPUs serves it: an API server, the engine core, and a worker a device.
var vllm = Engine{
	Name: "vllm", Title: "vLLM", Repo: "github.com/vllm-project/vllm", Version: "0.32.0", Commit: "v0.32.0",
	Packages: []string{"vllm"},
	// The reader of the shared-memory queue spins while it waits.
	Skip: []string{"sched_yield", "SpinCondition.wait", "MessageQueue.ReadTimeoutWithWarnings.should_warn",
		"MessageQueue.ReadTimeoutWithWarnings.timeout_ms", "MessageQueue.acquire_read.<locals>.check", "memory_fence"},
	Pass: "vllm/v1/worker/gpu_model_runner.py:GPUModelRunner.execute_model", Layer: "vllm/model_executor/models/llama.py:LlamaDecoderLayer.forward",
	Lanes: []LaneRule{
		{Lane: file.Lane{ID: "worker", Title: "Worker", Note: "process 3"}, Process: `(?i)worker`, Thread: `^main$`},
		{Lane: file.Lane{ID: "worker.threads", Title: "Worker, other threads", Note: "process 3"}, Process: `(?i)worker`},
		{Lane: file.Lane{ID: "core", Title: "EngineCore", Note: "process 2"}, Process: `(?i)enginecore`, Thread: `^main$`},
		{Lane: file.Lane{ID: "core.threads", Title: "EngineCore, socket threads", Note: "process 2"}, Process: `(?i)enginecore`},
		{Lane: file.Lane{ID: "api", Title: "API server", Note: "process 1, event loop"}, Thread: `^main$`},
		{Lane: file.Lane{ID: "api.threads", Title: "API server, other threads", Note: "process 1"}},
	},
	Entries: []string{"vllm.entrypoints.openai.api_server", "vllm.v1.engine.core", "vllm.v1.executor.multiproc_executor"},
	URL:     "http://127.0.0.1:8000", Health: "/health",
}
