// Package docs holds the documentation, so that the site can show it without a network.
//
// It does not know about how it is shown.
package docs

import "embed"

// Files are the Markdown pages and the JSON Schema of a recording (and this file).
//
//go:embed *
var Files embed.FS
