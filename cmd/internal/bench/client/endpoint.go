package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"glassbox/engine/openai/wire"
)

// Endpoint is what the server says of itself. Fields are empty where it does not.
type Endpoint struct {
	URL       string   `json:"url"`
	Kind      string   `json:"kind"`    // glassbox, llama.cpp, vllm, sglang, ollama, llama-swap, openai, unknown
	KindBy    string   `json:"kind_by"` // what told
	Version   string   `json:"version,omitempty"`
	Commit    string   `json:"commit,omitempty"`
	Model     string   `json:"model"`
	Models    []string `json:"models,omitempty"`
	Context   int      `json:"context,omitempty"` // tokens
	Slots     int      `json:"slots,omitempty"`   // requests at a time, where the server says
	ModelFile string   `json:"model_file,omitempty"`
	ModelPath string   `json:"-"`
	SHA256    string   `json:"model_sha256,omitempty"`
	Hardware  string   `json:"hardware,omitempty"`
	API       string   `json:"api"`               // chat, completions or ollama
	Options   []string `json:"options"`           // fields beyond OpenAI's that requests carry
	Dropped   []string `json:"dropped,omitempty"` // fields the server refused
	Metrics   bool     `json:"metrics"`           // GET /metrics answers
	Tokenize  string   `json:"tokenize"`          // how prompts are measured: see Maker
}

// Discover asks the server who it is. The model may be empty: the server's first is taken.
func (c *Client) Discover(ctx context.Context, model string) (*Endpoint, error) {
	e := &Endpoint{URL: c.Base, Kind: "unknown", KindBy: "nothing the server said", API: "chat"}
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
			Max     int    `json:"max_model_len"`
			Root    string `json:"root"`
		} `json:"data"`
		Models json.RawMessage `json:"models"`
	}
	status, header, err := c.JSON(ctx, http.MethodGet, "/v1/models", nil, &list)
	switch {
	case status == 0:
		return nil, fmt.Errorf("bench: %w", err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return nil, fmt.Errorf("bench: %w: name the environment variable that holds the key with --key-env", err)
	case status == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("bench: %w: the server is not ready; wait until it has loaded its model", err)
	case (err != nil || len(list.Data) == 0) && model == "":
		return nil, fmt.Errorf("bench: %s/v1/models: wanted a list of models as OpenAI's API gives it, found %s: is this an OpenAI-compatible endpoint? If it is and only hides its models, give --model", c.Base, found(err))
	}
	owner := ""
	for _, m := range list.Data {
		e.Models = append(e.Models, m.ID)
		if e.Model == "" && (model == "" || m.ID == model) {
			e.Model, e.Context, owner = m.ID, m.Max, m.OwnedBy
		}
	}
	if model != "" {
		if e.Model == "" && len(e.Models) > 0 {
			return nil, fmt.Errorf("bench: --model %s: the server has %s", model, strings.Join(first(e.Models, 12), ", "))
		}
		e.Model = model
	}
	e.Models = first(e.Models, 50)
	c.identify(ctx, e, owner, header)
	return e, nil
}

func found(err error) string {
	if err != nil {
		return err.Error()
	}
	return "an empty list"
}

func first(list []string, n int) []string {
	if len(list) > n {
		return append(list[:n:n], fmt.Sprintf("and %d more", len(list)-n))
	}
	return list
}

// identify tells servers apart by what only they have.
func (c *Client) identify(ctx context.Context, e *Endpoint, owner string, header http.Header) {
	is := func(kind, by string) { e.Kind, e.KindBy = kind, by }
	var v struct{ Version, Commit string }
	if s, _, err := c.JSON(ctx, http.MethodGet, "/version", nil, &v); s == http.StatusOK && err == nil {
		e.Version, e.Commit = v.Version, v.Commit
	}
	var metrics string
	if s, _, err := c.JSON(ctx, http.MethodGet, "/metrics", nil, &metrics); s == http.StatusOK && err == nil {
		e.Metrics = strings.Contains(metrics, "# TYPE")
	}
	switch {
	case strings.Contains(metrics, "glassbox_build_info"):
		is("glassbox", "/metrics has glassbox_build_info")
	case owner == "glassbox":
		is("glassbox", "owned_by in /v1/models")
	case strings.HasPrefix(strings.ToLower(header.Get("Server")), "llama.cpp") || owner == "llamacpp":
		is("llama.cpp", "Server header or owned_by in /v1/models")
	case strings.Contains(metrics, "vllm:") || owner == "vllm":
		is("vllm", "/metrics or owned_by in /v1/models")
	case strings.Contains(metrics, "sglang:") || owner == "sglang":
		is("sglang", "/metrics or owned_by in /v1/models")
	case owner == "library" || c.has(ctx, "/api/version"):
		is("ollama", "owned_by in /v1/models or /api/version")
	case strings.Contains(owner, "llama-swap"):
		is("llama-swap", "owned_by in /v1/models")
	case strings.HasSuffix(hostOf(c.Base), "api.openai.com"):
		is("openai", "the address")
	}
	switch e.Kind {
	case "llama.cpp":
		c.props(ctx, e)
	case "ollama":
		_, _, _ = c.JSON(ctx, http.MethodGet, "/api/version", nil, &v)
		e.Version = v.Version
	case "sglang":
		var info struct {
			Version string `json:"version"`
			Path    string `json:"model_path"`
		}
		if _, _, err := c.JSON(ctx, http.MethodGet, "/get_server_info", nil, &info); err == nil {
			e.Version, e.ModelFile = info.Version, info.Path
		}
	}
}

