package file

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"glassbox/trace"
)

// What a Store answers about an id.
var (
	ErrUnknown = errors.New("no recording with this id")
	ErrRunning = errors.New("the recording is still running")
	ErrBusy    = trace.ErrBusy
)

// StoreOptions say how a Store keeps recordings.
type StoreOptions struct {
	Head    Head
	Dir     string              // also keep them here, as ID.gbx; "" = in memory alone
	Finish  func(*Recording)    // as in Options
	Sink    Sink                // as in Options
	Count   int                 // finished recordings held in memory; 0 = 64
	Bytes   int64               // what they may take together; 0 = 512 MiB
	Running int                 // requests recorded at a time; 0 = 32
	State   func() *DeviceState // as in Options
	OnError func(error)         // told of recordings that could not be written or read; nil = ignored
}

// Store keeps the recordings of a server. It is a trace.Tracer. Without a directory the oldest are dropped when there are
// too many; with one, all are kept on disk and the newest also in memory.
type Store struct {
	opts StoreOptions

	mu      sync.Mutex
	entries map[string]*entry
	held    []string // ids of those in memory, oldest first
	bytes   int64
	closed  bool
	wg      sync.WaitGroup
}

// entry is one recording: running, in memory, on disk, or both of the latter.
type entry struct {
	summary Summary
	run     *Collector
	rec     *Recording
	memory  int64
	path    string
}

var _ trace.Tracer = (*Store)(nil)

// NewStore opens a store. With a directory, which is made when it is not there, the recordings in it are listed, the
// journals of requests that never ended too.
func NewStore(opts StoreOptions) (*Store, error) {
	opts.Count = cmp.Or(opts.Count, 64)
	opts.Bytes = cmp.Or(opts.Bytes, 512<<20)
	opts.Running = cmp.Or(opts.Running, 32)
	if opts.OnError == nil {
		opts.OnError = func(error) {}
	}
	s := &Store{opts: opts, entries: map[string]*entry{}}
	if opts.Dir == "" {
		return s, nil
	}
	if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	return s, s.scan()
}

// scan lists what is in the directory. A file that cannot be read is told of and left out.
func (s *Store) scan() error {
	files, err := os.ReadDir(s.opts.Dir)
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	slices.SortFunc(files, func(a, b fs.DirEntry) int { // whole files before journals
		return cmp.Or(cmp.Compare(journalRank(a), journalRank(b)), cmp.Compare(a.Name(), b.Name()))
	})
	for _, f := range files {
		id, ok := idOfFile(f.Name())
		if !ok || s.entries[id] != nil || !f.Type().IsRegular() {
			continue
		}
		path := filepath.Join(s.opts.Dir, f.Name())
		sum, err := s.summaryOf(path)
		if err != nil {
			s.opts.OnError(err)
			continue
		}
		sum.ID = id
		s.entries[id] = &entry{summary: sum, path: path}
	}
	return nil
}

func journalRank(f fs.DirEntry) int {
	if filepath.Ext(f.Name()) == ".part" {
		return 1
	}
	return 0
}

func (s *Store) summaryOf(path string) (Summary, error) {
	if filepath.Ext(path) != ".part" {
		return ReadSummary(path)
	}
	rec, err := Read(path)
	if err != nil {
		return Summary{}, err
	}
	sum := Summarize(rec)
	if info, err := os.Stat(path); err == nil {
		sum.Bytes = info.Size()
	}
	return sum, nil
}

// idOfFile returns the id in the name of a file of a store: ID.gbx, ID.json, or a journal of these.
func idOfFile(name string) (string, bool) {
	name = strings.TrimSuffix(name, ".part")
	id, ok := strings.CutSuffix(name, ".gbx")
	if !ok {
		id, ok = strings.CutSuffix(name, ".json")
	}
	return id, ok && ValidID(id)
}

// ValidID tells whether id can be that of a recording: 1 to 64 letters, digits, - and _. Nothing else ever becomes part of
// a file's name.
func ValidID(id string) bool {
	for _, c := range []byte(id) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return len(id) >= 1 && len(id) <= 64
}

// NewID returns a new id: 16 letters and digits in lower case, 80 random bits.
func NewID() string { return strings.ToLower(rand.Text()[:16]) }

// Start begins the recording of a request whose first byte arrived at start.
func (s *Store) Start(start int64, capture trace.CaptureSpec) (*trace.Recorder, error) {
	return s.start(s.opts.Head, start, capture)
}

// As returns a tracer whose recordings are kept here and say head of themselves: for a process that runs more than one
// model, or one model in more than one way.
func (s *Store) As(head Head) trace.Tracer { return headed{s, head} }

type headed struct {
	store *Store
	head  Head
}

// Start implements trace.Tracer.
func (h headed) Start(start int64, capture trace.CaptureSpec) (*trace.Recorder, error) {
	return h.store.start(h.head, start, capture)
}

func (s *Store) start(head Head, start int64, capture trace.CaptureSpec) (*trace.Recorder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("traces: the store is closed")
	}
	running := 0
	for _, e := range s.entries {
		if e.run != nil {
			running++
		}
	}
	if running >= s.opts.Running {
		return nil, ErrBusy
	}
	id := NewID()
	rec := trace.NewRecorder(id, start, capture)
	o := Options{Head: head, Finish: s.opts.Finish, Sink: s.opts.Sink, State: s.opts.State}
	if s.opts.Dir != "" {
		o.Out = filepath.Join(s.opts.Dir, id+".gbx")
	}
	o.kept = func(rec *Recording, err error) { s.keep(id, rec, o.Out, err) }
	sum := Summarize(NewBuilder(rec, head).Head()) // the collector's own builder belongs to its goroutine
	sum.Running, sum.Bytes = true, 0
	c, err := Collect(rec, o)
	if err != nil && o.Out != "" { // a full disk costs the file, not the request
		s.opts.OnError(fmt.Errorf("recording %s is kept in memory alone: %w", id, err))
		o.Out = ""
		o.kept = func(rec *Recording, err error) { s.keep(id, rec, "", err) }
		c, err = Collect(rec, o)
	}
	if err != nil {
		return nil, err
	}
	s.entries[id] = &entry{summary: sum, run: c}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		<-c.done
	}()
	return rec, nil
}

