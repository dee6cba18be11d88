package gateway

import "embed"

// Sources are the files of this package as they were when the binary was built: the walk shows the lines that did the work.
//
//go:embed *.go
var Sources embed.FS
