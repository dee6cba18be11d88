package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sourceRoots are the folders where code lies on this machine, by repository: those of --source, and the checkout of Glassbox
// that the working folder is in.
func sourceRoots(flags []string) (map[string]string, error) {
	out := map[string]string{}
	if dir := checkoutAround(); dir != "" {
		out["glassbox"] = dir
	}
	for _, f := range flags {
		repo, dir, ok := strings.Cut(f, "=")
		if !ok || repo == "" || dir == "" {
			return nil, &usageError{fmt.Sprintf("--source: wanted REPO=DIR, found %q", f)}
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("--source %s: %w", f, err)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--source %s: wanted a folder, found none at %s", f, abs)
		}
		out[strings.TrimSuffix(strings.TrimPrefix(repo, "https://"), ".git")] = abs
	}
	return out, nil
}

// checkoutAround is the nearest folder, from the working one up, that holds Glassbox's go.mod; "" = none.
func checkoutAround() string {
	dir, err := os.Getwd()
	for err == nil {
		raw, e := os.ReadFile(filepath.Join(dir, "go.mod"))
		if e == nil && strings.HasPrefix(string(raw), "module glassbox\n") {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return ""
}
