// Package pages holds the pages of the site as templ components. They get plain structs of web/view and write HTML without
// scripts or styles in it, as the content security policy wants.
//
// It does not know about recordings, HTTP or where the data comes from.
package pages

// Page is what every page has.
type Page struct {
	Title       string
	Description string
	Here        string              // which entry of the navigation is this page: traces, docs
	Asset       func(string) string // the address of a static file
	Preload     string              // a recording that the page will ask for
	Sheet       string              // a style sheet of this page alone

	Files bool // the page is of a copy of the site as files: there is no engine, and what needs one is left out

	Source string // where code lies on the reader's machine, for web/client/src/editor.ts; "" = not known

	Script string                // the module of the client that the page runs; "" = none
	Needs  func(string) []string // the addresses of the modules that a module imports
}

// Modules of the client, in package static.
const (
	TracerScript = "js/tracer.js" // a page that is one tracer
	HomeScript   = "js/home.js"   // the first page
	FilmScript   = "js/film.js"   // the tour
	KeysScript   = "js/keys.js"   // documentation with the table of keys
	RoomScript   = "js/room.js"   // a page of a workshop
)

// HomeData is the first page.
type HomeData struct {
	Src, Open string // of the recording that is drawn; "" = there is none
	Prompt    string
	Model     string // id to ask for; "" = the server's only one
	Builtin   bool   // the drawn recording is of the model inside the binary
}

// TracerData is a page that is one tracer.
type TracerData struct {
	ID, Src string
	Live    bool // Src is not there yet; ID "" = whichever request comes next
	Embed   bool // inside a frame of another page
}

// DocsData is a page of the documentation.
type DocsData struct {
	Name     string
	HTML     string // made from our own Markdown, raw HTML left out
	Contents []DocsLink
	Keys     bool // the table of keys is on it
}

// DocsLink is an entry in the list of the documentation.
type DocsLink struct{ Name, Title, About string }

// ErrorData is what went wrong, and a way on.
type ErrorData struct {
	Status  int
	Title   string
	Text    string
	Detail  string
	Actions []Action
}

// Action is a link out of an error.
type Action struct{ Href, Text string }

// RoomData is a page of a workshop.
type RoomData struct {
	Role       string   // teacher, follower
	Join       []string // addresses to join at, the best first; empty = none is known
	Model      string   // id to ask for; "" = the server's only one
	Recording  string   // where it opens, until the teacher's place is known
	Recordings []RoomRecording
}

// RoomRecording is one to choose.
type RoomRecording struct{ ID, Title, Note string }
