package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// without are parameters of OpenAI, vLLM and llama.cpp that would change the answer and that this server does not have. A
// request with one of them is refused, so that no answer pretends; values that ask for nothing pass. Fields that say
// nothing about the answer (user, metadata, prompt_cache_key, ...) and fields that nobody knows are let by.
var without = map[string]struct {
	pass []string // JSON values that ask for nothing
	do   string   // what to do instead
}{
	"audio":                      {nil, "this model writes text only"},
	"web_search_options":         {nil, "this server does not look anything up"},
	"functions":                  {[]string{"[]"}, "leave it out"},
	"function_call":              {[]string{`"none"`, `"auto"`}, "leave it out"},
	"reasoning_effort":           {[]string{`"none"`}, "this model has no reasoning mode"},
	"verbosity":                  {[]string{`"medium"`}, "ask for it in the prompt"},
	"moderation":                 {nil, "this server moderates nothing"},
	"store":                      {[]string{"false"}, `this server keeps no answers; a recording is asked for with "glassbox": {"trace": true}`},
	"service_tier":               {[]string{`"auto"`, `"default"`}, "there is one tier"},
	"best_of":                    {[]string{"1"}, "ask for n answers and choose"},
	"suffix":                     {[]string{`""`}, "this server does not fill in the middle"},
	"grammar":                    {[]string{`""`}, "use response_format with a JSON Schema"},
	"guided_json":                {nil, "use response_format with a JSON Schema"},
	"guided_regex":               {nil, "use response_format with a JSON Schema of type string with a pattern"},
	"guided_choice":              {nil, "use response_format with a JSON Schema with enum"},
	"guided_grammar":             {nil, "use response_format with a JSON Schema"},
	"structured_outputs":         {nil, "use response_format with a JSON Schema"},
	"use_beam_search":            {[]string{"false"}, "this server samples"},
	"stop_token_ids":             {[]string{"[]"}, "use stop with texts"},
	"bad_words":                  {[]string{"[]"}, "use logit_bias"},
	"prompt_logprobs":            {[]string{"0", "false"}, "log-probabilities are those of the answer"},
	"continue_final_message":     {[]string{"false"}, "use /v1/completions with the whole prompt"},
	"chat_template":              {nil, "start the server with --chat-template"},
	"chat_template_kwargs":       {[]string{"{}"}, "the template is given messages only"},
	"mirostat":                   {[]string{"0"}, "use temperature, top_k, top_p and min_p"},
	"typical_p":                  {[]string{"1", "1.0"}, "use temperature, top_k, top_p and min_p"},
	"dry_multiplier":             {[]string{"0", "0.0"}, "use the repeat, presence and frequency penalties"},
	"xtc_probability":            {[]string{"0", "0.0"}, "use temperature, top_k, top_p and min_p"},
	"truncate_prompt_tokens":     {nil, "a prompt that does not fit is refused"},
	"skip_special_tokens":        {[]string{"true"}, "marks are never part of the text"},
	"include_stop_str_in_output": {[]string{"false"}, "the stop text is never part of the answer"},
}

// refused looks for a parameter that this server lacks.
func refused(body []byte) error {
	var all map[string]json.RawMessage
	if json.Unmarshal(body, &all) != nil {
		return nil // it was decoded before
	}
	var names []string
	for name, raw := range all {
		if w, ok := without[name]; ok && !empty(raw) && !slices.Contains(w.pass, string(bytes.TrimSpace(raw))) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names) // so that the answer does not change from one request to the next
	w, passes := without[names[0]], ""
	if w.pass != nil {
		passes = fmt.Sprintf(" (but %s passes)", strings.Join(w.pass, " or "))
	}
	return unsupported("unsupported_parameter", names[0], "%s is not supported%s: %s", names[0], passes, w.do)
}
