package view

import (
	"strings"

	"glassbox/trace/file"
)

// Row is a recording in a list.
type Row struct {
	ID, Name              string // Name is what is shown of an id
	Prompt, Started, When string
	Model, Device, Engine string
	Tokens                string // "36 + 48"
	TTFT, Rate, Total     Number
	Size                  Number
	Running, Partial      bool
	Off                   string // parts of the model that were off: "L10.H3, L4.ffn"
	Shipped               bool   // part of the binary: it cannot be deleted
}

// List makes the rows of a list of recordings, in the order given.
func List(list []file.Summary) []Row {
	rows := make([]Row, len(list))
	for i := range list {
		rows[i] = row(&list[i])
	}
	return rows
}

func row(s *file.Summary) Row {
	r := Row{
		ID: s.ID, Name: s.ID, Prompt: s.Prompt, Started: s.Started, When: When(s.Started), Model: s.Model, Device: s.Device, Engine: s.Engine,
		Tokens: Count(int64(s.Numbers.PromptTokens)) + " + " + Count(int64(s.Numbers.OutputTokens)),
		TTFT:   durationOr(s.Numbers.TTFTNs, "measured", howTTFT), Total: durationOr(s.Numbers.E2ENs, "measured", howE2E),
		Rate: rateOr(s.Numbers.DecodeTokensPerS, "tokens/s", howRate), Size: Bytes(s.Bytes, "derived", "size of the file, or of one held in memory alone an estimate"),
		Running: s.Running, Partial: s.Partial,
	}
	r.Off = strings.Join(s.Ablate, ", ")
	if r.Prompt == "" {
		r.Prompt = "(no prompt yet)"
	}
	return r
}

// Where the numbers of a request come from.
const (
	howTTFT = "from the first byte received to the first token flushed to the socket"
	howTPOT = "from the first token to the last, over the number of tokens after the first"
	howE2E  = "from the first byte received to the last one written"
	howRate = "tokens after the first, over the time from the first token to the last"
	howPre  = "prompt tokens computed, over the time of the prefill passes"
	howWait = "from submitted to picked up by the engine loop"
)
