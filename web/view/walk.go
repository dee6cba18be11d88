package view

import (
	"regexp"
	"strconv"
	"strings"

	"glassbox/trace/file"
)

// Walk is a recording as a document: everything in it that is read rather than explored.
type Walk struct {
	ID, Title, When     string
	Asked, Answer       string
	Finish, Error       string
	Facts               []Fact
	Numbers             []Fact
	Pieces              []string // of the answer
	Stages              []Stage
	Partial             []string // what is missing
	Dropped, DroppedWhy string
}

// Fact is a name with a value.
type Fact struct {
	Name, Text string
	Number     Number // used where Text is empty
}

// Stage is one of the four parts of the walk.
type Stage struct {
	Letter, Name string
	Time         Number
	Steps        []Stop
}

// Stop is one step of the walk.
type Stop struct {
	Number                int
	ID, Title, Lane, Form string
	Short                 string
	Text                  []Paragraph
	HandsOn, Wrong, Link  string
	Reached               bool
	WhyNot                string
	Count                 string
	Time, Share           Number
	In, Out               string
	Sources               []Place
}

// Paragraph is a piece of a step's text, cut where code begins and ends.
type Paragraph []Run

// Run is a stretch of text.
type Run struct {
	Text string
	Code bool
}

// At is the file with the line.
func (p Place) At() string {
	if p.Line > 0 {
		return p.Path + ":" + strconv.Itoa(p.Line)
	}
	return p.Path
}

// Place is a place in the source.
type Place struct {
	Path, Symbol, Commit string
	Line                 int
	Lines                []CodeLine
	Stage                string // letter
}

var stageNames = []struct{ id, name string }{{"receive", "Receive"}, {"schedule", "Schedule"}, {"compute", "Compute"}, {"deliver", "Deliver"}}

// WalkOf makes the document.
func WalkOf(rec *file.Recording) Walk {
	w := Walk{
		ID: rec.ID, Title: Cut(file.PromptStart(&rec.Request), 120), When: When(rec.Started), Asked: file.PromptStart(&rec.Request),
		Answer: rec.Request.Text, Finish: rec.Request.FinishReason, Error: rec.Request.Error, Facts: facts(rec), Numbers: numbers(rec), DroppedWhy: rec.Dropped.Why,
	}
	if w.Title == "" {
		w.Title = rec.ID
	}
	if rec.Partial {
		w.Partial = append([]string{}, rec.Missing...)
	}
	if rec.Dropped.Spans > 0 {
		w.Dropped = Plural(int(rec.Dropped.Spans), "span")
	}
	for _, t := range rec.Request.OutputTokens {
		w.Pieces = append(w.Pieces, Piece(t))
	}
	whole := total(rec)
	ns := rec.Numbers.E2ENs
	if ns == 0 && whole.Known() {
		for i := range rec.Spans {
			ns = max(ns, rec.Spans[i].EndNs())
		}
	}
	for _, st := range stageNames {
		if s := stage(rec, st.id, st.name, ns); len(s.Steps) > 0 {
			w.Stages = append(w.Stages, s)
		}
	}
	return w
}

func stage(rec *file.Recording, id, name string, whole int64) Stage {
	s := Stage{Letter: Letter(id), Name: name}
	var ns int64
	for i := range rec.Walk {
		if rec.Walk[i].Stage == id {
			ns += rec.Walk[i].TimeNs
			s.Steps = append(s.Steps, stop(rec, &rec.Walk[i], i+1, whole))
		}
	}
	s.Time = clocked(rec, Duration(ns, "derived", "the times of its steps, summed; steps that wait for each other are counted in both"))
	return s
}

func stop(rec *file.Recording, w *file.Step, n int, whole int64) Stop {
	s := Stop{
		Number: n, ID: w.ID, Title: w.Title, Lane: w.Lane, Form: w.Form, Short: w.Short, HandsOn: w.HandsOn, Wrong: w.Wrong, Link: webLink(w.Link),
		Reached: w.Count > 0, Count: Plural(w.Count, "time"), In: w.In, Out: w.Out, Time: NotMeasured, Share: NotMeasured,
	}
	text := w.Body
	if text == "" {
		text = w.Text
	}
	s.Text = paragraphs(text)
	if s.Reached {
		s.Time = clocked(rec, Duration(w.TimeNs, "measured", "the spans of this step, summed"))
		s.Share = clocked(rec, Share(w.TimeNs, whole))
	} else if _, why, ok := strings.Cut(w.Text, "Not reached: "); ok {
		s.WhyNot = why
	}
	list := w.Sources
	if len(list) == 0 {
		list = []file.Source{w.Source}
	}
	for i, src := range list {
		if src.Path == "" && src.Symbol == "" {
			continue
		}
		p := Place{Path: src.Path, Symbol: src.Symbol, Commit: src.Commit, Line: src.Line, Stage: Letter(w.Stage)}
		if i == 0 {
			p.Lines = around(src, documentLines)
		}
		s.Sources = append(s.Sources, p)
	}
	return s
}