func (c *Client) has(ctx context.Context, path string) bool {
	var v struct {
		Version string `json:"version"`
	}
	s, _, err := c.JSON(ctx, http.MethodGet, path, nil, &v)
	return s == http.StatusOK && err == nil && v.Version != ""
}

// props reads llama.cpp's GET /props.
func (c *Client) props(ctx context.Context, e *Endpoint) {
	var p struct {
		Build    string `json:"build_info"`
		Path     string `json:"model_path"`
		Slots    int    `json:"total_slots"`
		Defaults struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if _, _, err := c.JSON(ctx, http.MethodGet, "/props", nil, &p); err != nil {
		return
	}
	e.Version, e.Slots, e.ModelPath = p.Build, p.Slots, p.Path
	e.ModelFile = p.Path[strings.LastIndexAny(p.Path, `/\`)+1:]
	if p.Defaults.Context > 0 {
		e.Context = p.Defaults.Context
	}
}

func hostOf(base string) string {
	_, rest, _ := strings.Cut(base, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// extras are the fields beyond OpenAI's that a kind of server takes, in the order in which they are given up.
func extras(kind string) []string {
	switch kind {
	case "glassbox", "sglang":
		return []string{"continuous_usage_stats", "ignore_eos", "temperature"}
	case "vllm":
		return []string{"min_tokens", "continuous_usage_stats", "ignore_eos", "temperature"}
	case "llama.cpp":
		return []string{"cache_prompt", "ignore_eos", "temperature"}
	case "openai":
		return []string{"include_obfuscation", "temperature"}
	case "ollama":
		return []string{"temperature"}
	}
	return []string{"ignore_eos", "temperature"}
}

// Body writes the request for a prompt. prompt is a text, or token ids for /v1/completions.
func (e *Endpoint) Body(prompt any, maxTokens int) (path string, body []byte, err error) {
	if e.API == "ollama" {
		b := map[string]any{"model": e.Model, "stream": true, "messages": []map[string]any{{"role": "user", "content": prompt}},
			"options": map[string]any{"num_predict": maxTokens, "temperature": 0}}
		body, err = json.Marshal(b)
		return "/api/chat", body, err
	}
	limit := "max_tokens"
	opts := map[string]any{"include_usage": true}
	b := map[string]any{"model": e.Model, "stream": true, "stream_options": opts}
	for _, o := range e.Options {
		switch o {
		case "continuous_usage_stats":
			opts[o] = true
		case "include_obfuscation":
			opts[o] = false
		case "max_completion_tokens":
			limit = o
		case "ignore_eos":
			b[o] = true
		case "min_tokens":
			b[o] = maxTokens
		case "cache_prompt":
			b[o] = false
		case "temperature":
			b[o] = 0
		}
	}
	b[limit] = maxTokens
	path = "/v1/chat/completions"
	if e.API == "completions" {
		path, b["prompt"] = "/v1/completions", prompt
	} else {
		text, ok := prompt.(string)
		if !ok {
			return "", nil, fmt.Errorf("bench: token ids need /v1/completions")
		}
		b["messages"] = []wire.Message{{Role: "user", Content: wire.Content{Text: &text}}}
	}
	body, err = json.Marshal(b)
	return path, body, err
}

// Negotiate finds the richest request that the server takes, by sending small ones. The rows are what it measured.
func (c *Client) Negotiate(ctx context.Context, e *Endpoint) ([]*Row, error) {
	e.Options = extras(e.Kind)
	var rows []*Row
	for try := 0; try < 10; try++ {
		row := c.Ask(ctx, e, "Say hello, and go on for a while.", 4)
		rows = append(rows, row)
		switch {
		case row.Outcome == OK:
			return rows, nil
		case row.Outcome == Cancelled:
			return rows, context.Cause(ctx)
		case row.Status == http.StatusNotFound && e.API == "chat" && !strings.Contains(*row.Error, "model"):
			e.API = "completions"
		case row.Status == http.StatusBadRequest || row.Status == http.StatusUnprocessableEntity:
			if !e.give(*row.Error) {
				return rows, fmt.Errorf("bench: the server refuses the plainest request: %s", *row.Error)
			}
		case row.Status == http.StatusUnauthorized || row.Status == http.StatusForbidden:
			return rows, fmt.Errorf("bench: %s: name the environment variable that holds the key with --key-env", *row.Error)
		default:
			return rows, fmt.Errorf("bench: the first request failed: %s", *row.Error)
		}
	}
	return rows, fmt.Errorf("bench: found no request that the server takes")
}

// give drops the field that a refusal names, else the first that is left.
func (e *Endpoint) give(refusal string) bool {
	if strings.Contains(refusal, "max_completion_tokens") && !strings.Contains(strings.Join(e.Options, " "), "max_completion_tokens") {
		e.Options = append(e.Options, "max_completion_tokens")
		return true
	}
	at := -1
	for i, o := range e.Options {
		if o == "max_completion_tokens" {
			continue
		}
		if at < 0 {
			at = i
		}
		if strings.Contains(refusal, o) {
			at = i
			break
		}
	}
	if at < 0 {
		return false
	}
	e.Dropped = append(e.Dropped, e.Options[at])
	e.Options = append(e.Options[:at:at], e.Options[at+1:]...)
	return true
}

// Ask sends one request outside of any level: to negotiate, to calibrate, to warm up.
func (c *Client) Ask(ctx context.Context, e *Endpoint, prompt any, maxTokens int) *Row {
	row := &Row{Phase: "warmup", Concurrency: 1, AskedOutput: maxTokens}
	path, body, err := e.Body(prompt, maxTokens)
	if err != nil {
		row.Fail(err.Error())
		return row
	}
	c.Do(ctx, Call{Path: path, Body: body, Lines: e.API == "ollama"}, row)
	return row
}
