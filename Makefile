# What can be done with a checkout. `make help` lists it. No target needs anything from standard input.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS   += --no-builtin-rules --no-print-directory

TEMPL       := github.com/a-h/templ/cmd/templ@v0.3.1118
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
OPENAI_PY   := 3.57.0
NUMPY       := 2.4.6
# The CUDA compiler, and the headers of CUDA 12.9 that gorgonia.org/cu compiles against, from Python packages in .venv-cuda.
CUDA_PKGS   := nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.5.37 nvidia-cuda-cccl==13.3.5.0.6
PYZMQ       := 27.3.0
# Further clients of the API, for its tests: the command line program llm, and LangChain.
LLM         := 0.36
LANGCHAIN   := 1.7.4
PY_PKGS     := openai==$(OPENAI_PY) numpy==$(NUMPY) pyzmq==$(PYZMQ) llm==$(LLM) langchain-openai==$(LANGCHAIN)
PLATFORMS   := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# Go code of the main module lies in these folders; the others hold data.
GO_DIRS     := $(wildcard trace engine web steps static cmd docs)
# Packages with goroutines, whose tests use small models or none: the race detector makes code about ten times slower.
RACE        := ./engine $(patsubst %,./%/...,$(wildcard trace engine/kv engine/sched engine/spec engine/sample engine/grammar engine/exec engine/capture engine/stops engine/openai web steps cmd/internal/bench cmd/internal/gateway))
# Modules of their own: their dependencies stay out of the binary's go.mod.
MODULES     := $(filter-out ./go.mod,$(shell find . -name go.mod -not -path '*/node_modules/*' -not -path './vendor/*' -not -path '*/testdata/*' -not -path './.venv*'))
# Folders with a package.json: what Node needs for tests only. Nothing of it is shipped.
NODE_DIRS   := $(patsubst %/package.json,%,$(wildcard web/client/package.json web/e2e/package.json engine/openai/clienttest/package.json))

# $(STEP) "what it does" command ...   prints the step, its time, and on failure one clear last line.
STEP = bash -c 's=$$SECONDS; echo "==> $$0"; "$$@" </dev/null || { c=$$?; echo "FAILED: $$0 (exit $$c after $$((SECONDS-s)) s)" >&2; exit 1; }; echo "    done in $$((SECONDS-s)) s"'

.PHONY: help
help: ## this list
	@echo 'make TARGET, one of:'
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | while IFS=$$'\t' read -r n d; do printf '  %-15s %s\n' "$$n" "$$d"; done
	@echo
	@echo 'To try it: go run ./cmd/glassbox'

.PHONY: test
test: ## install what the tests need, then run every check there is
	@s=$$SECONDS; $(MAKE) deps fmt rules vet cross staticcheck fresh unit race cuda modules client openai-clients && echo "all checks passed in $$((SECONDS-s)) s"

.PHONY: quick
quick: ## the checks worth running before every commit: format, rules, vet, unit tests
	@$(MAKE) fmt rules vet unit

# ---- what the tests need -------------------------------------------------------------------------------------------

.PHONY: deps
deps: ## install missing system, Python and Node packages (apt needs root)
	@$(STEP) "system packages" bash -euc ' \
	  miss=""; need() { command -v "$$1" >/dev/null || miss="$$miss $$2"; }; \
	  need git git; need curl "curl ca-certificates"; need gcc "gcc libc6-dev"; need g++ g++; need node nodejs; need npm npm; \
	  for c in chromium chromium-browser google-chrome; do command -v $$c >/dev/null && found=1; done; [ -n "$${found:-}" ] || miss="$$miss chromium"; \
	  python3 -c "import ensurepip, venv" 2>/dev/null || miss="$$miss python3 python3-venv"; \
	  if [ -n "$$miss" ]; then \
	    command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] || { echo "please install:$$miss"; exit 1; }; \
	    export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; apt-get install -y -qq --no-install-recommends $$miss >/dev/null; \
	    echo "    installed:$$miss"; \
	  fi'
	@$(STEP) "Python: $(PY_PKGS) in .venv" bash -euc ' \
	  v() { .venv/bin/python -c "import sys; from importlib.metadata import version as v; sys.exit(any(v(n) != w for n, w in (p.split(\"==\") for p in sys.argv[1:])))" $(PY_PKGS) 2>/dev/null; }; \
	  v || { python3 -m venv .venv; .venv/bin/python -m pip install -q --disable-pip-version-check $(PY_PKGS); v; }'
	@for d in $(NODE_DIRS); do \
	  $(STEP) "Node packages of $$d" bash -euc 'cd "$$0"; \
	    [ node_modules/.ready -nt package.json ] || { npm install --no-audit --no-fund --loglevel=error; touch node_modules/.ready; }' "$$d"; done

