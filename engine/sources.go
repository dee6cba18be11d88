package engine

import "embed"

// Sources is this engine's own source code, as it was built: Go files and assembly, by their paths below this folder.
// The tracer shows a step's lines from it. Embedding takes the files that the compiler takes, so lines cannot be stale.
//
//go:embed *.go */*.go */*/*.go */*/*/*.go */*/*/*.s
var Sources embed.FS
