package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// The most that scripts may weigh, gzipped, in bytes: what a page of ours
// loads before it shows anything, what a view loads on top when it is first
// shown, and the one script with everything, which lies inside a saved page.
const (
	maxFirst = 90_000
	maxLater = 45_000
	maxWhole = 165_000
)

// parts is the folder inside static/js of what modules share and of what is
// loaded when it is needed. The names in it hold a hash of the text.
const parts = "parts"

// file is one output: its name inside static/js and its text.
type file struct {
	Name string
	Text []byte
}

// bundleClient bundles web/client/src into minified ES2022: glassbox.js is
// everything in one classic script; the modules of entry/ are what our own
// pages load, with the code of each view in a file of its own. Style sheets
// that sources import become strings, for adoptedStyleSheets.
func bundleClient(root string) ([]file, error) {
	src := filepath.Join(root, "web", "client", "src")
	w := clientOptions(root, api.FormatIIFE, filepath.Join(src, "glassbox.ts"))
	w.Define = map[string]string{"SAVED": "true"} // what needs our server is left out
	whole, err := outputs(root, api.Build(w))
	if err != nil {
		return nil, err
	}
	entries, err := filepath.Glob(filepath.Join(src, "entry", "*.ts"))
	if err != nil {
		return nil, err
	}
	o := clientOptions(root, api.FormatESModule, entries...)
	o.Splitting, o.ChunkNames = true, parts+"/[name]-[hash]"
	modules, err := outputs(root, api.Build(o))
	return append(whole, modules...), err
}

func clientOptions(root string, format api.Format, entries ...string) api.BuildOptions {
	return api.BuildOptions{
		EntryPoints:       entries,
		Outdir:            filepath.Join(root, "static", "js"),
		AbsWorkingDir:     root,
		Bundle:            true,
		Format:            format,
		Target:            api.ES2022,
		Platform:          api.PlatformBrowser,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		Plugins:           []api.Plugin{shortSheets},
	}
}

// shortSheets makes the style sheets that sources import short, a rule a line: the client looks rules up by their lines.
var shortSheets = api.Plugin{Name: "sheets", Setup: func(b api.PluginBuild) {
	b.OnLoad(api.OnLoadOptions{Filter: `\.css$`}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		raw, err := os.ReadFile(a.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		r := api.Transform(string(raw), api.TransformOptions{Loader: api.LoaderCSS, MinifyWhitespace: true, Sourcefile: a.Path})
		text := strings.ReplaceAll(string(r.Code), "}", "}\n")
		return api.OnLoadResult{Contents: &text, Errors: r.Errors, Loader: api.LoaderText}, nil
	})
}}

// bundleTests bundles web/client/test/*.test.ts for Node 20, one file each,
// so that "node --test DIR" runs them.
func bundleTests(root, out string) error {
	entries, err := filepath.Glob(filepath.Join(root, "web", "client", "test", "*.test.ts"))
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("web/client/test: no *.test.ts found under %s", root)
	}
	abs, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	res := api.Build(api.BuildOptions{
		EntryPoints:   entries,
		Outdir:        abs,
		OutExtension:  map[string]string{".js": ".mjs"},
		AbsWorkingDir: root,
		Bundle:        true,
		Write:         true,
		Format:        api.FormatESModule,
		Target:        api.ES2022,
		Platform:      api.PlatformNode,
		Sourcemap:     api.SourceMapInline,
		Loader:        map[string]api.Loader{".css": api.LoaderText},
		Define:        map[string]string{"CHECKOUT": fmt.Sprintf("%q", root)},
	})
	_, err = outputs(root, res)
	return err
}

// outputs turns esbuild's result into files by name, or into one error that
// lists every message with its place.
func outputs(root string, res api.BuildResult) ([]file, error) {
	if len(res.Errors) > 0 {
		var all error
		for _, m := range res.Errors {
			where := "esbuild"
			if m.Location != nil {
				where = fmt.Sprintf("%s:%d:%d", m.Location.File, m.Location.Line, m.Location.Column)
			}
			all = errors.Join(all, fmt.Errorf("%s: %s", where, m.Text))
		}
		return nil, all
	}
	var out []file
	for _, f := range res.OutputFiles {
		name, err := filepath.Rel(filepath.Join(root, "static", "js"), f.Path)
		if err != nil || strings.HasPrefix(name, "..") {
			name = filepath.Base(f.Path)
		}
		out = append(out, file{Name: filepath.ToSlash(name), Text: f.Contents})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// gzipSize is the length of text after gzip at its best level, as a server
// would send it.
func gzipSize(text []byte) int {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Len()
}

// node runs a piece of TypeScript of web/client/src under node and returns
// what it prints.
func node(root, source string) ([]byte, error) {
	res := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: source, ResolveDir: filepath.Join(root, "web", "client", "src"), Loader: api.LoaderTS},
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2022, Platform: api.PlatformNode, Outfile: "run.js",
		Loader: map[string]api.Loader{".css": api.LoaderText},
	})
	files, err := outputs(root, res)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", "-")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(files[0].Text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("node: %w; this needs node 20", err)
	}
	return out, nil
}

// writePictures draws the close-ups of the first page's cards from the
// recordings that ship, into a folder.
func writePictures(root, out string) error {
	_, err := node(root, fmt.Sprintf("import { write } from './build/pictures';\nwrite(%q, %q).catch((e) => { console.error(e); process.exit(1); });",
		filepath.ToSlash(filepath.Join(root, "static", "recordings")), filepath.ToSlash(out)))
	return err
}

// writeCommands runs the client's command registry under node and keeps what
// it lists, so that the docs and the handler share one source.
func writeCommands(root string) error {
	list, err := node(root, `import './roomcommands'; import { commandTable } from './commands'; console.log(JSON.stringify(commandTable(), null, 1));`)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "static", "js", "commands.json"), list, 0o644)
}