# ---- checks --------------------------------------------------------------------------------------------------------

.PHONY: fmt
fmt: ## is every Go file formatted?
	@$(STEP) "gofmt" bash -euc 'bad=$$(gofmt -l $(GO_DIRS)); [ -z "$$bad" ] || { echo "not formatted (gofmt -w mends it):"; echo "$$bad"; exit 1; }'

.PHONY: rules
rules: ## the rules of the house: imports, package comments, lengths, forbidden texts
	@$(STEP) "house rules" go test -count=1 ./cmd/internal/layers

.PHONY: vet
vet: ## go vet, also where there is no assembly
	@$(STEP) "go vet" go vet ./...
	@$(STEP) "go vet for arm64" env GOARCH=arm64 CGO_ENABLED=0 go vet ./engine/...

.PHONY: cross
cross: ## build the binary for every platform, without cgo
	@for p in $(PLATFORMS); do $(STEP) "build for $$p" env CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -o /dev/null ./cmd/glassbox; done

.PHONY: staticcheck
staticcheck: ## staticcheck over everything
	@$(STEP) "staticcheck" go run $(STATICCHECK) ./...

.PHONY: fresh
fresh: ## do the generated files follow from their sources?
	@$(STEP) "generated files are fresh" bash -euc 't=$$(mktemp -d); trap "rm -rf $$t" EXIT; \
	  sums() { git ls-files -z --cached --others --exclude-standard -- . ":!vendor" | sort -z | xargs -0 sha256sum 2>/dev/null || true; }; \
	  sums >$$t/before; $(MAKE) gen; sums >$$t/after; \
	  diff $$t/before $$t/after >$$t/diff || { echo "these files changed; run make gen and commit them:"; sed -n "s/^> [0-9a-f]*/  /p" $$t/diff; exit 1; }'

.PHONY: unit
unit: ## go test ./...
	@$(STEP) "go test ./..." go test -timeout 10m ./...
	@go test -count=1 -v -run '^TestVariants$$' ./engine/backend/cpu/kern | sed -n 's/.*\(kernels.*\)/    \1/p'

.PHONY: race
race: ## the race detector over packages with goroutines
	@$(STEP) "race detector" env CGO_ENABLED=1 go test -race -timeout 10m $(RACE)

.PHONY: modules
modules: ## vet and test the nested modules (generators, pages in Chromium)
	@for m in $(MODULES); do $(STEP) "module $${m%/go.mod}" bash -euc 'cd "$$(dirname "$$0")"; go vet ./...; go test ./...' "$$m"; done

.PHONY: client
client: ## TypeScript: type check and unit tests of the browser client
	@if [ -f web/client/package.json ]; then \
	  $(STEP) "TypeScript types" bash -euc 'cd web/client && npx --no-install tsc --noEmit -p .'; \
	  $(STEP) "TypeScript unit tests" bash -euc 't=$$(mktemp -d); trap "rm -rf $$t" EXIT; (cd cmd/internal/bundle && go run . -tests "$$t"); node --test "$$t"/*.mjs'; fi

.PHONY: openai-clients
openai-clients: ## the official OpenAI clients for Python and Node, LangChain, llm and curl against the server
	@if [ -d engine/openai/clienttest ]; then \
	  $(STEP) "OpenAI clients, LangChain, llm, curl" env PYTHON="$(CURDIR)/.venv/bin/python" go test -count=1 -tags clients -timeout 10m ./engine/openai/clienttest/...; fi
	@$(STEP) "the documentation's Python example" env PYTHON="$(CURDIR)/.venv/bin/python" go test -count=1 -tags clients -run Python ./cmd/glassbox

