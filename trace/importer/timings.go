package importer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"time"

	"glassbox/trace/file"
)

// timing is what llama.cpp's server tells of a request: how long prompt and answer took, and how many tokens they had. It
// does not tell when.
type timing struct {
	prompt, predicted float64 // ms
	promptN, outN     int
	cached            int
	hasPrompt, hasOut bool
}

// readTimings reads the "timings" of an answer. The scanner stands behind the key.
func readTimings(s *scanner) (*file.Recording, *Report, error) {
	var t struct {
		CacheN      int      `json:"cache_n"`
		PromptN     int      `json:"prompt_n"`
		PromptMS    *float64 `json:"prompt_ms"`
		PredictedN  int      `json:"predicted_n"`
		PredictedMS *float64 `json:"predicted_ms"`
	}
	if err := s.decode(&t); err != nil {
		return nil, nil, fmt.Errorf("timings: %w", s.explain(err))
	}
	if t.PromptMS == nil || t.PredictedMS == nil {
		return nil, nil, errors.New("timings: wanted prompt_ms and predicted_ms, found none")
	}
	return timingsOf([]timing{{*t.PromptMS, *t.PredictedMS, t.PromptN, t.PredictedN, t.CacheN, true, true}}, 0)
}

var (
	promptLine = regexp.MustCompile(`prompt eval time\s*=\s*([0-9.]+) ms /\s*([0-9]+) tokens`)
	evalLine   = regexp.MustCompile(`(?:^|[^t]) eval time\s*=\s*([0-9.]+) ms /\s*([0-9]+) (?:tokens|runs)`)
)

// readLog reads the log of llama.cpp's server or of its command line: the lines with the times of prompt and answer.
func readLog(r *bufio.Reader) (*file.Recording, *Report, error) {
	var list []timing
	refused := int64(0)
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // a line of a megabyte is none of ours
			line, err = r.ReadSlice('\n')
		}
		m, prompt := promptLine.FindSubmatch(line), true
		if m == nil {
			m, prompt = evalLine.FindSubmatch(line), false
		}
		if m != nil {
			ms, e1 := strconv.ParseFloat(string(m[1]), 64)
			tokens, e2 := strconv.Atoi(string(m[2]))
			switch last := len(list) - 1; {
			case e1 != nil || e2 != nil:
				refused++
			case prompt:
				list = append(list, timing{prompt: ms, promptN: tokens, hasPrompt: true})
			case last >= 0 && !list[last].hasOut:
				list[last].predicted, list[last].outN, list[last].hasOut = ms, tokens, true
			default:
				list = append(list, timing{predicted: ms, outN: tokens, hasOut: true})
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(list) > mostSpans {
			return nil, nil, fmt.Errorf("line %d: more than %d requests: cut the log", n, mostSpans)
		}
	}
	if len(list) == 0 {
		return nil, nil, errors.New(`wanted JSON, or a log of llama.cpp with lines such as "prompt eval time = 12.3 ms / 36 tokens", found neither`)
	}
	return timingsOf(list, refused)
}

// timingsOf lays the requests one behind the other: a log says how long they took, and not when they ran.
func timingsOf(list []timing, refused int64) (*file.Recording, *Report, error) {
	rep := &Report{Form: "llama.cpp timings", Refused: refused, Events: refused}
	rec := &file.Recording{Device: file.Device{Kind: "unknown", Name: "not said in the file", Features: []string{}}, Clock: file.Clock{Name: "of the imported file", ResolutionNs: 1000},
		Started: time.Unix(0, 0).UTC().Format(time.RFC3339Nano), Lanes: []file.Lane{{ID: "server", Title: "llama.cpp", Note: "one request behind the other: the file does not say when they ran"}}}
	rec.Request.Params = file.Attrs{"requests": int64(len(list))}
	rep.Lanes = 1
	at := int64(0)
	add := func(i int, name string, ms float64, tokens int, more file.Attrs) {
		rep.Events++
		if !(ms >= 0 && ms < 1e11) || math.IsInf(ms, 0) || at > latest-int64(1e17) {
			rep.Refused++
			rep.Why = fmt.Sprintf("request %d: %s: wanted a time in ms, found %v", i, name, ms)
			return
		}
		rep.Spans++
		more["tokens"], more["request"] = int64(tokens), int64(i)
		dur := int64(math.Round(ms * 1e6))
		rec.Spans = append(rec.Spans, file.Span{ID: fmt.Sprintf("server/%d/%s", i, name), Name: name, StartNs: at, DurNs: dur, Lane: "server", Pass: file.None, Layer: file.None,
			Prov: "derived", Attrs: more})
		at += dur
	}
	for i, t := range list {
		if t.hasPrompt {
			add(i, "prefill", t.prompt, t.promptN, file.Attrs{"cached_tokens": int64(t.cached)})
		}
		if t.hasOut {
			add(i, "decode", t.predicted, t.outN, file.Attrs{})
		}
	}
	if len(rec.Spans) == 0 {
		return nil, nil, fmt.Errorf("wanted times of prompt and answer, found none that are times%s", because(rep.Why))
	}
	return rec, rep, nil
}
