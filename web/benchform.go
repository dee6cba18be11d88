package web

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"glassbox/web/pages"
)

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
	benchMostRate     = 100 // requests/s
)

// The loads that the form offers.
const (
	loadClosed = "closed"
	loadOpen   = "open"
	loadSweep  = "sweep"
)

// Presets of the form's goodput besides a name: all of them, or only the reader's own limits.
const (
	sloAll = ""
	sloOwn = "own"
)

// readBenchForm reads what the form sent, and refuses what makes no sense or is more load than a page may ask for.
func readBenchForm(v url.Values, presets []BenchPreset) (form pages.BenchForm, ask BenchAsk, err error) {
	get := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	form = pages.BenchForm{URL: get("url"), Model: get("model"), Load: get("load"), Concurrency: get("concurrency"), Rates: get("rates"), Sweep: get("sweep"),
		Prompt: get("prompt"), Output: get("output"), Seconds: get("seconds"), Prefill: v.Get("prefill") != "",
		SLO: get("slo"), TTFT: get("ttft"), TPOT: get("tpot"), E2E: get("e2e")}
	if form.Load == "" {
		form.Load = loadClosed
	}
	ask = BenchAsk{URL: form.URL, Model: form.Model, NoPrefill: !form.Prefill, Key: v.Get("key")}
	if ask.URL == "" || len(ask.URL) > 500 || len(ask.Model) > 500 || len(ask.Key) > 4000 {
		return form, ask, &BenchError{"Address: wanted one such as http://127.0.0.1:8000, found none, or a field is far too long."}
	}
	if err = readLoad(&form, &ask); err != nil {
		return form, ask, err
	}
	if err = readSLO(&form, &ask, presets); err != nil {
		return form, ask, err
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

// numbers splits a list such as "1, 2;4".
func numbers(s string) []string {
	return strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c == ' ' || c == ';' })
}

// readLoad reads the one of the three loads that was chosen. The fields of the others stay as they were typed.
func readLoad(form *pages.BenchForm, ask *BenchAsk) error {
	switch form.Load {
	case loadClosed:
		for _, part := range numbers(form.Concurrency) {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 || n > benchMostParallel || len(ask.Concurrency) == benchMostLevels {
				return &BenchError{fmt.Sprintf("Concurrency: wanted up to %d numbers from 1 to %d, such as 1,2,4, found %q. The command line has no such limit.",
					benchMostLevels, benchMostParallel, form.Concurrency)}
			}
			ask.Concurrency = append(ask.Concurrency, n)
		}
		if len(ask.Concurrency) == 0 {
			return &BenchError{"Concurrency: wanted at least one number, such as 1,2,4."}
		}
	case loadOpen:
		for _, part := range numbers(form.Rates) {
			x, err := strconv.ParseFloat(part, 64)
			if err != nil || !(x > 0) || x > benchMostRate || len(ask.Rates) == benchMostLevels {
				return &BenchError{fmt.Sprintf("Requests a second: wanted up to %d numbers above 0 and up to %d, such as 0.5,1,2, found %q. The command line has no such limit.",
					benchMostLevels, benchMostRate, form.Rates)}
			}
			ask.Rates = append(ask.Rates, x)
		}
		if len(ask.Rates) == 0 {
			return &BenchError{"Requests a second: wanted at least one number, such as 0.5,1,2."}
		}
	case loadSweep:
		n, err := strconv.Atoi(form.Sweep)
		if err != nil || n < 2 || n > benchMostParallel {
			return &BenchError{fmt.Sprintf("Sweep: wanted a whole number from 2 to %d, found %q. The command line has no such limit.", benchMostParallel, form.Sweep)}
		}
		ask.Sweep = n
	default:
		return &BenchError{fmt.Sprintf("Load: wanted %s, %s or %s, found %q.", loadClosed, loadOpen, loadSweep, form.Load)}
	}
	return nil
}

// readSLO reads the limits of goodput: a preset, or all, and the reader's own beside it.
func readSLO(form *pages.BenchForm, ask *BenchAsk, presets []BenchPreset) error {
	var own []string
	for _, f := range []struct{ name, label, text string }{{"ttft", "TTFT", form.TTFT}, {"tpot", "TPOT", form.TPOT}, {"e2e", "e2e", form.E2E}} {
		if f.text == "" {
			continue
		}
		x, err := strconv.ParseFloat(f.text, 64)
		if err != nil || !(x > 0) || math.IsInf(x, 0) || x > 3.6e6 {
			return &BenchError{fmt.Sprintf("Goodput, %s: wanted a limit in ms above 0, such as 500, found %q.", f.label, f.text)}
		}
		own = append(own, f.name+"="+strconv.FormatFloat(x, 'f', -1, 64))
	}
	known := form.SLO == sloAll || form.SLO == sloOwn
	for _, p := range presets {
		known = known || p.Name == form.SLO
		if len(own) > 0 && form.SLO == sloAll || p.Name == form.SLO {
			ask.SLO = append(ask.SLO, p.Name)
		}
	}
	switch {
	case !known:
		return &BenchError{fmt.Sprintf("Goodput: there is no preset called %q.", form.SLO)}
	case form.SLO == sloOwn && len(own) == 0:
		return &BenchError{"Goodput: wanted a limit of your own in at least one of the three fields, found none."}
	case len(own) > 0:
		ask.SLO = append(ask.SLO, strings.Join(own, ","))
	}
	return nil
}

// benchForm is the form before anything is typed: the last run again, or this server.
func benchForm(about BenchAbout, st *BenchState) pages.BenchForm {
	f := pages.BenchForm{URL: about.Own, Load: loadClosed, Concurrency: "1,2,4", Rates: "0.5,1,2", Sweep: "16", Prefill: true}
	of := []*string{&f.Prompt, &f.Output, &f.Seconds}
	for i, l := range benchLimits {
		*of[i] = strconv.Itoa(l.first)
	}
	a := st.Ask
	if st.Number == 0 {
		return f
	}
	f.URL, f.Model, f.Prefill = a.URL, a.Model, !a.NoPrefill
	f.Prompt, f.Output, f.Seconds = strconv.Itoa(a.PromptTokens), strconv.Itoa(a.OutputTokens), strconv.Itoa(int(a.Seconds))
	switch {
	case a.Sweep > 0:
		f.Load, f.Sweep = loadSweep, strconv.Itoa(a.Sweep)
	case len(a.Rates) > 0:
		f.Load, f.Rates = loadOpen, joined(a.Rates)
	default:
		f.Concurrency = joined(a.Concurrency)
	}
	showSLO(&f, a.SLO)
	return f
}

func joined[T any](list []T) string {
	var parts []string
	for _, x := range list {
		parts = append(parts, fmt.Sprint(x))
	}
	return strings.Join(parts, ",")
}

// showSLO puts the limits of a run back into the form's fields.
func showSLO(f *pages.BenchForm, slo []string) {
	named := 0
	for _, s := range slo {
		if !strings.Contains(s, "=") {
			f.SLO = s
			named++
			continue
		}
		for _, part := range strings.Split(s, ",") {
			key, value, _ := strings.Cut(part, "=")
			if to := map[string]*string{"ttft": &f.TTFT, "tpot": &f.TPOT, "e2e": &f.E2E}[key]; to != nil {
				*to = value
			}
		}
	}
	switch {
	case named > 1:
		f.SLO = sloAll
	case named == 0 && len(slo) > 0:
		f.SLO = sloOwn
	}
}