// webLink returns a link that leads to a web page, "" for any other: recordings come from anywhere.
func webLink(to string) string {
	if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") {
		return to
	}
	return ""
}

// documentLines is how many lines of a step's source the document shows.
const documentLines = 11

var codeMark = regexp.MustCompile("`[^`]+`")

// paragraphs cuts a text at its line ends, and each line at its code marks.
func paragraphs(text string) []Paragraph {
	var out []Paragraph
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "Not reached: ") {
			continue
		}
		var p Paragraph
		at := 0
		for _, m := range codeMark.FindAllStringIndex(line, -1) {
			if m[0] > at {
				p = append(p, Run{line[at:m[0]], false})
			}
			p = append(p, Run{line[m[0]+1 : m[1]-1], true})
			at = m[1]
		}
		if at < len(line) {
			p = append(p, Run{line[at:], false})
		}
		out = append(out, p)
	}
	return out
}

func facts(rec *file.Recording) []Fact {
	var out []Fact
	add := func(name, text string) {
		if text != "" {
			out = append(out, Fact{Name: name, Text: text})
		}
	}
	m, d, e := rec.Model, rec.Device, rec.Engine
	add("engine", join(e.Name, e.Version, commit(e.Commit)))
	add("model", join(m.Name, m.Architecture, m.Quantization))
	if m.Layers > 0 {
		add("shape", Plural(m.Layers, "layer")+", "+Plural(m.Heads, "head")+", "+Plural(m.KVHeads, "KV head")+", width "+Count(int64(m.Width)))
	}
	device := join(d.Name, d.Driver)
	if d.Threads > 0 {
		device = join(device, Plural(d.Threads, "thread"))
	}
	add("device", device)
	add("features", strings.Join(d.Features, " "))
	add("device before", state(d.Before))
	add("device after", state(d.After))
	if rec.Clock.Name != "" {
		add("clock", join(rec.Clock.Name, "resolution "+Duration(rec.Clock.ResolutionNs, "measured", "").Text()))
	}
	add("endpoint", rec.Request.Endpoint)
	add("request", rec.Request.ID)
	add("trace id", rec.Request.TraceID)
	return out
}

// state writes what a device's driver said of it.
func state(s *file.DeviceState) string {
	if s == nil {
		return ""
	}
	part := func(v *float64, unit string) string {
		if v == nil {
			return ""
		}
		return Sig3(*v) + " " + unit
	}
	return join(part(s.SMMHz, "MHz"), part(s.MemoryMHz, "MHz memory"), part(s.PowerW, "W"), part(s.TempC, "°C"), part(s.UsedMB, "MiB in use"))
}

func commit(c string) string {
	if len(c) == 40 {
		return c[:12]
	}
	return c
}

func join(parts ...string) string {
	var have []string
	for _, p := range parts {
		if p != "" {
			have = append(have, p)
		}
	}
	return strings.Join(have, ", ")
}

// numbers are the three numbers, and what belongs to them.
func numbers(rec *file.Recording) []Fact {
	n := rec.Numbers
	count := func(v int) Number {
		return Number{Value: Count(int64(v)), Exact: Count(int64(v)), Prov: "measured", How: "counted"}
	}
	untraced := NotMeasured
	if u := rec.Untraced; u != nil && u.DecodeTokensPerS > 0 {
		untraced = clocked(rec, rateOr(u.DecodeTokensPerS, "tokens/s", "the same request without a recording"))
	}
	return []Fact{
		{Name: "TTFT", Number: durationOr(n.TTFTNs, "measured", howTTFT)},
		{Name: "TPOT", Number: durationOr(n.TPOTNs, "derived", howTPOT)},
		{Name: "throughput, decode", Number: rateOr(n.DecodeTokensPerS, "tokens/s", howRate)},
		{Name: "throughput, prefill", Number: rateOr(n.PrefillTokensPerS, "tokens/s", howPre)},
		{Name: "the same, untraced", Number: untraced},
		{Name: "whole request", Number: total(rec)},
		{Name: "waited in the queue", Number: durationOr(n.QueueNs, "measured", howWait)},
		{Name: "prompt tokens", Number: count(n.PromptTokens)},
		{Name: "answer tokens", Number: count(n.OutputTokens)},
		{Name: "spans", Number: count(len(rec.Spans))},
		{Name: "passes", Number: count(len(rec.Passes))},
	}
}
