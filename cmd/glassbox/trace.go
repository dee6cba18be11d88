package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"glassbox/trace"
	"glassbox/trace/export"
	"glassbox/trace/file"
)

// traceCmd sends one prompt through a server of its own, over a real socket, so that the recording has the whole path.
type traceCmd struct {
	Prompt string `arg:"" help:"The prompt; - reads standard input."`
	engineFlags
	Out           string   `short:"o" placeholder:"FILE" help:"Where the recording goes: .gbx, or .json. Default: trace-ID.gbx here."`
	Doc           bool     `help:"Write the small form for a page of documentation: JSON of less than 200 kB, ids that stay from run to run."`
	MaxTokens     int      `default:"64" help:"Most tokens of the answer."`
	Temp          float64  `default:"0" help:"Temperature; 0 takes the likeliest token."`
	Seed          uint64   `default:"1" help:"Seed of the draws."`
	TopK          int      `default:"0" help:"Draw from the K likeliest; 0 = all."`
	TopP          float64  `default:"1" help:"Draw from the likeliest that make up P; 1 = all."`
	MinP          float64  `default:"0" help:"Draw from those at least P times as likely as the likeliest; 0 = all."`
	RepeatPenalty float64  `default:"1" help:"Make tokens that were there less likely; 1 = off."`
	System        string   `placeholder:"TEXT" help:"A system message before the prompt."`
	Logprobs      int      `default:"0" placeholder:"N" help:"Keep the N likeliest tokens at each position, up to 20."`
	Raw           bool     `help:"Send the prompt as it is, without a chat template."`
	Capture       []string `placeholder:"KIND,…" help:"Values to copy out of the passes as well: attention, lens, values, logits, or all."`
	Beside        int      `default:"0" placeholder:"N" help:"Let N other requests run already when this one arrives, so that it joins their batch; nothing of them but their part of each turn is recorded."`
	Ablate        []string `placeholder:"PART,…" help:"Parts of the model to switch off: L10.H3 a head, L4.ffn or L4.attn a branch, L7 a layer; =mean puts the mean over the prompt in its place. Counted from 0."`
}

// Run serves, asks, prints the answer to stdout as it comes, and writes the recording.
func (c *traceCmd) Run(ctx context.Context) error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	log.SetOutput(io.Discard) // the server's log: there is one request, and what becomes of it is told below
	prompt, err := c.prompt()
	if err != nil {
		return err
	}
	if _, err := trace.ParseCapture(c.Capture); err != nil {
		return &usageError{err.Error()}
	}
	o, err := c.open()
	if err != nil {
		return err
	}
	defer o.close()
	if _, err := o.engine.ParseAblate(c.Ablate); err != nil {
		return &usageError{err.Error()}
	}
	s, err := newServer(o, "", nil, "")
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.serve(serving, l, s.mux()) }()
	rec, err := c.ask(ctx, s, "http://"+l.Addr().String(), prompt)
	stop()
	if e := <-ended; err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	out := c.Out
	if out == "" {
		out = "trace-" + rec.ID + ".gbx"
		if c.Doc {
			out = "trace.json"
		}
	}
	if err := c.write(out, rec); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %d spans of %d steps, %d prompt and %d output tokens\n", out, len(rec.Spans), reached(rec), len(rec.Request.PromptTokens), len(rec.Request.OutputTokens))
	return nil
}

// write writes the recording, or its form for documentation.
func (c *traceCmd) write(out string, rec *file.Recording) error {
	if !c.Doc {
		return file.Write(out, rec)
	}
	part := out + ".new.part"
	err := into(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, export.Doc, rec)
	if err == nil {
		err = os.Rename(part, out)
	}
	if err != nil {
		os.Remove(part)
		return fmt.Errorf("-o %s: %w", out, err)
	}
	return nil
}

// reached counts the steps that have spans.
func reached(rec *file.Recording) int {
	n := 0
	for _, s := range rec.Walk {
		if s.Count > 0 {
			n++
		}
	}
	return n
}

// promptLimit is more than any context holds, and less than the server takes as a body.
const promptLimit = 8 << 20

// prompt reads the prompt from the argument or standard input.
func (c *traceCmd) prompt() (string, error) {
	text := c.Prompt
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(os.Stdin, promptLimit+1))
		if err != nil {
			return "", fmt.Errorf("standard input: %w", err)
		}
		if len(b) > promptLimit {
			return "", fmt.Errorf("standard input: wanted a prompt of at most %d bytes, found more", promptLimit)
		}
		text = strings.TrimSuffix(string(b), "\n")
	}
	if !utf8.ValidString(text) || !utf8.ValidString(strings.Join(os.Args, " ")) { // the flag parser replaces such bytes itself
		fmt.Fprintln(os.Stderr, "glassbox: warning: the prompt is not UTF-8 everywhere: bytes that are no character are sent as U+FFFD")
	}
	return text, nil
}

