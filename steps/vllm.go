package steps

import "glassbox/trace/file"

// vllm is vLLM as its wheel for CPUs serves it: an API server, the engine core, and a worker a device.
var vllm = Engine{
	Name: "vllm", Title: "vLLM", Repo: "github.com/vllm-project/vllm", Version: "0.32.0", Commit: "v0.32.0",
	Packages: []string{"vllm"},
	Lanes: []LaneRule{
		{Lane: file.Lane{ID: "worker", Title: "Worker", Note: "process 3"}, Process: `(?i)worker`, Thread: `^main$`},
		{Lane: file.Lane{ID: "worker.threads", Title: "Worker, other threads", Note: "process 3"}, Process: `(?i)worker`},
		{Lane: file.Lane{ID: "core", Title: "EngineCore", Note: "process 2"}, Process: `(?i)enginecore`, Thread: `^main$`},
		{Lane: file.Lane{ID: "core.threads", Title: "EngineCore, socket threads", Note: "process 2"}, Process: `(?i)enginecore`},
		{Lane: file.Lane{ID: "api", Title: "API server", Note: "process 1, event loop"}, Thread: `^main$`},
		{Lane: file.Lane{ID: "api.threads", Title: "API server, other threads", Note: "process 1"}},
	},
	URL: "http://127.0.0.1:8000", Health: "/health",
}
