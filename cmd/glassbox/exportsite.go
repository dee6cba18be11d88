package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"glassbox/engine"
	"glassbox/trace/file"
	"glassbox/web"
	"glassbox/web/live"
)

// siteMark is a file of every copy of the site: a folder that holds it may be replaced.
const siteMark = "api/traces/index.json"

// writeSite writes the site with its recordings, and these of the reader's, into a folder that appears when it is whole.
func writeSite(dir string, recordings []string) error {
	if err := replaceable(dir); err != nil {
		return err
	}
	var mine shelfOf
	for _, name := range recordings {
		rec, err := file.Read(name)
		if err != nil {
			return err
		}
		file.LayWalk(rec, catalogue().Apply)
		rec.ID = idFor(name, mine)
		mine = append(mine, rec)
	}
	hub := live.New(live.Config{Lay: catalogue().Apply})
	site := web.New(web.Config{Files: true, Store: mine, Hub: hub, Catalogue: catalogue(), Sources: engine.Sources, Engine: file.Engine{Name: "glassbox", Version: version, Commit: commit()}})
	defer site.Close()
	part := filepath.Clean(dir) + ".new.part"
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("-o %s: %w", dir, err)
	}
	files, size := 0, 0
	err := site.Write(func(name string, data []byte) error {
		files, size = files+1, size+len(data)
		at := filepath.Join(part, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return err
		}
		return os.WriteFile(at, data, 0o666)
	})
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err == nil {
		err = os.Rename(part, dir)
	}
	if err != nil {
		os.RemoveAll(part)
		return fmt.Errorf("-o %s: %w", dir, err)
	}
	fmt.Fprintf(os.Stderr, "%s: %d files, %.1f MB; any web server can hand them out, under any path\n", dir, files, float64(size)/1e6)
	return nil
}

// replaceable refuses a folder that holds something else than a copy of the site.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &usageError{fmt.Sprintf("-o %s: wanted a folder, or a name for a new one: %v", dir, err)}
	case len(entries) == 0:
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(siteMark))); err != nil {
		return &usageError{fmt.Sprintf("-o %s: wanted a new or empty folder, or one that an export wrote; found one with other files", dir)}
	}
	return nil
}

var notOfID = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// idFor makes an address out of a file's name, another one for each.
func idFor(name string, taken shelfOf) string {
	base := filepath.Base(name)
	id := strings.Trim(notOfID.ReplaceAllString(strings.TrimSuffix(base, filepath.Ext(base)), "-"), "-")
	id = id[:min(len(id), 60)]
	if id == "" {
		id = "recording"
	}
	for n, want := 2, id; ; n++ {
		if _, err := taken.Get(want); err != nil {
			return want
		}
		want = fmt.Sprintf("%s-%d", id, n)
	}
}

// shelfOf are recordings that are there and stay: a web.Store.
type shelfOf []*file.Recording

// List implements web.Store.
func (s shelfOf) List() []file.Summary {
	var out []file.Summary
	for _, r := range s {
		out = append(out, file.Summarize(r))
	}
	return out
}

// Get implements web.Store.
func (s shelfOf) Get(id string) (*file.Recording, error) {
	for _, r := range s {
		if r.ID == id {
			return r, nil
		}
	}
	return nil, file.ErrUnknown
}

// Wait implements web.Store.
func (s shelfOf) Wait(_ context.Context, id string) (*file.Recording, error) { return s.Get(id) }

// Ended implements web.Store.
func (shelfOf) Ended(string) bool { return false }

// Delete implements web.Store.
func (shelfOf) Delete(string) error { return errors.New("a copy of the site deletes nothing") }