// body is the request, as any client would send it.
func (c *traceCmd) body(prompt, model string) (path string, body []byte, err error) {
	gb := map[string]any{"trace": true, "capture": append([]string{}, c.Capture...)}
	if len(c.Ablate) > 0 {
		gb["ablate"] = c.Ablate
	}
	req := map[string]any{"model": model, "stream": true, "stream_options": map[string]any{"include_usage": true}, "max_tokens": c.MaxTokens,
		"temperature": c.Temp, "seed": c.Seed, "glassbox": gb}
	extras := map[string]any{"top_k": c.TopK, "top_p": c.TopP, "min_p": c.MinP, "repeat_penalty": c.RepeatPenalty}
	for name, off := range map[string]float64{"top_k": 0, "top_p": 1, "min_p": 0, "repeat_penalty": 1} {
		if fmt.Sprint(extras[name]) != fmt.Sprint(off) {
			req[name] = extras[name]
		}
	}
	if c.Raw {
		req["prompt"] = prompt
		if c.Logprobs > 0 {
			req["logprobs"] = c.Logprobs
		}
		body, err = json.Marshal(req)
		return "/v1/completions", body, err
	}
	if c.Logprobs > 0 {
		req["logprobs"], req["top_logprobs"] = true, c.Logprobs
	}
	messages := []map[string]string{{"role": "user", "content": prompt}}
	if c.System != "" {
		messages = append([]map[string]string{{"role": "system", "content": c.System}}, messages...)
	}
	req["messages"] = messages
	body, err = json.Marshal(req)
	return "/v1/chat/completions", body, err
}

// chunk is what is read of a streamed event.
type chunk struct {
	Choices []struct {
		Text  string `json:"text"`
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// ask sends the request, copies the answer to stdout, and returns the recording when it is whole.
func (c *traceCmd) ask(ctx context.Context, s *server, url, prompt string) (*file.Recording, error) {
	path, body, err := c.body(prompt, s.opened.name)
	if err != nil {
		return nil, err
	}
	others, err := c.company(ctx, s.opened.name, url)
	defer others()
	if err != nil {
		return nil, unwrapCanceled(err)
	}
	resp, err := post(ctx, url+path, body)
	if err != nil {
		return nil, unwrapCanceled(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, answerError(resp)
	}
	if err := copyAnswer(os.Stdout, resp.Body); err != nil {
		return nil, unwrapCanceled(err)
	}
	return s.store.Wait(ctx, resp.Header.Get("X-Glassbox-Trace-Id"))
}

// post sends a JSON body.
func post(ctx context.Context, url string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(req)
}

// company starts the other requests and returns when each of them has its first words, with what ends them. Each is longer
// than the one before, so that they leave the loop one by one.
func (c *traceCmd) company(ctx context.Context, model, url string) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	stop := func() {
		cancel()
		reading.Wait()
	}
	for i := range c.Beside {
		body, err := json.Marshal(map[string]any{"model": model, "prompt": fmt.Sprintf("Once upon a time, in town number %d,", i+1), "stream": true, "max_tokens": 24 + 40*i, "ignore_eos": true, "temperature": 0})
		if err != nil {
			return stop, err
		}
		resp, err := post(ctx, url+"/v1/completions", body)
		if err != nil {
			return stop, err
		}
		if resp.StatusCode != http.StatusOK {
			defer resp.Body.Close()
			return stop, fmt.Errorf("--beside: request %d of %d: %w", i+1, c.Beside, answerError(resp))
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
			resp.Body.Close()
			return stop, fmt.Errorf("--beside: request %d of %d: %w", i+1, c.Beside, err)
		}
		reading.Go(func() {
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body) // until it is ended
		})
	}
	return stop, nil
}

// answerError is what a server that refused a request says about it.
func answerError(resp *http.Response) error {
	var e chunk
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if json.Unmarshal(raw, &e) == nil && e.Error != nil {
		return errors.New(e.Error.Message)
	}
	return fmt.Errorf("the server answered %s", resp.Status)
}

// copyAnswer writes the text of the events as they come, and a line's end after the last.
func copyAnswer(w io.Writer, events io.Reader) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return fmt.Errorf("an event of the answer: %w", err)
		}
		if c.Error != nil {
			return errors.New(c.Error.Message)
		}
		for _, choice := range c.Choices {
			if _, err := io.WriteString(w, choice.Delta.Content+choice.Text); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// unwrapCanceled makes Ctrl-C look the same wherever it struck.
func unwrapCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}