# ---- handing it out ------------------------------------------------------------------------------------------------------

.PHONY: release
release: ## static binaries for all platforms, checksums and an install script into out/release
	@$(STEP) "release in out/release" go run ./cmd/internal/release -o out/release $(PLATFORMS)
	@$(STEP) "its checksums" bash -euc 'cd out/release && sha256sum --quiet -c SHA256SUMS'

# ---- generated files -----------------------------------------------------------------------------------------------

.PHONY: gen
gen: ## make all generated files: templ pages, assembly, the client's bundle
	@if find web static -name '*.templ' 2>/dev/null | grep -q .; then $(STEP) "templ pages" go run $(TEMPL) generate -path web -log-level warn; fi
	@$(STEP) "go generate (assembly, tables)" go generate ./...
	@if [ -f web/client/src/glassbox.ts ]; then $(STEP) "client bundle, pictures of the first page" bash -euc 'cd cmd/internal/bundle && go run . && go run . -commands && go run . -pictures'; fi

# ---- measuring; bounds on time are held here and never by make test -----------------------------------------------------

.PHONY: bench
bench: ## ours beside llama.cpp on the same file, threads and lengths; fails when a bound is missed
	@go run ./cmd/internal/peerbench $(BENCH_FLAGS)
	@$(STEP) "what captures cost" go test ./engine/capture -run XXX -bench Captures
	@$(STEP) "what running answers feel of a prompt of 4,000 tokens" go test ./engine -run XXX -bench LongPrompt -benchtime 1x
	@$(STEP) "what guessing ahead gains and loses" go test ./engine -run XXX -bench Draft -benchtime 1x -timeout 20m
	@$(STEP) "a load that must be survived: 200 streams at once, 10,000 short requests" go run ./cmd/internal/load
	@$(STEP) "the bench client against servers of known speed" go run ./cmd/internal/bench/accuracy
	@$(STEP) "what the gateway adds to a request" go test ./cmd/internal/gateway -run XXX -bench Added -benchtime 1x

.PHONY: bench-peers
bench-peers: ## glassbox bench beside other clients on a running server: make bench-peers URL=... TOKENIZER=DIR VLLM=PYTHON [GUIDELLM=COMMAND]
	@[ -n "$(URL)" ] || { echo "bench-peers: give URL=http://127.0.0.1:8000, and VLLM=a Python that has vllm, or GUIDELLM=its command, and TOKENIZER=the model's folder" >&2; exit 2; }
	@go run ./cmd/internal/bench/peers -url "$(URL)" -tokenizer "$(TOKENIZER)" -vllm "$(VLLM)" -guidellm "$(GUIDELLM)" $(BENCH_FLAGS)

.PHONY: bench-web
bench-web: ## how fast the pages are, in Chromium; fails when a bound is missed
	@[ -d web/e2e/bench ] || { echo "bench-web: there is nothing to measure the pages with in this tree yet (web/e2e/bench)" >&2; exit 1; }
	@cd web/e2e && go run ./bench $(BENCH_FLAGS)

# $(call RECORD,NAME,ARGUMENTS): of nine runs the one least disturbed is kept, the one with the shortest request.
# The larger model is recorded where its file is at hand: make recordings QWEN=FILE (origin: static/recordings/README.md).
RECORD = $(STEP) "recording $(1)" bash -euc ' \
	  t=$$(mktemp -d); trap "rm -rf $$t" EXIT; best=; least=; \
	  for i in 1 2 3 4 5 6 7 8 9; do \
	    bin/glassbox trace "Why is the sky blue?" $(2) -o $$t/$$i.gbx >$$t/text 2>/dev/null; \
	    ns=$$(python3 -c "import json, sys, zipfile; print(json.load(zipfile.ZipFile(sys.argv[1]).open(\"trace.json\"))[\"numbers\"][\"e2e_ns\"])" $$t/$$i.gbx); \
	    echo "    run $$i: $$ns ns"; \
	    if [ -z "$$least" ] || [ $$ns -lt $$least ]; then least=$$ns; best=$$i; fi; \
	  done; cp $$t/$$best.gbx static/recordings/$(1).gbx'

