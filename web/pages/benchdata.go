package pages

import "glassbox/web/view"

// BenchData is the Bench page.
type BenchData struct {
	On       bool   // this server measures
	Own, Dir string // its own address; where runs are kept
	Anywhere bool   // endpoints on other machines may be measured
	Away     string // why this reader may not start a run
	Wrong    string // why the last thing asked for was refused
	Form     BenchForm
	Models   []string // of the endpoint that was asked last
	Presets  []BenchPreset

	Run               int // number of the run below; 0 = there was none
	Running, Stopping bool
	What, When        string
	Now               string // the step under way, as a sentence
	Share             int    // per cent of the plan
	Clock, Count      string
	Steps             []BenchStep
	Plot              BenchPlot
	Messages          []string
	Kept              string // name of the run that ended
	Stopped, Failed   string
	Knee              string
	Goodput           []BenchGood

	Runs []BenchRow
	Ask  *BenchRow // the run that the reader wants to delete, and is asked about
	Bad  []string  // files of the folder that are no runs
}

// BenchForm is what stands in the form's fields. A key is never put back.
type BenchForm struct {
	URL, Model, Prompt, Output, Seconds string
	Prefill                             bool
	Load                                string // closed, open or sweep; the fields of the other two are not read
	Concurrency, Rates, Sweep           string
	SLO                                 string // "" = all presets, "own" = none of them, else one's name
	TTFT, TPOT, E2E                     string // limits of the reader's own, ms
}

// BenchPreset is a named service level.
type BenchPreset struct{ Name, Text string }

// BenchStep is a line of the table of a running measurement.
type BenchStep struct {
	Name, Count, Errors string
	Now                 bool
	TTFT, TPOT, Rate    view.Number
}

// BenchGood is a service level and the load that met it best.
type BenchGood struct {
	Limits, With, Share string
	Rate                view.Number
}

// BenchPlot is requests over time, as paths in a box of 1000 by 100.
type BenchPlot struct {
	Dots, Failed     int
	Good, Bad, Edges string
	From, To, Top    string
}

// BenchRow is a run that was kept.
type BenchRow struct {
	Name, Model, At, Server, Loads, When, Note string
	TTFT, TPOT, Decode, Prefill, Peak          view.Number
}
