package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"glassbox/web/pages"
)

// Benches measures endpoints, one at a time, and keeps what it measured in a folder.
type Benches interface {
	About() BenchAbout
	// Start begins a run: ErrBenchRunning while another runs, a *BenchError for what is refused.
	Start(BenchAsk) error
	// Stop ends the run, whose numbers so far are kept; false when none runs.
	Stop() bool
	State() BenchState
	// Runs are those in the folder, the newest first, and the files that could not be read, each in a sentence.
	Runs() (runs []BenchRun, bad []string)
	// Gallery shows a run at /run/NAME, its data at /run/NAME.json, and two of them at /compare?a=NAME&b=NAME.
	Gallery() http.Handler
}

// BenchAbout is what holds for all runs.
type BenchAbout struct {
	Own      string // address of this server
	Dir      string // where runs are kept, as people write it
	Anywhere bool   // other machines may be measured, and may start runs
}

// BenchAsk is what a run is asked for. Key is sent to the endpoint and kept nowhere.
type BenchAsk struct {
	URL          string  `json:"url"`
	Model        string  `json:"model,omitempty"` // "" = the endpoint's first
	Concurrency  []int   `json:"concurrency"`
	PromptTokens int     `json:"prompt_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Seconds      float64 `json:"seconds"` // time limit of the whole run
	NoPrefill    bool    `json:"no_prefill,omitempty"`
	Key          string  `json:"-"`
}

// BenchState is the run that runs, or the one that ended last. Its lists are bounded. Numbers of 0 are not measured.
type BenchState struct {
	Number   int         `json:"number"` // of the run, from 1 since the server started; 0 = there was none
	Running  bool        `json:"running"`
	Stopping bool        `json:"stopping"`
	Ask      BenchAsk    `json:"ask"`
	Started  time.Time   `json:"started"`
	Elapsed  float64     `json:"elapsed_s"`
	Left     float64     `json:"left_s,omitempty"` // an estimate; 0 = unknown
	Server   string      `json:"server,omitempty"` // what the endpoint says it is
	Model    string      `json:"model,omitempty"`
	Models   []string    `json:"models,omitempty"`
	Steps    int         `json:"steps"`    // of the plan
	Done     []BenchStep `json:"done"`     // the steps so far, the last one under way
	Flying   int         `json:"flying"`   // others in flight when the last one ended
	Requests int         `json:"requests"` // ended, in all steps
	Newest   []BenchDot  `json:"newest"`   // the requests that ended last
	Messages []string    `json:"messages,omitempty"`
	Kept     string      `json:"kept,omitempty"`    // name of the run in the gallery
	Stopped  string      `json:"stopped,omitempty"` // why it ended before its plan was done
	Failed   string      `json:"failed,omitempty"`  // why there is nothing, or no number
}

// BenchStep is a phase or level: medians in ms, the rate in output tokens/s.
type BenchStep struct {
	Name   string  `json:"name"`
	Done   int     `json:"done"`
	Total  int     `json:"total"`
	Errors int     `json:"errors"`
	TTFT   float64 `json:"ttft_ms,omitempty"`
	TPOT   float64 `json:"tpot_ms,omitempty"`
	Rate   float64 `json:"output_tokens_per_s,omitempty"`
}

// BenchDot is a request: when it ended, in seconds of the run, and its time to first token.
type BenchDot struct {
	At   float64 `json:"at_s"`
	TTFT float64 `json:"ttft_ms,omitempty"` // 0 = it failed
	Step int     `json:"step"`              // index of its step
}

// BenchRun is a run in the gallery. nil is not measured.
type BenchRun struct {
	Name, Model, Server, URL, Started, Loads, Stopped string
	TTFT, TPOT, Decode, Prefill, Peak                 *float64
	Warnings                                          int
}

// ErrBenchRunning is what Benches says to a second run.
var ErrBenchRunning = errors.New("a run is under way")

// BenchError is something that a run is refused for, as a sentence.
type BenchError struct{ Text string }

func (e *BenchError) Error() string { return e.Text }

func (s *Server) benchRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /bench":          s.benchPage,
		"POST /bench":         s.benchStart,
		"POST /bench/stop":    s.benchStop,
		"GET /bench/live":     s.benchLive,
		"GET /bench/runs/{$}": s.toBench,
		"GET /bench/runs/":    s.benchGallery,
		"GET /api/bench":      s.apiBench,
	}
}

func (s *Server) benchPage(w http.ResponseWriter, r *http.Request) {
	s.showBench(w, r, http.StatusOK, nil, "")
}

// showBench writes the page; form is what the reader sent, nil for the form as it stands at first.
func (s *Server) showBench(w http.ResponseWriter, r *http.Request, status int, form *pages.BenchForm, wrong string) {
	p := s.page("Bench - Glassbox", "bench")
	d := pages.BenchData{Wrong: wrong}
	if b := s.c.Benches; b != nil {
		st := b.State()
		d = benchData(b.About(), &st)
		d.Wrong, d.Away = wrong, s.benchAway(r)
		if form != nil {
			d.Form = *form
		}
		runs, bad := b.Runs()
		d.Bad = bad
		for i := range runs {
			d.Runs = append(d.Runs, benchRow(&runs[i]))
		}
	}
	s.render(w, r, status, pages.Bench(p, d))
}

// benchAway says why a caller may neither start nor stop a run, "" when it may: one from another machine could reach what
// only this machine may reach.
func (s *Server) benchAway(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsLoopback() || s.c.Benches.About().Anywhere {
		return ""
	}
	return "Runs are started and stopped from the machine that the server runs on, unless it was started with --allow-bench."
}

// benchMay refuses callers that may change nothing, and servers that cannot measure.
func (s *Server) benchMay(w http.ResponseWriter, r *http.Request) bool {
	if s.c.Benches == nil {
		s.notFound(w, r)
		return false
	}
	if why := s.benchAway(r); why != "" {
		s.showBench(w, r, http.StatusForbidden, nil, why)
		return false
	}
	return true
}

// benchBody is the most bytes of the form.
const benchBody = 16 << 10

func (s *Server) benchStart(w http.ResponseWriter, r *http.Request) {
	if !s.benchMay(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, benchBody)
	if err := r.ParseForm(); err != nil {
		s.showBench(w, r, http.StatusBadRequest, nil, "The form could not be read: it was cut off, or longer than 16 kB.")
		return
	}
	form, ask, err := readBenchForm(r.PostForm)
	if err == nil {
		err = s.c.Benches.Start(ask)
	}
	var wrong *BenchError
	switch {
	case err == nil:
		http.Redirect(w, r, "/bench", http.StatusSeeOther)
	case errors.Is(err, ErrBenchRunning):
		s.showBench(w, r, http.StatusConflict, &form, "One run at a time: the one against "+s.c.Benches.State().Ask.URL+" is under way. Wait until it ends, or stop it.")
	case errors.As(err, &wrong):
		s.showBench(w, r, http.StatusBadRequest, &form, wrong.Text)
	default:
		s.showBench(w, r, http.StatusInternalServerError, &form, "The run could not be started: "+err.Error())
	}
}

func (s *Server) benchStop(w http.ResponseWriter, r *http.Request) {
	if !s.benchMay(w, r) {
		return
	}
	s.c.Benches.Stop() // none runs: it has just ended, which is what was wanted
	http.Redirect(w, r, "/bench", http.StatusSeeOther)
}

// benchLive is the part of the page that changes while a run runs.
func (s *Server) benchLive(w http.ResponseWriter, r *http.Request) {
	if s.c.Benches == nil {
		s.notFound(w, r)
		return
	}
	st := s.c.Benches.State()
	s.render(w, r, http.StatusOK, pages.BenchLive(benchData(s.c.Benches.About(), &st)))
}

func (s *Server) toBench(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "/bench", http.StatusSeeOther)
}

// benchGallery hands on to the gallery. Its pages are in a sandbox, which the opener policy of our own does not go with.
func (s *Server) benchGallery(w http.ResponseWriter, r *http.Request) {
	if s.c.Benches == nil {
		s.notFound(w, r)
		return
	}
	w.Header().Del("Cross-Origin-Opener-Policy")
	http.StripPrefix("/bench/runs", s.c.Benches.Gallery()).ServeHTTP(w, r)
}

func (s *Server) apiBench(w http.ResponseWriter, _ *http.Request) {
	if s.c.Benches == nil {
		apiError(w, http.StatusNotFound, "no_bench", "this server does not measure endpoints")
		return
	}
	writeJSON(w, http.StatusOK, s.c.Benches.State())
}

// benchLimits bound what a page may ask for; the command line has no such limits.
var benchLimits = []struct {
	name, label        string
	least, most, first int
}{
	{"prompt", "Prompt tokens", 8, 16384, 128},
	{"output", "Output tokens", 2, 2048, 64},
	{"seconds", "Time limit", 5, 600, 60},
}

const (
	benchMostLevels   = 8
	benchMostParallel = 64
)

// readBenchForm reads what the form sent, and refuses what makes no sense or is more load than a page may ask for.
func readBenchForm(v url.Values) (form pages.BenchForm, ask BenchAsk, err error) {
	get := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	form = pages.BenchForm{URL: get("url"), Model: get("model"), Concurrency: get("concurrency"), Prompt: get("prompt"), Output: get("output"),
		Seconds: get("seconds"), Prefill: v.Get("prefill") != ""}
	ask = BenchAsk{URL: form.URL, Model: form.Model, NoPrefill: !form.Prefill, Key: v.Get("key")}
	if ask.URL == "" || len(ask.URL) > 500 || len(ask.Model) > 500 || len(ask.Key) > 4000 {
		return form, ask, &BenchError{"Address: wanted one such as http://127.0.0.1:8000, found none, or a field is far too long."}
	}
	for _, part := range strings.FieldsFunc(form.Concurrency, func(c rune) bool { return c == ',' || c == ' ' || c == ';' }) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > benchMostParallel || len(ask.Concurrency) == benchMostLevels {
			return form, ask, &BenchError{fmt.Sprintf("Concurrency: wanted up to %d numbers from 1 to %d, such as 1,2,4, found %q. The command line has no such limit.",
				benchMostLevels, benchMostParallel, form.Concurrency)}
		}
		ask.Concurrency = append(ask.Concurrency, n)
	}
	if len(ask.Concurrency) == 0 {
		return form, ask, &BenchError{"Concurrency: wanted at least one number, such as 1,2,4."}
	}
	var n [3]int
	for i, l := range benchLimits {
		if n[i], err = strconv.Atoi(get(l.name)); err != nil || n[i] < l.least || n[i] > l.most {
			return form, ask, &BenchError{fmt.Sprintf("%s: wanted a whole number from %d to %d, found %q.", l.label, l.least, l.most, get(l.name))}
		}
	}
	ask.PromptTokens, ask.OutputTokens, ask.Seconds = n[0], n[1], float64(n[2])
	return form, ask, nil
}
