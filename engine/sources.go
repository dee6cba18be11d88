package engine

import "embed"

// Sources are the engine's own source files, by their paths below engine/: the tracer shows the lines that ran also where
// there is no checkout.
//
//go:embed *.go */*.go */*/*.go */*/*/*.go roof/*.s backend/cpu/kern/*.s
var Sources embed.FS
