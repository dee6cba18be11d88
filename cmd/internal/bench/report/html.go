package report

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"glassbox/cmd/internal/bench"
	"glassbox/cmd/internal/bench/client"
)

var (
	//go:embed tokens.css
	tokensCSS string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
	//go:embed page.tmpl
	pageTemplate string
	//go:embed gallery.tmpl
	galleryTemplate string
	//go:embed compare.tmpl
	compareTemplate string
)

var funcs = template.FuncMap{"num": Num, "pct": pct, "label": levelLabel, "server": serverName, "sig": sig3,
	"gb": func(n int64) string { return fmt.Sprintf("%.1f GB", float64(n)/1e9) }}

var pages = func() *template.Template {
	t := template.New("").Funcs(funcs)
	template.Must(t.New("page").Parse(pageTemplate))
	template.Must(t.New("gallery").Parse(galleryTemplate))
	template.Must(t.New("compare").Parse(compareTemplate))
	return t
}()

// MaxPage is what a page may take. Where all rows would exceed it, evenly fewer are inside, and the page says so.
const MaxPage = 300 << 10

const (
	rawInline = 60 << 10  // JSON up to here is readable in the page's source
	rawPacked = 150 << 10 // above, it is gzip in URL-safe base64 (which HTML leaves alone), up to here
	tableMost = 200       // rows of the table of requests
)

// view is what the page's template reads.
type view struct {
	R         *bench.Result
	CSS       template.CSS
	JS        template.JS
	Numbers   []bigNumber
	Flags     []bench.Flag
	Fine      []bench.Flag
	Figures   []figure
	Requests  [][]string
	AllRows   int
	Goodput   goodTable
	Beside    [][]string
	Env       [][2]string
	Raw       template.JS // JSON; its <, > and & are escaped by encoding/json
	Packed    string
	RawNote   string
	RawRows   int
	FileName  string
	BackTo    string // the gallery, where the page is served by one
	Generated string
}

// bigNumber is one of the few on top. Badge is the sign of its provenance.
type bigNumber struct{ Name, Value, Unit, How, Badge, Exact string }

type goodTable struct {
	Levels []string
	Rows   []goodRow
}

type goodRow struct {
	Name, Limits string
	Shares       []string
}

// HTML writes one page that needs nothing else: no network, styles and JSON inside, readable without a script.
func HTML(w io.Writer, r *bench.Result) error { return page(w, r, "") }