// keep takes in the recording of a request that is over.
func (s *Store) keep(id string, rec *Recording, out string, err error) {
	if err != nil {
		s.opts.OnError(err)
	}
	e := &entry{summary: Summarize(rec), rec: rec, memory: memory(rec)}
	if out != "" {
		for _, path := range []string{out, JournalPath(out)} { // the journal where the file could not be written
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				e.path, e.summary.Bytes = path, info.Size()
				break
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[id] = e
	s.hold(id, e)
}

// hold counts a recording as in memory and drops the oldest until they fit. The newest is always kept.
func (s *Store) hold(id string, e *entry) {
	s.held = append(s.held, id)
	s.bytes += e.memory
	for len(s.held) > 1 && (len(s.held) > s.opts.Count || s.bytes > s.opts.Bytes) {
		s.release(s.held[0])
	}
}

// release drops a recording from memory, and from the list when it is nowhere else.
func (s *Store) release(id string) {
	e := s.entries[id]
	s.held = slices.DeleteFunc(s.held, func(x string) bool { return x == id })
	s.bytes -= e.memory
	e.rec, e.memory = nil, 0
	if e.path == "" {
		delete(s.entries, id)
	}
}

// List returns the recordings, newest first, the running ones too.
func (s *Store) List() []Summary {
	s.mu.Lock()
	out := make([]Summary, 0, len(s.entries))
	runs := map[string]*Collector{}
	for id, e := range s.entries {
		out = append(out, e.summary)
		if e.run != nil {
			runs[id] = e.run
		}
	}
	s.mu.Unlock()
	for i := range out {
		if c := runs[out[i].ID]; c != nil {
			f := c.rec.Facts()
			out[i].Prompt = PromptStart(&Request{Prompt: f.Prompt, Messages: f.Messages, Rendered: f.Rendered})
			out[i].Numbers = Numbers{PromptTokens: len(f.PromptToks), OutputTokens: len(f.OutputToks)}
		}
	}
	slices.SortFunc(out, func(a, b Summary) int { return cmp.Or(cmp.Compare(b.Started, a.Started), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Get returns a finished recording: ErrUnknown or ErrRunning when there is none, or the error of its file.
func (s *Store) Get(id string) (*Recording, error) {
	s.mu.Lock()
	e := s.entries[id]
	if e == nil || e.run != nil || e.rec != nil {
		defer s.mu.Unlock()
		switch {
		case e == nil:
			return nil, ErrUnknown
		case e.run != nil:
			return nil, ErrRunning
		}
		return e.rec, nil
	}
	path := e.path
	s.mu.Unlock()
	rec, err := Read(path)
	if err != nil {
		return nil, err
	}
	if rec.ID == "" {
		rec.ID = id
	}
	LayWalk(rec, s.opts.Finish)
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.entries[id]; now == e && e.rec == nil {
		e.rec, e.memory = rec, memory(rec)
		s.hold(id, e)
	}
	return rec, nil
}

// Ended tells whether the request of a running recording is over, so that only its recording is still being made whole.
func (s *Store) Ended(id string) bool {
	s.mu.Lock()
	e := s.entries[id]
	s.mu.Unlock()
	if e == nil || e.run == nil {
		return false
	}
	select {
	case <-e.run.rec.Done():
		return true
	default:
		return false
	}
}

// Wait is Get that waits for a recording that is still running.
func (s *Store) Wait(ctx context.Context, id string) (*Recording, error) {
	s.mu.Lock()
	e := s.entries[id]
	s.mu.Unlock()
	if e != nil && e.run != nil {
		select {
		case <-e.run.done:
		case <-ctx.Done():
			return nil, ErrRunning
		}
	}
	return s.Get(id)
}

// Attach adds a captured array to a running recording.
func (s *Store) Attach(id, name string, a *Array) error {
	s.mu.Lock()
	e := s.entries[id]
	s.mu.Unlock()
	if e == nil || e.run == nil {
		return ErrUnknown
	}
	return e.run.Attach(name, a)
}

// Delete removes a finished recording from memory and disk.
func (s *Store) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[id]
	if e == nil {
		return ErrUnknown
	}
	if e.run != nil {
		return ErrRunning
	}
	if err := s.remove(id); err != nil {
		return err
	}
	if e.rec != nil {
		s.release(id)
	}
	delete(s.entries, id)
	return nil
}

// remove deletes every file that idOfFile would find a recording in again: beside the file there can be a journal,
// left by a process that ended between writing the one and removing the other.
func (s *Store) remove(id string) error {
	if s.opts.Dir == "" {
		return nil
	}
	for _, form := range []string{".gbx", ".json", ".gbx.part", ".json.part"} {
		err := os.Remove(filepath.Join(s.opts.Dir, id+form))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("traces: %w", err)
		}
	}
	return nil
}

// Close stops what is running, whose journals are left, and waits until all is written.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	for _, e := range s.entries {
		if e.run != nil {
			e.run.Stop()
		}
	}
	s.mu.Unlock()
	s.wg.Wait()
}
