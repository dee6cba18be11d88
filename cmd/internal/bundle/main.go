// Command bundle turns the TypeScript client in web/client into the scripts
// that static/ serves. It is a module of its own so that esbuild stays out of
// the main go.mod.
//
//	cd cmd/internal/bundle && go run .            writes ../../../static/js
//	cd cmd/internal/bundle && go run . -tests DIR writes one test file per web/client/test/*.test.ts
//	cd cmd/internal/bundle && go run . -commands  writes ../../../static/js/commands.json
//
// It does not know about pages, recordings or the engine.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	root := flag.String("root", "", "root of the checkout (default: three folders above this source)")
	tests := flag.String("tests", "", "bundle the client's unit tests into this folder instead")
	commands := flag.Bool("commands", false, "write static/js/commands.json, the table of keys for the docs (needs node)")
	flag.Parse()
	if *root == "" {
		*root = checkoutRoot()
	}
	if err := run(*root, *tests, *commands); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(root, tests string, commands bool) error {
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
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	total := 0
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(out, f.Name), f.Text, 0o644); err != nil {
			return err
		}
		n := gzipSize(f.Text)
		total += n
		fmt.Printf("static/js/%s  %d bytes, %d gzipped\n", f.Name, len(f.Text), n)
	}
	fmt.Printf("together %d bytes gzipped, at most %d\n", total, maxGzip)
	if total > maxGzip {
		return fmt.Errorf("static/js: %d bytes gzipped, wanted at most %d: make the client smaller", total, maxGzip)
	}
	return nil
}

// checkoutRoot is the folder that holds go.mod of the main module, found from
// where this source file was compiled.
func checkoutRoot() string {
	_, self, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(self), "..", "..", "..")
}