# What is asked of llama.cpp: samplers that do something, and the whole prompt computed, whatever ran before.
LLAMA_REQUEST := {"messages":[{"role":"user","content":"Why is the sky blue?"}],"max_tokens":12,"temperature":0.7,"top_k":40,"top_p":0.95,"min_p":0.05,"repeat_penalty":1.1,"seed":7,"cache_prompt":false}

.PHONY: record-engines
record-engines: ## record other engines again: VLLM=PYTHON VLLM_MODEL=FOLDER, SGLANG=PYTHON SGLANG_MODEL=FOLDER SGLANG_STUB=FOLDER, LLAMA_SERVER=PROGRAM LLAMA_MODEL=FILE (as root)
	@{ [ -x "$(VLLM)" ] && [ -d "$(VLLM_MODEL)" ]; } || { [ -x "$(LLAMA_SERVER)" ] && [ -f "$(LLAMA_MODEL)" ]; } || { [ -x "$(SGLANG)" ] && [ -d "$(SGLANG_MODEL)" ] && [ -d "$(SGLANG_STUB)/sgl_kernel" ]; } || { echo 'wanted VLLM=PYTHON and VLLM_MODEL=FOLDER, LLAMA_SERVER=PROGRAM and LLAMA_MODEL=FILE, or SGLANG=PYTHON, SGLANG_MODEL=FOLDER and SGLANG_STUB=FOLDER with a package sgl_kernel; docs/engines.md says how to make them'; exit 2; }
	[ -z "$(VLLM)" ] || VLLM_CPU_KVCACHE_SPACE=1 HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 go run ./cmd/glassbox attach --engine vllm --timeout 20m --url http://127.0.0.1:8123 -o static/recordings/chat-in-vllm.gbx \
	  --model-name SmolLM2-135M-Instruct --model-architecture llama --model-quantization float32 -- env OMP_NUM_THREADS=1 $(VLLM) -m vllm.entrypoints.openai.api_server \
	  --model $(VLLM_MODEL) --served-model-name smol --dtype float32 --max-model-len 512 --max-num-seqs 4 --enforce-eager --host 127.0.0.1 --port 8123
	[ -z "$(LLAMA_SERVER)" ] || go run ./cmd/glassbox attach --engine llamacpp --request <(echo '$(LLAMA_REQUEST)') --url http://127.0.0.1:8124 -o static/recordings/chat-in-llamacpp.gbx \
	  --model-name SmolLM2-135M-Instruct --model-architecture llama --model-quantization Q4_1 -- $(LLAMA_SERVER) -m $(LLAMA_MODEL) --no-repack -t 2 -np 2 -c 2048 --no-ui --host 127.0.0.1 --port 8124
	[ -z "$(SGLANG)" ] || SGLANG_USE_CPU_ENGINE=1 HF_HUB_OFFLINE=1 PYTHONPATH=$(SGLANG_STUB) go run ./cmd/glassbox attach --engine sglang --timeout 20m --url http://127.0.0.1:8125 -o static/recordings/chat-in-sglang.gbx \
	  --model-name SmolLM2-135M-Instruct --model-architecture llama --model-quantization float32 -- env OMP_NUM_THREADS=1 $(SGLANG) -m sglang.launch_server \
	  --model-path $(SGLANG_MODEL) --served-model-name smol --device cpu --dtype float32 --context-length 512 --max-running-requests 4 --max-total-tokens 2048 \
	  --attention-backend torch_native --sampling-backend pytorch --disable-overlap-schedule --sleep-on-idle --host 127.0.0.1 --port 8125

