package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// Experiments runs one request on an engine with other settings than the server's, so that a reader sees what a setting
// costs. It runs one experiment at a time.
type Experiments interface {
	Run(ctx context.Context, e Experiment) (*ExperimentResult, error)
}

// Experiment is what to change; "" leaves a setting as the server has it. Values are as in the command line.
type Experiment struct {
	Chunk   string `json:"chunk,omitempty"`   // most prompt tokens of a pass
	Threads string `json:"threads,omitempty"` // worker threads
	KV      string `json:"kv,omitempty"`      // type of keys and values
	Shards  string `json:"shards,omitempty"`  // devices that share each matrix
	Draft   string `json:"draft,omitempty"`   // off or ngram
	Batch   string `json:"batch,omitempty"`   // requests at once
}

// ExperimentResult are the three numbers of an experiment. Zero is "not measured".
type ExperimentResult struct {
	Settings        string  `json:"settings"`
	Trace           string  `json:"trace"` // the recording of one of its requests
	TTFTMs          float64 `json:"ttft_ms"`
	TPOTMs          float64 `json:"tpot_ms"`
	TokensPerS      float64 `json:"tokens_per_s"` // of all requests together
	KVBytesPerToken float64 `json:"kv_bytes_per_token"`
}

// What Experiments says.
var ErrExperimentRuns = errors.New("another experiment is running; wait for it, each needs the whole machine")

// ExperimentError is a setting that cannot be.
type ExperimentError struct{ Text string }

func (e *ExperimentError) Error() string { return e.Text }

// apiExperiment runs an experiment and answers when it is over. It takes a few seconds of the whole machine, so only
// readers on this machine may ask for one.
func (s *Server) apiExperiment(w http.ResponseWriter, r *http.Request) {
	if !local(r) {
		apiError(w, http.StatusForbidden, "not_local", "experiments are run from the machine that the server runs on; this came from "+r.RemoteAddr)
		return
	}
	if s.c.Experiments == nil {
		apiError(w, http.StatusNotFound, "no_engine", "this server has no engine to experiment with")
		return
	}
	var e Experiment
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil && !errors.Is(err, io.EOF) {
		apiError(w, http.StatusBadRequest, "bad_experiment", "the body: wanted an object with chunk, threads, kv, shards, draft or batch as texts: "+err.Error())
		return
	}
	got, err := s.c.Experiments.Run(r.Context(), e)
	var bad *ExperimentError
	switch {
	case errors.Is(err, ErrExperimentRuns):
		apiError(w, http.StatusConflict, "busy", err.Error())
	case errors.As(err, &bad):
		apiError(w, http.StatusBadRequest, "bad_experiment", bad.Text)
	case err != nil:
		apiError(w, http.StatusInternalServerError, "experiment_failed", err.Error())
	default:
		writeJSON(w, http.StatusOK, got)
	}
}
