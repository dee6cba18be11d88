package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"text/tabwriter"

	"glassbox/engine/builtin"
	"glassbox/engine/gguf"
)

type modelCmd struct {
	Info infoCmd `cmd:"" help:"Print a model file's metadata and tensors."`
}

type infoCmd struct {
	File string `arg:"" optional:"" default:"builtin" help:"A GGUF file, or builtin."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// tensorInfo is a tensor in the JSON that model info prints.
type tensorInfo struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	Bytes int    `json:"bytes"`
}

// Run prints what is in the file; long arrays are told by length.
func (c *infoCmd) Run() error {
	var f *gguf.File
	var err error
	if c.File == "builtin" {
		f, err = gguf.Parse(builtin.File, builtin.Model())
	} else {
		f, err = gguf.Open(c.File)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	meta := map[string]any{}
	var keys []string
	for _, kv := range f.Keys() {
		keys = append(keys, kv.Key)
		if n := kv.Value.Len(); n > 16 {
			meta[kv.Key] = fmt.Sprintf("array of %d %s", n, kv.Value.Elem())
			continue
		}
		meta[kv.Key] = kv.Value.Any()
	}
	var tensors []tensorInfo
	byType := map[string][2]int{}
	for _, t := range f.Tensors() {
		tensors = append(tensors, tensorInfo{t.Name, t.Type.String(), t.Dims, len(t.Data)})
		n := byType[t.Type.String()]
		byType[t.Type.String()] = [2]int{n[0] + 1, n[1] + len(t.Data)}
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", " ")
		return e.Encode(map[string]any{"file": f.Name, "version": f.Version, "bytes": f.Size, "sha256": f.SHA256(), "metadata": meta, "tensors": tensors})
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "file\t%s, GGUF version %d, %d bytes\nsha256\t%s\n\n", f.Name, f.Version, f.Size, f.SHA256())
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\n", k, clip(fmt.Sprintf("%q", fmt.Sprint(meta[k])), 100))
	}
	fmt.Fprintln(w)
	for _, t := range tensors {
		fmt.Fprintf(w, "%s\t%s\t%v\t%d\n", t.Name, t.Type, t.Shape, t.Bytes)
	}
	fmt.Fprintln(w)
	names := make([]string, 0, len(byType))
	for n := range byType {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Fprintf(w, "%s\t%d tensors\t%d bytes\n", n, byType[n][0], byType[n][1])
	}
	return w.Flush()
}

// clip cuts a text for a table.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
