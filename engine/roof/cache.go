package roof

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"glassbox/trace/file"
)

// touch writes one byte of every page.
func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

// Path is the file that keeps what was measured: glassbox/roof.json in the user's cache folder.
func Path() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("roof: wanted a cache folder, found %w: set XDG_CACHE_HOME or HOME", err)
	}
	return filepath.Join(dir, "glassbox", "roof.json"), nil
}

// list reads all results of a file; a file that is not there has none.
func list(path string) ([]*file.Roof, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("roof: %w", err)
	}
	var all []*file.Roof
	if err := json.Unmarshal(raw, &all); err != nil || slices.Contains(all, nil) {
		return nil, fmt.Errorf("roof: %s: wanted a JSON list of results, found something else (%v): delete the file and run glassbox roof", path, err)
	}
	return all, nil
}

func same(a, b *file.Roof) bool {
	return a.Machine == b.Machine && a.Threads == b.Threads && a.Kernels == b.Kernels
}

// Load returns what was measured on this machine with as many threads and the same kernels, nil if nothing was.
func Load(path, machine string, threads int, kernels string) (*file.Roof, error) {
	all, err := list(path)
	want := &file.Roof{Machine: machine, Threads: threads, Kernels: kernels}
	for _, r := range all {
		if same(r, want) {
			return r, nil
		}
	}
	return nil, err
}

// Save keeps r in place of an older result of the same machine, threads and kernels. The file is replaced as a whole.
func Save(path string, r *file.Roof) error {
	all, err := list(path)
	if err != nil {
		return err
	}
	all = append(slices.DeleteFunc(all, func(o *file.Roof) bool { return same(o, r) }), r)
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("roof: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("roof: %w", err)
	}
	part := path + ".part"
	if err := os.WriteFile(part, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("roof: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("roof: %w", err)
	}
	return nil
}
