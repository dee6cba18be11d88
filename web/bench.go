package web

import (
	"errors"
	"io/fs"
	"net/http"
	"time"

	"glassbox/web/pages"
	"glassbox/web/view"
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
	// Delete removes the files of a kept run: fs.ErrNotExist where there is none of this name.
	Delete(name string) error
	// Gallery shows a run at /run/NAME, its data at /run/NAME.json, and two of them at /compare?a=NAME&b=NAME.
	Gallery() http.Handler
}

// BenchAbout is what holds for all runs.
type BenchAbout struct {
	Own      string // address of this server
	Dir      string // where runs are kept, as people write it
	Anywhere bool   // other machines may be measured, and may start runs
	Presets  []BenchPreset
}

// BenchPreset is a service level that has a name; Text are its limits, for people.
type BenchPreset struct{ Name, Text string }

// BenchAsk is what a run is asked for. Key is sent to the endpoint and kept nowhere.
type BenchAsk struct {
	URL          string    `json:"url"`
	Model        string    `json:"model,omitempty"`       // "" = the endpoint's first
	Concurrency  []int     `json:"concurrency,omitempty"` // one of the first three is set: closed loop,
	Rates        []float64 `json:"rates,omitempty"`       // open loop, requests/s,
	Sweep        int       `json:"sweep,omitempty"`       // or closed loop, doubled up to this
	SLO          []string  `json:"slo,omitempty"`         // presets, or limits such as ttft=500,tpot=30; nil = all presets
	PromptTokens int       `json:"prompt_tokens"`
	OutputTokens int       `json:"output_tokens"`
	Seconds      float64   `json:"seconds"` // time limit of the whole run
	NoPrefill    bool      `json:"no_prefill,omitempty"`
	Key          string    `json:"-"`
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
	Knee     string      `json:"knee,omitempty"`    // of a run that has ended, as a sentence
	Goodput  []BenchGood `json:"goodput,omitempty"` // of a run that has ended, where limits were chosen
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

// BenchGood is the load under which most requests a second met a service level.
type BenchGood struct {
	Limits string   `json:"limits"`
	Rate   *float64 `json:"requests_per_s"` // nil = not measured
	Share  float64  `json:"share"`          // of that load's requests, 0 to 1
	With   string   `json:"with"`           // the load
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
		"POST /bench/delete":  s.benchDelete,
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
		asked := r.URL.Query().Get("delete")
		for i := range runs {
			d.Runs = append(d.Runs, benchRow(&runs[i]))
			if d.Away == "" && asked == runs[i].Name {
				d.Ask = &d.Runs[i]
			}
		}
	}
	s.render(w, r, status, pages.Bench(p, d))
}

// benchAway says why a caller may neither start nor stop a run, "" when it may: one from another machine could reach what
// only this machine may reach.
func (s *Server) benchAway(r *http.Request) string {
	if local(r) || s.c.Benches.About().Anywhere {
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
	form, ask, err := readBenchForm(r.PostForm, s.c.Benches.About().Presets)
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

// benchDelete removes a run of the list, when the reader has been asked whether it is meant (GET /bench?delete=NAME).
func (s *Server) benchDelete(w http.ResponseWriter, r *http.Request) {
	if !s.benchMay(w, r) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, benchBody)
	name := r.PostFormValue("name")
	switch err := s.c.Benches.Delete(name); {
	case err == nil:
		http.Redirect(w, r, "/bench#b-kept", http.StatusSeeOther)
	case errors.Is(err, fs.ErrNotExist):
		s.showBench(w, r, http.StatusNotFound, nil, "There is no run called "+view.Cut(name, 80)+". It may have been deleted already.")
	default:
		s.showBench(w, r, http.StatusInternalServerError, nil, "The run was not deleted: "+err.Error())
	}
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
