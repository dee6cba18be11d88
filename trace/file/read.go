package file

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Limits bound what a file may unpack to.
type Limits struct {
	JSON   int64 // bytes of trace.json, or of a journal
	Arrays int64 // bytes of all arrays together
}

// DefaultLimits are those of Read.
var DefaultLimits = Limits{JSON: 512 << 20, Arrays: 4 << 30}

// Read opens a recording: a .json, a .gbx or a journal (.part); which it is is told by its first bytes. A journal of a
// request that was not finished opens as far as it goes and says in Missing what is not there; a cut .json or .gbx is an
// error that says what is missing.
func Read(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("recording %s: wanted a file, found a %v", path, info.Mode().Type())
	}
	rec, err := ReadFrom(f, info.Size(), DefaultLimits)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", path, err)
	}
	return rec, nil
}

// ReadFrom is Read for bytes that are already at hand.
func ReadFrom(r io.ReaderAt, size int64, lim Limits) (*Recording, error) {
	start := make([]byte, min(size, 16))
	if _, err := r.ReadAt(start, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte("PK")) {
		return readGBX(r, size, lim)
	}
	if size > lim.JSON {
		return nil, fmt.Errorf("%d bytes; wanted at most %d", size, lim.JSON)
	}
	raw := make([]byte, size)
	if _, err := r.ReadAt(raw, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte(journalStart)) {
		return readJournal(raw)
	}
	if first := bytes.TrimLeft(start, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return nil, fmt.Errorf("offset 0: wanted a recording (JSON, or a zip with %s), found %d bytes starting %.16q", traceName, size, start)
	}
	return decodeJSON(raw)
}

// recordingJSON is the text form as it is read. Fields that are not named are ignored.
type recordingJSON struct {
	ID       string                `json:"id"`
	Schema   Schema                `json:"schema"`
	Engine   Engine                `json:"engine"`
	Model    Model                 `json:"model"`
	Device   Device                `json:"device"`
	Clock    Clock                 `json:"clock"`
	Started  string                `json:"started"`
	Request  Request               `json:"request"`
	Numbers  Numbers               `json:"numbers"`
	Dropped  Dropped               `json:"dropped"`
	Untraced *Untraced             `json:"untraced"`
	Peers    []Peer                `json:"peers"`
	Partial  bool                  `json:"partial"`
	Missing  []string              `json:"missing"`
	Lanes    []Lane                `json:"lanes"`
	Loops    []Loop                `json:"loops"`
	Passes   []Pass                `json:"passes"`
	Calls    []Call                `json:"calls"`
	Turns    []Turn                `json:"turns"`
	Memory   *Memory               `json:"memory"`
	Walk     []Step                `json:"walk"`
	Spans    []Span                `json:"spans"`
	Modules  []Module              `json:"modules"`
	Arrays   map[string]*arrayJSON `json:"arrays"`
}

// recording is what was read, without the values of its arrays.
func (j *recordingJSON) recording() *Recording {
	rec := &Recording{
		ID: j.ID, Schema: j.Schema, Engine: j.Engine, Model: j.Model, Device: j.Device, Clock: j.Clock, Started: j.Started,
		Request: j.Request, Numbers: j.Numbers, Dropped: j.Dropped, Untraced: j.Untraced, Peers: j.Peers, Partial: j.Partial, Missing: j.Missing,
		Lanes: j.Lanes, Loops: j.Loops, Passes: j.Passes, Calls: j.Calls, Turns: j.Turns, Memory: j.Memory, Walk: j.Walk, Spans: j.Spans, Modules: j.Modules,
	}
	if j.Untraced != nil && *j.Untraced == (Untraced{}) {
		rec.Untraced = nil
	}
	return rec
}