func page(w io.Writer, r *bench.Result, back string) error {
	v := &view{R: r, CSS: template.CSS(tokensCSS + pageCSS), JS: template.JS(pageJS), Numbers: bigNumbers(r), Figures: figures(r),
		Goodput: goodputs(r), Beside: besides(r), Env: environment(r), AllRows: len(r.Rows), FileName: Name(r) + ".json", BackTo: back}
	for _, f := range r.Health {
		if f.Grade == "ok" {
			v.Fine = append(v.Fine, f)
		} else {
			v.Flags = append(v.Flags, f)
		}
	}
	v.Requests = requests(r)
	if err := v.raw(r); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, "page", v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// raw puts the JSON in: readable, else packed, else with evenly fewer rows.
func (v *view) raw(r *bench.Result) error {
	for every := 1; ; every *= 2 {
		cut := *r
		cut.Rows = thinRows(r.Rows, every)
		if every > 1 {
			cut.Prefill, cut.Warmup = thinRows(r.Prefill, every), []*client.Row{}
			v.RawNote = fmt.Sprintf("This page holds every %d. row to stay small; the JSON file beside it has all.", every)
		}
		data, err := json.Marshal(&cut)
		if err != nil {
			return err
		}
		v.RawRows = len(cut.Rows)
		if every == 1 && len(data) <= rawInline {
			v.Raw = template.JS(data)
			return nil
		}
		var z bytes.Buffer
		g, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if _, err := g.Write(data); err != nil {
			return err
		}
		if err := g.Close(); err != nil {
			return err
		}
		if z.Len()*4/3 <= rawPacked || len(cut.Rows) < 2 {
			v.Packed = base64.RawURLEncoding.EncodeToString(z.Bytes())
			return nil
		}
	}
}

func thinRows(rows []*client.Row, every int) []*client.Row {
	if every == 1 {
		return rows
	}
	out := []*client.Row{}
	for i := 0; i < len(rows); i += every {
		out = append(out, rows[i])
	}
	return out
}

func bigNumbers(r *bench.Result) []bigNumber {
	h := r.Summary.Headline
	exact := func(x *float64) string {
		if x == nil {
			return "not measured"
		}
		return fmt.Sprintf("%.6g", *x)
	}
	at := fmt.Sprintf("concurrency\u00a0%d", h.Concurrency)
	spreadOf, n := "", 0
	for i := range r.Summary.Levels {
		if v := &r.Summary.Levels[i]; v.Concurrency == h.Concurrency && v.OK > 0 {
			n = v.OK
			if len(v.TTFT.CI) == 2 {
				spreadOf = fmt.Sprintf(", 95 %% in %s to %s", sig3(v.TTFT.CI[0]), sig3(v.TTFT.CI[1]))
			}
			break
		}
	}
	out := []bigNumber{
		{"Time to first token", Num(h.TTFT), "ms", fmt.Sprintf("median of %d at %s%s", n, at, spreadOf), "m", exact(h.TTFT)},
		{"Time per output token", Num(h.TPOT), "ms", fmt.Sprintf("median of %d at %s", n, at), "d", exact(h.TPOT)},
		{"Decode, one stream", Num(h.Decode), "tokens/s", "1000 / TPOT", "d", exact(h.Decode)},
	}
	how := "no prefill phase"
	if p := r.Summary.Prefill; p != nil {
		how = fmt.Sprintf("slope over %d prompt lengths", len(p.Points))
		if len(p.CI) == 2 {
			how += fmt.Sprintf(", 95 %% in %s to %s", sig3(p.CI[0]), sig3(p.CI[1]))
		}
		if p.Note != "" {
			how = p.Note
		}
	}
	peak := "no level gave counts"
	if h.Peak != nil {
		peak = fmt.Sprintf("at concurrency %d", h.PeakAt)
		if h.PeakAt == 0 {
			peak = "in the open loop"
		}
	}
	return append(out, bigNumber{"Prefill", Num(h.Prefill), "tokens/s", how, "d", exact(h.Prefill)},
		bigNumber{"Most output, all streams", Num(h.Peak), "tokens/s", peak, "d", exact(h.Peak)})
}

// goodputs shows, for each service level, which share of each level's requests met it.
func goodputs(r *bench.Result) goodTable {
	var t goodTable
	for i := range r.Summary.Levels {
		v := &r.Summary.Levels[i]
		t.Levels = append(t.Levels, levelLabel(v))
		for k, g := range v.Goodput {
			if i == 0 {
				var limits []string
				for _, l := range []struct {
					name string
					ms   float64
				}{{"TTFT", g.SLO.TTFT}, {"TPOT", g.SLO.TPOT}, {"E2E", g.SLO.E2E}} {
					if l.ms > 0 {
						limits = append(limits, fmt.Sprintf("%s ≤ %g ms", l.name, l.ms))
					}
				}
				t.Rows = append(t.Rows, goodRow{Name: g.SLO.Name, Limits: strings.Join(limits, ", ")})
			}
			if k < len(t.Rows) {
				s := "n/m"
				if g.Share != nil {
					s = fmt.Sprintf("%.0f %%", *g.Share*100)
				}
				t.Rows[k].Shares = append(t.Rows[k].Shares, s)
			}
		}
	}
	return t
}

func besides(r *bench.Result) (out [][]string) {
	for i := range r.Summary.Levels {
		v := &r.Summary.Levels[i]
		for _, b := range v.Server {
			out = append(out, []string{levelLabel(v), b.Name, fmt.Sprint(b.N), Num(b.Client), sig3(b.Server), Num(b.Gap), b.Source})
		}
	}
	return out
}

// requests is the table of the first requests.
func requests(r *bench.Result) (out [][]string) {
	for _, x := range r.Rows {
		if len(out) == tableMost {
			break
		}
		reason, server := "", ""
		if x.Error != nil {
			reason = *x.Error
		}
		if x.Recording != "" {
			server = x.Recording
		}
		at := fmt.Sprintf("c%d", x.Concurrency)
		if x.Rate > 0 {
			at = fmt.Sprintf("%g/s", x.Rate)
		}
		out = append(out, []string{x.ID, at, fmt.Sprintf("%.3f", float64(x.Times.Sent)/1e9), Num(x.TTFT), Num(x.TPOT), Num(x.E2E), dash(x.PromptTokens), dash(x.CachedTokens),
			dash(x.OutputTokens), fmt.Sprint(x.Chunks), x.Finish, server, reason})
	}
	return out
}

func dash(n *int) string {
	if n == nil {
		return "n/m"
	}
	return fmt.Sprint(*n)
}

func environment(r *bench.Result) (out [][2]string) {
	add := func(k, v string) {
		if v != "" {
			out = append(out, [2]string{k, v})
		}
	}
	s, e := &r.Server, &r.Env
	add("Endpoint", s.URL)
	add("Server", strings.TrimSpace(serverName(r)+" "+s.Commit)+" (told by: "+s.KindBy+")")
	add("Model", s.Model)
	add("Model file", s.ModelFile)
	add("SHA-256", s.SHA256)
	if s.Context > 0 {
		add("Context", fmt.Sprintf("%d tokens", s.Context))
	}
	if s.Slots > 0 {
		add("Slots", fmt.Sprint(s.Slots))
	}
	add("Server's hardware", s.Hardware)
	add("Server's flags, as given", r.Config.ServerFlags)
	add("Note", r.Config.Note)
	add("API", s.API+"; extra fields: "+orNone(s.Options))
	add("Prompts measured by", s.Tokenize)
	where := "Client"
	if e.SameMachine {
		where = "Client and server"
	}
	add(where, fmt.Sprintf("%s, %d cores, %s, %s %s", orUnknown(e.CPU), e.Cores, memory(e.MemoryBytes), e.OS, e.Kernel))
	add("Load before", e.Load)
	for _, g := range e.GPUs {
		add("GPU", gpuText(&g)+" (told by: "+e.GPUSource+")")
	}
	if len(e.GPUs) == 0 {
		add("GPU", "none seen: "+e.GPUSource)
	}
	if e.Lag.P50 != nil {
		add("Client lag", fmt.Sprintf("median %s ms, p99 %s ms, of %d wake-ups", Num(e.Lag.P50), pct(e.Lag, e.Lag.P99, 99), e.Lag.N))
	}
	add("Tool", fmt.Sprintf("%s %s, commit %s, %s", r.Tool.Name, r.Tool.Version, r.Tool.Commit, r.Tool.Go))
	add("Seed", fmt.Sprint(r.Config.Seed))
	return out
}

// gpuText is a GPU and its state before, meanwhile and after.
func gpuText(g *bench.GPU) string {
	one := func(what string, x *float64, unit string) string {
		if x == nil {
			return ""
		}
		return ", " + what + fmt.Sprintf("%.4g", *x) + unit
	}
	state := func(s bench.GPUState) string {
		t := one("SM ", s.SMMHz, " MHz") + one("memory ", s.MemoryMHz, " MHz") + one("", s.PowerW, " W") + one("", s.TempC, " °C") + one("", s.UsedMB, " MiB in use")
		if t == "" {
			return "not measured"
		}
		return t[2:]
	}
	text := g.Name + ", driver " + g.Driver
	if g.MemoryMB > 0 {
		text += fmt.Sprintf(", %.0f MiB", g.MemoryMB)
	}
	if g.MaxSMMHz > 0 {
		text += fmt.Sprintf(", SM at most %.0f MHz", g.MaxSMMHz)
	}
	text += "; before: " + state(g.Before)
	if t := one("SM at least ", g.Lowest, " MHz") + one("at most ", g.Hungriest, " W") + one("at most ", g.Warmest, " °C"); t != "" {
		text += fmt.Sprintf("; meanwhile (%d looks): %s", g.Samples, t[2:])
	}
	return text + "; after: " + state(g.After)
}

func orNone(l []string) string {
	if len(l) == 0 {
		return "none"
	}
	return strings.Join(l, ", ")
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown processor"
	}
	return s
}

func memory(n int64) string {
	if n == 0 {
		return "memory unknown"
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
