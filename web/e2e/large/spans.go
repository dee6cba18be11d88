package large

import (
	"fmt"
	"path/filepath"
)

// Spans is the id of the recording that WriteSpans makes.
const Spans = "many-spans"

// WriteSpans writes Spans.gbx into dir, from the checkout's root: the shipped recording of vLLM with a second copy of every
// process beside the first, and tells how many spans it has.
func WriteSpans(root, dir string) (int, error) {
	trace, err := shipped(filepath.Join(root, "static", "recordings", "chat-in-vllm.gbx"))
	if err != nil {
		return 0, err
	}
	delete(trace, "id")
	twin := func(key string, ids ...string) []any {
		old, _ := trace[key].([]any)
		var all []any
		for _, q := range old {
			o := map[string]any{}
			for k, v := range q.(map[string]any) {
				o[k] = v
			}
			for _, id := range ids {
				if v, ok := o[id].(string); ok {
					o[id] = "twin-" + v
				}
			}
			if key == "spans" {
				o["step"] = "" // the walk's stops are those of the first copy
			}
			all = append(all, q, o) // spans are in the order of their start
		}
		trace[key] = all
		return all
	}
	twin("lanes", "id")
	spans := twin("spans", "id", "lane", "parent")
	if len(spans) < 100_000 {
		return 0, fmt.Errorf("large: wanted 100,000 spans, found %d", len(spans))
	}
	return len(spans), write(dir, Spans, trace, nil)
}
