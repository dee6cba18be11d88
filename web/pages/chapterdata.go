package pages

import (
	"fmt"

	"glassbox/web/view"
)

// passLabel is a pass in words, for the line under the figure and for screen readers.
func passLabel(b view.PassBar) string {
	s := fmt.Sprintf("pass %d, %s: %s, %s", b.Index, b.Kind, view.Plural(b.Tokens, "token"), b.Time.Text())
	if b.Requests > 1 {
		s += fmt.Sprintf("; %d requests with %d tokens share it", b.Requests, b.Batch)
	}
	if b.Text != "" {
		s += "; gives " + b.Text
	}
	return s
}

// passHeight grows with the requests that share a pass, up to 8.
func passHeight(b view.PassBar) int { return min(24+8*(max(b.Requests, 1)-1), 64) }

// tab lets one bar of a figure take the focus; arrow keys go on from there.
func tab(i int) string {
	if i == 0 {
		return "0"
	}
	return "-1"
}
