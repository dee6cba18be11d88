package steps

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var fileName = regexp.MustCompile(`^(\d\d)-([a-z0-9_]+)\.md$`)

// Load reads the folder catalog/ENGINE of fsys. Files are named NN-ID.md and numbered from 01 without gaps; other names
// are refused, so that no page is left out by accident. Errors name file, line, what was wanted and what was found.
func Load(fsys fs.FS, engine string) (*Catalogue, error) {
	dir := path.Join("catalog", engine)
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: no catalogue of this engine: %w", dir, err)
	}
	c := &Catalogue{Engine: engine, byID: map[string]*Step{}}
	for i, e := range entries {
		file := path.Join(dir, e.Name())
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil {
			return nil, fmt.Errorf("%s: wanted a file name such as %02d-first_byte.md", file, i+1)
		}
		if want := fmt.Sprintf("%02d", i+1); m[1] != want {
			return nil, fmt.Errorf("%s: wanted number %s, found %s: pages are numbered in the order of the walk", file, want, m[1])
		}
		s, err := readPage(fsys, file)
		if err != nil {
			return nil, err
		}
		if s.ID != m[2] {
			return nil, s.fail("id", m[2]+", as in the file's name", s.ID)
		}
		if other := c.byID[s.ID]; other != nil {
			return nil, s.fail("id", "one page a step; "+other.File+" has this id", s.ID)
		}
		s.Number = i + 1
		c.byID[s.ID] = s
		c.Steps = append(c.Steps, s)
	}
	for _, s := range c.Steps {
		if _, to := cutPair(s.Loop); s.Loop != "" && c.byID[to] == nil {
			return nil, s.fail("loop", "the id of a step", to)
		}
	}
	return c, nil
}

// cutPair splits "queue, channel".
func cutPair(s string) (first, second string) {
	first, second, _ = strings.Cut(s, ",")
	return strings.TrimSpace(first), strings.TrimSpace(second)
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func sortedKeys() []string {
	names := make([]string, 0, len(keys))
	for k := range keys {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

func keyList() string {
	return strings.Join(append(sortedKeys(), "also", "line", "match", "models"), ", ")
}