// decodeJSON reads the text form and checks it.
func decodeJSON(raw []byte) (*Recording, error) {
	var head struct {
		Schema *Schema `json:"schema"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, explain(raw, err)
	}
	if err := checkSchema(head.Schema); err != nil {
		return nil, err
	}
	var j recordingJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, explain(raw, err)
	}
	rec := j.recording()
	if err := fillArrays(rec, j.Arrays); err != nil {
		return nil, err
	}
	return rec, validate(rec)
}

// ReadHead reads what a list shows of a recording's text form: all that stands before the lanes, passes and spans. What this
// package writes has it at the start, so that of 15 MB some kilobytes are read. Nothing of it is validated but the schema.
func ReadHead(r io.Reader) (*Recording, error) {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("offset 0: wanted a JSON object, found %v", t)
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		fields[key] = raw
		if key == "request" {
			break
		}
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	var j recordingJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, explain(raw, err)
	}
	if err := checkSchema(&j.Schema); err != nil {
		return nil, err
	}
	return j.recording(), nil
}

// checkSchema refuses another format and another major.
func checkSchema(s *Schema) error {
	if s == nil {
		return fmt.Errorf("schema: wanted {\"name\":%q}, found none: this is not a recording", SchemaName)
	}
	if s.Name != SchemaName {
		return fmt.Errorf("schema.name: wanted %q, found %q", SchemaName, s.Name)
	}
	major, _, _ := strings.Cut(s.Version, ".")
	if n, err := strconv.Atoi(major); err != nil || n != SchemaMajor {
		return fmt.Errorf("schema.version: wanted %d.N, found %q: open it with a version of glassbox that reads it", SchemaMajor, s.Version)
	}
	return nil
}

// fillArrays takes over the arrays and the values that lie inside the text form.
func fillArrays(rec *Recording, arrays map[string]*arrayJSON) error {
	for name, e := range arrays {
		if e == nil || e.Array == nil {
			return fmt.Errorf("arrays[%.80q]: wanted an object with shape and dtype", name)
		}
		a := e.Array
		if e.Data != "" {
			raw, err := base64.StdEncoding.DecodeString(e.Data)
			if err != nil {
				return fmt.Errorf("arrays[%.80q].data: wanted base64: %v", name, err)
			}
			a.Raw = raw
		} else if n, err := a.Len(); err == nil && n == 0 {
			a.Raw = []byte{}
		}
		if err := a.check(name); err != nil {
			return err
		}
		if rec.Arrays == nil {
			rec.Arrays = map[string]*Array{}
		}
		rec.Arrays[name] = a
	}
	return nil
}

// wholeFields are the top-level fields every recording has.
var wholeFields = []string{"schema", "engine", "model", "device", "clock", "started", "request", "numbers", "dropped", "untraced", "arrays", "passes", "walk", "spans"}

// explain says where JSON broke; when it was cut off, also which fields are missing.
func explain(raw []byte, err error) error {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		return fmt.Errorf("offset %d: field %s: wanted %v, found %s", typ.Offset, typ.Field, typ.Type, typ.Value)
	}
	var syn *json.SyntaxError
	if !errors.As(err, &syn) {
		return err
	}
	if syn.Offset < int64(len(raw)) {
		return fmt.Errorf("offset %d: %v", syn.Offset, err)
	}
	keys := topKeys(raw)
	last := "the start"
	if len(keys) > 0 {
		last = strconv.Quote(keys[len(keys)-1])
	}
	var missing []string
	for _, want := range wholeFields {
		if !contains(keys, want) {
			missing = append(missing, want)
		}
	}
	what := ""
	if len(missing) > 0 {
		what = "; missing: " + strings.Join(missing, ", ")
	}
	return fmt.Errorf("offset %d: the file is cut off inside %s%s; open its NAME.part, or record again", len(raw), last, what)
}

// topKeys returns the keys of the top-level object as far as it goes.
func topKeys(raw []byte) (keys []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return keys
		}
		keys = append(keys, key)
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return keys
		}
	}
	return keys
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