.PHONY: modmaps
modmaps: ## draw the maps of modules again: VLLM_SRC and SGLANG_SRC are the folders that hold those packages; ours always
	go run ./cmd/glassbox modmap --src . --go --recording static/recordings/why-is-the-sky-blue.gbx -o static/modmaps/glassbox.json
	@[ -z "$(VLLM_SRC)" ] || go run ./cmd/glassbox modmap --src $(VLLM_SRC) --package vllm --recording static/recordings/chat-in-vllm.gbx -o static/modmaps/vllm.json
	@[ -z "$(SGLANG_SRC)" ] || go run ./cmd/glassbox modmap --src $(SGLANG_SRC) --package sglang --recording static/recordings/chat-in-sglang.gbx -o static/modmaps/sglang.json

.PHONY: recordings
recordings: ## record what ships in static/recordings again; on a quiet machine, from a clean checkout
	@[ -z "$$(git status --porcelain)" ] || { echo "recordings: the checkout has changes; the commit in the recordings would not be their source" >&2; exit 1; }
	@GOFLAGS= go build -buildvcs=true -o bin/glassbox ./cmd/glassbox
	@bin/glassbox roof
	@$(call RECORD,why-is-the-sky-blue,--max-tokens 48 --temp 0.4 --top-k 40 --top-p 0.95 --min-p 0.05 --repeat-penalty 1.05 --seed 4)
	@$(call RECORD,inside-the-pass,--max-tokens 24 --temp 0 --capture all)
	@$(call RECORD,one-of-four,--max-tokens 32 --temp 0 --beside 3)
	@$(call RECORD,on-three-shards,--max-tokens 8 --temp 0 --shards 3)
	@if [ -n "$(QWEN)" ]; then $(call RECORD,inside-qwen-coder,--model $(QWEN) --max-tokens 10 --temp 0 --capture all); fi

# ---- CUDA (docs/cuda.md) --------------------------------------------------------------------------------------------

CUDA       := engine/backend/cuda
CUDA_OUT   := $(CURDIR)/out/cuda
# A word of the shell, for the folder may be made by an earlier line of the same recipe.
CUDA_TOOLS  = $$(echo .venv-cuda/lib/python3*/site-packages/nvidia)
# What a build with the tag needs: cuda.h, and the shim in place of libcuda.
CUDA_ENV    = CGO_ENABLED=1 CGO_CFLAGS="-I$(CURDIR)/$(CUDA_TOOLS)/cuda_runtime/include -Wno-deprecated-declarations" CGO_LDFLAGS="-L$(CUDA_OUT)/static"
# What runs a program on the emulated driver. Leaks end it.
CUDA_EMU    = CUDA_DRIVER_LIBRARY=$(CUDA_OUT)/libcuda.so.1 GLASSBOX_NCCL=$(CUDA_OUT)/libnccl.so.2 CUEMU_GORGONIA=1 CUEMU_LEAK_ABORT=1

.PHONY: cuda
cuda: ## the CUDA backend on an emulated driver: PTX fresh, no spills, all its tests; no GPU needed
	@$(MAKE) cuda-tools
	@$(STEP) "PTX is what the kernels compile to, without spills" bash -euc ' \
	  bash $(CUDA)/kernels/ptx.sh $(CURDIR)/$(CUDA_TOOLS)/cu13/bin/nvcc $(CUDA_OUT)/ptx $(CUDA_OUT)/ptxas.txt; \
	  bash $(CUDA)/kernels/ptx.sh $(CURDIR)/$(CUDA_TOOLS)/cu13/bin/nvcc $(CUDA_OUT)/faulty $(CUDA_OUT)/ptxas-faulty.txt $(CURDIR)/$(CUDA)/emulator/faulty.cu; \
	  diff -rq $(CUDA)/kernels/ptx $(CUDA_OUT)/ptx && cmp $(CUDA)/emulator/faulty.ptx $(CUDA_OUT)/faulty/faulty.ptx || { echo "make cuda-gen makes them again"; exit 1; }; \
	  if grep -B3 "[1-9][0-9]* bytes spill" $(CUDA_OUT)/ptxas.txt; then exit 1; fi'
	@$(MAKE) cuda-emulator
	@$(STEP) "go vet with the tag cuda" env $(CUDA_ENV) go vet -tags cuda ./$(CUDA)/... ./engine ./cmd/glassbox
	@$(STEP) "the emulated driver catches what is wrong" env $(CUDA_ENV) $(CUDA_EMU) CUEMU_RACECHECK=2 go test -tags cuda -timeout 5m ./$(CUDA)/driver
	@$(STEP) "CUDA kernels, with threads in three orders" env $(CUDA_ENV) $(CUDA_EMU) CUEMU_RACECHECK=1 go test -tags cuda -timeout 5m -run "^TestKernel" ./$(CUDA)
	@$(MAKE) gpu-check-build
	@$(STEP) "gpu-check with small shapes" env $(CUDA_EMU) bash $(CUDA)/gpu-check.sh $(CUDA_OUT)/gpu-check -small
	@$(STEP) "the CUDA backend on the emulated driver" env $(CUDA_ENV) $(CUDA_EMU) go test -tags cuda -timeout 10m -skip "^TestKernel" ./$(CUDA)

