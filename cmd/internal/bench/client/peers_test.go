package client_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/mock"
)

// seen is an event as a peer's client sees it.
type seen struct {
	at                 float64 // ms since the request was sent
	choices            bool
	content, reasoning bool
	usage              int
}

// events reads a script the plain way the peers do: one event a blank line, by the times of the steps.
func events(s mock.Script) (out []seen) {
	at := s.Before
	for _, step := range s.Steps {
		at += step.After
		text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(step.Data)
		for _, event := range strings.Split(text, "\n\n") {
			data := ""
			for _, line := range strings.Split(event, "\n") {
				if rest, ok := strings.CutPrefix(line, "data:"); ok {
					data += rest
				}
			}
			var v struct {
				Choices []struct {
					Text  string
					Delta map[string]any
				}
				Usage *struct {
					Tokens float64 `json:"completion_tokens"`
				}
			}
			if strings.TrimSpace(data) == "[DONE]" {
				return out
			}
			if json.Unmarshal([]byte(data), &v) != nil {
				continue
			}
			e := seen{at: float64(at) / 1e6, choices: len(v.Choices) > 0}
			for _, c := range v.Choices {
				text, _ := c.Delta["content"].(string)
				r1, _ := c.Delta["reasoning"].(string)
				r2, _ := c.Delta["reasoning_content"].(string)
				e.content = e.content || text != "" || c.Text != "" || c.Delta["tool_calls"] != nil
				e.reasoning = e.reasoning || r1 != "" || r2 != ""
			}
			if v.Usage != nil {
				e.usage = int(v.Usage.Tokens)
			}
			out = append(out, e)
		}
	}
	return out
}

// peer is what another tool would report of a stream: TTFT, and what it means by our TPOT. NaN = nothing.
type peer struct{ ttft, tpot float64 }

// The formulas, each from the tool's source: vLLM's backend_request_func.py and serve.py; guidellm's request stats (its
// ITL is our TPOT); llmperf's token_benchmark_ray.py (chunks are tokens, reasoning is not seen, the first gap is TTFT);
// MLPerf's LoadGen rules (first token that the user sees, by the server's own count).
var peers = map[string]func([]seen) peer{
	"vllm": func(es []seen) peer {
		var first, last float64
		n := 1
		for _, e := range es {
			if e.choices {
				if last = e.at; first == 0 {
					first = e.at
				}
			}
			if e.usage > 0 {
				n = e.usage
			}
		}
		return peer{first, ratio(last-first, n-1)}
	},
	"guidellm": func(es []seen) peer {
		first, last, n := span(es, func(e seen) bool { return e.content || e.reasoning })
		return peer{first, ratio(last-first, n-1)}
	},
	"llmperf": func(es []seen) peer {
		first, last, _ := span(es, func(e seen) bool { return e.content })
		chunks := 0
		for _, e := range es {
			if e.content {
				chunks++
			}
		}
		return peer{first, ratio(last, chunks)}
	},
	"mlperf": func(es []seen) peer {
		first, last, n := span(es, func(e seen) bool { return e.content || e.reasoning })
		return peer{first, ratio(last-first, n-1)}
	},
}

func span(es []seen, is func(seen) bool) (first, last float64, n int) {
	chunks := 0
	for _, e := range es {
		if is(e) {
			if last = e.at; chunks == 0 {
				first = e.at
			}
			chunks++
		}
		if e.usage > 0 {
			n = e.usage
		}
	}
	if n == 0 {
		n = chunks
	}
	return first, last, n
}

func ratio(x float64, n int) float64 {
	if n <= 0 {
		return math.NaN()
	}
	return x / float64(n)
}

// Why a peer differs from us by more than 2 % on a stream. Every difference must be listed here, and every entry must
// still be a difference.
var explained = map[string]string{
	"vllm ttft":     "an event with choices but without text counts as the first token",
	"vllm tpot":     "it starts at that event, and its first chunk is always one token",
	"llmperf tpot":  "the time to the first token is inside, chunks are taken for tokens",
	"llmperf ttft":  "reasoning is not seen",
	"guidellm tpot": "its first chunk is always one token; ours is counted where the server says how many it holds",
	"mlperf tpot":   "as guidellm",
}

func TestEveryDifferenceToPeersIsExplained(t *testing.T) {
	met := map[string][]string{}
	compared := 0
	for _, s := range mock.Quirks() {
		if overHTTP(s) || s.Truth.Error != "" || s.Lines || s.Scatter > 0 {
			continue
		}
		row, es := replay(s), events(s)
		for name, f := range peers {
			p := f(es)
			for _, x := range []struct {
				what   string
				theirs float64
				ours   *float64
			}{{"ttft", p.ttft, row.TTFT}, {"tpot", p.tpot, row.TPOT}} {
				if x.ours == nil || math.IsNaN(x.theirs) {
					continue
				}
				compared++
				if math.Abs(x.theirs-*x.ours) > 0.02**x.ours {
					key := name + " " + x.what
					met[key] = append(met[key], s.Name)
					require.NotEmpty(t, explained[key], "%s on %s: %s %.3f, ours %.3f", key, s.Name, x.what, x.theirs, *x.ours)
				}
			}
		}
	}
	require.Greater(t, compared, 150)
	require.ElementsMatch(t, []string{"running-usage"}, met["guidellm tpot"], "they differ where the first chunk holds several tokens, and nowhere else")
	require.ElementsMatch(t, met["guidellm tpot"], met["mlperf tpot"])
	require.ElementsMatch(t, []string{"reasoning_content", "reasoning"}, met["llmperf ttft"])
	require.Contains(t, met["vllm ttft"], "role-only")
	require.NotContains(t, met["vllm ttft"], "slow-headers", "without a role event it agrees")
	require.Contains(t, met["vllm tpot"], "running-usage")
	require.Contains(t, met["llmperf tpot"], "plain")
}

// With k tokens in the first chunk the others' TPOT is ours times (n-k)/(n-1): for 3 of 8 tokens 5/7, a third too fast.
func TestFirstChunkOfSeveralTokens(t *testing.T) {
	s, _ := mock.Find("running-usage")
	row, p := replay(s), peers["guidellm"](events(s))
	require.InDelta(t, 18.0/5, *row.TPOT, 1e-9, "three pauses of 6 ms for five tokens")
	require.InDelta(t, *row.TPOT*5/7, p.tpot, 1e-9)
	require.Equal(t, 6*time.Millisecond, s.FirstToken())
}
