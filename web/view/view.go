// Package view turns recordings into what the pages show: plain structs with every text and number ready, so that they are
// tested without HTML. format.go writes numbers, list.go makes the list of recordings, home.go the cards of the first
// page, timeline.go its picture of true time, walk.go the walk as a document.
//
// It does not know about HTML, HTTP or where recordings are kept.
package view

// Number is a number as a page shows it: three significant digits with their unit, the exact value for those who ask, and
// where it comes from.
type Number struct {
	Value, Unit string
	Exact       string // "12,345 ns"
	Prov        string // measured, derived or declared; "" = not measured, and Value says so
	How         string // where it comes from, in words
}

// Known tells whether there is a value.
func (n Number) Known() bool { return n.Prov != "" }

// Text is the number with its unit in one piece.
func (n Number) Text() string {
	if n.Unit == "" {
		return n.Value
	}
	return n.Value + " " + n.Unit
}

// NotMeasured stands for a number that nobody measured.
var NotMeasured = Number{Value: "not measured"}
