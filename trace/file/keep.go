package file

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Put keeps a finished recording that was made elsewhere, or a later version of one that is kept here. rec must not be
// changed any more. Where it cannot be written it is kept in memory alone, and the error says why.
func (s *Store) Put(rec *Recording) error {
	if !ValidID(rec.ID) {
		return fmt.Errorf("traces: id: wanted 1 to 64 letters, digits, - and _, found %.80q", rec.ID)
	}
	e := &entry{summary: Summarize(rec), rec: rec, memory: memory(rec)}
	var err error
	if s.opts.Dir != "" {
		path := filepath.Join(s.opts.Dir, rec.ID+".gbx")
		if err = Write(path, rec); err == nil {
			e.path = path
			if info, err := os.Stat(path); err == nil {
				e.summary.Bytes = info.Size()
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.entries[rec.ID]; old != nil {
		if old.run != nil {
			return ErrRunning
		}
		e.path = cmp.Or(e.path, old.path) // the earlier version is still there
		if old.rec != nil {
			s.release(rec.ID)
		}
	}
	s.entries[rec.ID] = e
	s.hold(rec.ID, e)
	return err
}

// Retain deletes the recordings that began before now-age, and the oldest until what is left takes at most bytes; 0 sets no
// bound. It returns how many it deleted. Running ones stay.
func (s *Store) Retain(age time.Duration, bytes int64, now time.Time) int {
	list := s.List() // newest first
	before := ""
	if age > 0 {
		before = now.Add(-age).UTC().Format(startedForm)
	}
	var sum int64
	deleted := 0
	for i, r := range list {
		if r.Running {
			continue
		}
		sum += r.Bytes
		if r.Started >= before && (bytes <= 0 || sum <= bytes || i == 0) {
			continue
		}
		sum -= r.Bytes
		if err := s.Delete(r.ID); err != nil {
			s.opts.OnError(err)
			continue
		}
		deleted++
	}
	return deleted
}
