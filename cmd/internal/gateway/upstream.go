package gateway

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"glassbox/trace"
)

// resolution is measured once.
var resolution = sync.OnceValue(trace.Resolution)

// identity is who answers behind the gateway.
type identity struct {
	engine  string // name of its catalogue, "" = not known
	version string
	model   string // the first that it lists
}

// upstream finds out who answers: by its list of models, and by the address at which each engine tells its version.
type upstream struct {
	url    *url.URL
	given  string // the engine by flag
	client *http.Client

	mu     sync.Mutex
	is     identity
	asked  time.Time
	asking bool
}

const (
	askTime  = 3 * time.Second
	askAgain = 5 * time.Second // at the earliest, while the upstream is not known
)

func (u *upstream) init(c *Config, t http.RoundTripper) {
	u.url, u.given, u.client = c.Upstream, c.Engine, &http.Client{Transport: t, Timeout: askTime}
	u.is.engine = c.Engine
}

// get returns what is known, and asks in the background while it is not enough. It never waits.
func (u *upstream) get() identity {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.is.model == "" && !u.asking && time.Since(u.asked) > askAgain {
		u.asking = true
		go u.ask(context.Background())
	}
	return u.is
}

// Ask finds out who answers, and returns the engine's name and version; both may be "".
func (g *Gateway) Ask(ctx context.Context) (engine, version, model string) {
	g.engine.ask(ctx)
	is := g.engine.get()
	return is.engine, is.version, is.model
}

func (u *upstream) ask(ctx context.Context) {
	is := identity{engine: u.given}
	var models struct {
		Data []struct {
			ID    string `json:"id"`
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	header := u.json(ctx, "/v1/models", &models)
	owner := ""
	if len(models.Data) > 0 {
		is.model, owner = models.Data[0].ID, strings.ToLower(models.Data[0].Owner)
	}
	if is.engine == "" {
		is.engine = engineOf(owner, header.Get("Server"))
	}
	is.version = u.version(ctx, is.engine)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.is, u.asked, u.asking = is, time.Now(), false
}

// engineOf knows engines by what they say of themselves.
func engineOf(owner, server string) string {
	for _, s := range []string{owner, strings.ToLower(server)} {
		switch {
		case strings.Contains(s, "vllm"):
			return "vllm"
		case strings.Contains(s, "sglang"):
			return "sglang"
		case strings.Contains(s, "llamacpp"), strings.Contains(s, "llama.cpp"):
			return "llamacpp"
		case strings.Contains(s, "glassbox"):
			return "glassbox"
		}
	}
	return ""
}

// version asks an engine for its version, at the address of its kind.
func (u *upstream) version(ctx context.Context, engine string) string {
	var v struct {
		Version string `json:"version"`
		Build   string `json:"build_info"`
	}
	path, ok := map[string]string{"vllm": "/version", "glassbox": "/version", "sglang": "/get_server_info", "llamacpp": "/props"}[engine]
	if !ok {
		return ""
	}
	u.json(ctx, path, &v)
	return v.Version + v.Build
}

// json reads an answer of at most a megabyte; what does not answer, or not in JSON, leaves v as it is.
func (u *upstream) json(ctx context.Context, path string, v any) http.Header {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(u.url.String(), "/")+path, nil)
	if err != nil {
		return nil
	}
	res, err := u.client.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if res.StatusCode == http.StatusOK {
		_ = json.Unmarshal(body, v)
	}
	return res.Header
}