.PHONY: cuda-tools
cuda-tools: ## the CUDA compiler and headers into .venv-cuda (Python packages, no GPU needed)
	@$(STEP) "CUDA compiler and headers in .venv-cuda" bash -euc ' \
	  have() { [ -x .venv-cuda/bin/python ] && .venv-cuda/bin/python -m pip list --disable-pip-version-check --format=freeze | sort > out/cuda/have && \
	    for p in $(CUDA_PKGS); do grep -qxF "$$p" out/cuda/have || return 1; done; }; mkdir -p out/cuda; \
	  have || { python3 -m venv .venv-cuda; .venv-cuda/bin/python -m pip install -q --disable-pip-version-check $(CUDA_PKGS); have; }'

.PHONY: cuda-emulator
cuda-emulator: ## build the emulated driver, the kernels for the CPU and the shim into out/cuda
	@$(STEP) "emulated CUDA driver, kernels for the CPU, shim" env CUDA_INCLUDE=$(CURDIR)/$(CUDA_TOOLS)/cuda_runtime/include OUT=$(CUDA_OUT) sh $(CUDA)/emulator/build.sh

.PHONY: cuda-gen
cuda-gen: ## compile the CUDA kernels to PTX again
	@$(MAKE) cuda-tools
	@$(STEP) "PTX" bash -euc 'for s in "$(CUDA)/kernels/ptx" "$(CUDA)/emulator $(CURDIR)/$(CUDA)/emulator/faulty.cu"; do \
	  set -- $$s; bash $(CUDA)/kernels/ptx.sh $(CURDIR)/$(CUDA_TOOLS)/cu13/bin/nvcc $(CURDIR)/$$1 $(CUDA_OUT)/ptxas.txt $${2:-}; done'

.PHONY: glassbox-cuda
glassbox-cuda: ## build bin/glassbox-cuda, the program with --backend cuda; runs without a GPU too
	@$(MAKE) cuda-tools
	@$(STEP) "shim" env CUDA_INCLUDE=$(CURDIR)/$(CUDA_TOOLS)/cuda_runtime/include sh $(CUDA)/shim/build.sh $(CUDA_OUT)
	@$(STEP) "bin/glassbox-cuda" env $(CUDA_ENV) go build -tags cuda -o bin/glassbox-cuda ./cmd/glassbox

.PHONY: gpu-check
gpu-check: ## measure the CUDA backend on this machine's GPU: JSON and a table into $$OUT (out/gpu-check)
	@bash $(CUDA)/gpu-check.sh "$${OUT:-out/gpu-check}"

.PHONY: gpu-check-build
gpu-check-build: ## build what gpu-check runs, for a machine without Go: bin/gpucheck and bin/cuda.test
	@$(MAKE) cuda-tools
	@$(STEP) "shim" env CUDA_INCLUDE=$(CURDIR)/$(CUDA_TOOLS)/cuda_runtime/include sh $(CUDA)/shim/build.sh $(CUDA_OUT)
	@$(STEP) "bin/gpucheck, bin/cuda.test" bash -euc 'export $(CUDA_ENV); go build -tags cuda -ldflags "-s -w" -o bin/gpucheck ./cmd/internal/gpucheck; \
	  go test -c -tags cuda -ldflags "-s -w" -o bin/cuda.test ./$(CUDA)'
