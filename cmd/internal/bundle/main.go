// Command bundle turns the TypeScript client in web/client into the scripts
// that static/ serves. It is a module of its own so that esbuild stays out of
// the main go.mod.
//
//	cd cmd/internal/bundle && go run .            writes ../../../static/js and says what it weighs
//	cd cmd/internal/bundle && go run . -tests DIR writes one test file per web/client/test/*.test.ts
//	cd cmd/internal/bundle && go run . -commands  writes ../../../static/js/commands.json
//	cd cmd/internal/bundle && go run . -pictures  writes ../../../static/pictures, the first page's close-ups
//
// It does not know about pages, recordings or the engine.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "", "root of the checkout (default: three folders above this source)")
	tests := flag.String("tests", "", "bundle the client's unit tests into this folder instead")
	commands := flag.Bool("commands", false, "write static/js/commands.json, the table of keys for the docs (needs node)")
	pictures := flag.Bool("pictures", false, "draw static/pictures, the close-ups of the first page, from static/recordings (needs node)")
	flag.Parse()
	if *root == "" {
		*root = checkoutRoot()
	}
	if err := run(*root, *tests, *commands, *pictures); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(root, tests string, commands, pictures bool) error {
	if pictures {
		return writePictures(root, filepath.Join(root, "static", "pictures"))
	}
	if commands {
		return writeCommands(root)
	}
	if tests != "" {
		return bundleTests(root, tests)
	}
	files, err := bundleClient(root)
	if err != nil {
		return err
	}
	out := filepath.Join(root, "static", "js")
	if err := os.RemoveAll(filepath.Join(out, parts)); err != nil { // names change with what is in them
		return err
	}
	if err := os.MkdirAll(filepath.Join(out, parts), 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(out, filepath.FromSlash(f.Name)), f.Text, 0o644); err != nil {
			return err
		}
	}
	all := weigh(files)
	for _, w := range all {
		fmt.Printf("%7d of %7d bytes gzipped  %s\n", w.Bytes, w.Most, w.What)
	}
	return tooHeavy(all)
}

// checkoutRoot is the folder above the working directory that holds web/client.
func checkoutRoot() string {
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "web", "client")); err == nil {
			return dir
		}
	}
	return "."
}
