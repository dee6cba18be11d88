// Package static holds what the site serves as it is: style sheets, scripts, and the recordings that ship with it. They
// are inside the binary.
//
// It does not know about routes, caching or what is in a recording.
package static

import "embed"

// Files are the folders css, js, modmaps, recordings and pictures (close-ups of them), and the files beside them.
//
//go:embed css js modmaps recordings pictures page.js walk.js stages.js favicon.svg
var Files embed.FS
