package large

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
)

// shipped reads the JSON of a shipped recording.
func shipped(path string) (map[string]any, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open("trace.json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, 256<<20))
	d.UseNumber()
	trace := map[string]any{}
	return trace, d.Decode(&trace)
}

// write writes a recording with its arrays.
func write(dir, id string, trace map[string]any, arrays map[string][]byte) error {
	text, err := json.Marshal(trace)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, raw []byte) error {
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		_, err = w.Write(raw)
		return err
	}
	if err := add("trace.json", text); err != nil {
		return err
	}
	for name, raw := range arrays {
		if err := add(name, raw); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, id+".gbx"), b.Bytes(), 0o644)
}
