package file

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"glassbox/trace"
)

// Sink is told of a running request: the live hub. Its methods are called by one goroutine for each request and must not
// block for long; a slow sink makes the rings fill up and drop. What they are given is shared and must not be changed.
type Sink interface {
	Started(id string, head *Recording) // no spans yet
	Request(id string, r *Request)      // what was asked, when it becomes known or changes
	Delta(id string, d *Delta)          // never empty
	Finished(id string, rec *Recording) // whole, after Options.Finish; the file, if any, is in place
}

// Watched is a Sink that knows whether anybody looks. While nobody does, and no journal is kept, a request's spans come in
// one delta at its end.
type Watched interface {
	Watching() bool
}

// Options say what a Collector makes of a request.
type Options struct {
	Head     Head
	Out      string              // where the finished recording goes, .json or .gbx; "" keeps it in memory alone. The journal is Out + ".part"
	Finish   func(*Recording)    // called once on the finished recording, before it is written: lays the catalogue over it
	Sink     Sink                // may be nil
	Interval time.Duration       // between drains; 0 = 15 ms
	State    func() *DeviceState // of the device, asked when the request comes and when it is over; nil: nobody is asked. It may take its time

	kept func(*Recording, error) // the store takes the recording in before the sink is told
}

// Collector gathers one traced request: it drains the recorder, feeds the builder, keeps the journal and tells the sink.
type Collector struct {
	rec     *trace.Recorder
	opts    Options
	builder *Builder
	journal *journal
	batch   trace.Batch
	kept    []trace.Batch // gathered, not yet told
	asked   askedMark
	before  *DeviceState

	mu     sync.Mutex
	arrays map[string]*Array

	stop     chan struct{}
	stopOnce sync.Once
	done     chan struct{}
	result   *Recording
	err      error
}

// askedMark tells whether what was asked changed.
type askedMark struct {
	number                     int64
	id, rendered, finish, text string
	messages, prompt, tokens   int
}

// Collect starts to gather a recorder's request. It refuses when the journal cannot be created.
func Collect(rec *trace.Recorder, opts Options) (*Collector, error) {
	if opts.Interval <= 0 {
		opts.Interval = 15 * time.Millisecond
	}
	c := &Collector{rec: rec, opts: opts, builder: NewBuilder(rec, opts.Head), stop: make(chan struct{}), done: make(chan struct{})}
	head := c.builder.Head()
	if opts.Out != "" {
		if _, err := writerFor(opts.Out); err != nil {
			return nil, err
		}
		j, err := startJournal(JournalPath(opts.Out), head, rec.Capture)
		if err != nil {
			return nil, err
		}
		c.journal = j
	}
	go c.run(head)
	return c, nil
}

// JournalPath is where the journal of a recording lies while its request runs.
func JournalPath(out string) string { return out + ".part" }

// Attach adds a captured array to the recording. It may be called from any goroutine until the recorder's End.
func (c *Collector) Attach(name string, a *Array) error {
	if err := a.check(name); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.arrays == nil {
		c.arrays = map[string]*Array{}
	}
	c.arrays[name] = a
	return nil
}

// Wait returns the finished recording when the request is over. The error is that of the journal or of the final file;
// the recording is whole all the same.
func (c *Collector) Wait() (*Recording, error) {
	<-c.done
	return c.result, c.err
}

// Stop ends the gathering of a request that will not end: its recording is marked partial and its journal is left.
func (c *Collector) Stop() { c.stopOnce.Do(func() { close(c.stop) }) }

func (c *Collector) run(head *Recording) {
	defer close(c.done)
	if c.opts.State != nil {
		c.before = c.opts.State()
	}
	if c.opts.Sink != nil {
		c.opts.Sink.Started(c.rec.ID, head)
	}
	tick := time.NewTicker(c.opts.Interval)
	defer tick.Stop()
	quiet := false // the ticker is slow: nobody follows, and each turn takes a core from the workers for a moment
	for {
		if q := !c.followed(); q != quiet {
			quiet = q
			tick.Reset(map[bool]time.Duration{false: c.opts.Interval, true: max(quietInterval, c.opts.Interval)}[quiet])
		}
		select {
		case <-tick.C:
			c.turn()
		case <-c.rec.Hurry():
			c.turn()
		case <-c.rec.Done():
			c.drain()
			c.finish(false)
			return
		case <-c.stop:
			ended := c.over() // the request may have ended at the same time; asked before the last drain, so that nothing is left behind
			c.drain()
			c.finish(!ended)
			return
		}
	}
}

// quietInterval is between drains while nobody follows the request; a ring that fills up is drained earlier.
const quietInterval = 100 * time.Millisecond

// turn takes what the request did since the last one.
func (c *Collector) turn() {
	if c.followed() {
		c.drain()
	} else {
		c.gather()
	}
}

// over tells whether the request has ended.
func (c *Collector) over() bool {
	select {
	case <-c.rec.Done():
		return true
	default:
		return false
	}
}

// followed tells whether anybody wants to know of the request while it runs: a journal, or a sink that is watched.
func (c *Collector) followed() bool {
	if c.opts.Out != "" {
		return true
	}
	w, ok := c.opts.Sink.(Watched)
	return c.opts.Sink != nil && (!ok || w.Watching())
}

// gather keeps what the request did as it is. Making spans of it costs about a fifth of the time that the passes took,
// on a core that the workers want: it waits until the request is over, or somebody follows it.
func (c *Collector) gather() {
	c.rec.Drain(&c.batch)
	b := &c.batch
	if len(b.Spans)+len(b.Passes)+len(b.Tokens)+len(b.Turns)+len(b.Pages) == 0 {
		return
	}
	c.kept = append(c.kept, trace.Batch{Spans: slices.Clone(b.Spans), Passes: slices.Clone(b.Passes), Tokens: slices.Clone(b.Tokens), Turns: b.Turns, Pages: b.Pages, Dropped: b.Dropped})
}

// take makes spans of what was gathered and of what the request did since, and adds them to one delta.
func (c *Collector) take() Delta {
	var all Delta
	for i := range c.kept {
		d := c.builder.Append(&c.kept[i])
		all.add(&d)
	}
	c.kept = nil
	c.rec.Drain(&c.batch)
	d := c.builder.Append(&c.batch)
	for _, p := range c.batch.Passes {
		c.rec.Recycle(p)
	}
	all.add(&d)
	return all
}

// drain tells what the request did since the last call.
func (c *Collector) drain() {
	delta := c.take()
	c.askAgain()
	if delta.Empty() {
		return
	}
	c.journal.delta(&delta)
	if c.opts.Sink != nil {
		c.opts.Sink.Delta(c.rec.ID, &delta)
	}
}

// askAgain passes on what was asked and answered when that changed. The text of the answer grows with every token and is
// passed on at the end alone.
func (c *Collector) askAgain() {
	f := c.rec.Facts()
	m := askedMark{f.Number, f.RequestID, f.Rendered, f.Finish, "", len(f.Messages), len(f.Prompt), len(f.PromptToks)}
	if f.Done {
		m.text = f.Text
	}
	if m == c.asked {
		return
	}
	c.asked = m
	r := c.builder.Request()
	line := r
	line.OutputTokens = nil // they are in the deltas
	c.journal.write(journalLine{Request: &line})
	if c.opts.Sink != nil {
		c.opts.Sink.Request(c.rec.ID, &r)
	}
}

// finish makes the recording, writes it, and removes the journal when the file is in place.
func (c *Collector) finish(stopped bool) {
	rec := c.builder.Finish()
	if c.opts.State != nil {
		rec.Device.Before, rec.Device.After = c.before, c.opts.State()
	}
	if stopped {
		rec.Partial = true
		rec.Missing = []string{"the end of the request"}
		rec.Numbers = Measure(rec)
	} else {
		c.journal.write(journalLine{End: &journalEnd{Spans: len(rec.Spans)}})
	}
	c.attachCaptured(rec)
	c.mu.Lock()
	rec.Arrays, c.arrays = c.arrays, nil
	c.mu.Unlock()
	if c.opts.Finish != nil {
		c.opts.Finish(rec)
	}
	c.result = rec
	c.err = c.store(rec, stopped)
	if c.opts.kept != nil {
		c.opts.kept(rec, c.err)
	}
	if c.opts.Sink != nil {
		c.opts.Sink.Finished(c.rec.ID, rec)
	}
}

// attachCaptured takes in what the engine copied out. One array that cannot be kept does not cost the others: the
// recording says why it is not there.
func (c *Collector) attachCaptured(rec *Recording) {
	for _, captured := range c.rec.TakeArrays() {
		a, err := FromCapture(captured)
		if err == nil {
			err = c.Attach(captured.Name, a)
		}
		if err != nil {
			rec.Partial, rec.Missing = true, append(rec.Missing, err.Error())
		}
	}
}

func (c *Collector) store(rec *Recording, stopped bool) error {
	if c.opts.Out == "" {
		return nil
	}
	jerr := c.journal.close()
	if stopped {
		return jerr
	}
	if err := Write(c.opts.Out, rec); err != nil {
		return fmt.Errorf("%w (the journal %s is left)", err, JournalPath(c.opts.Out))
	}
	// The file is whole: what went wrong with the journal no longer matters.
	if err := os.Remove(JournalPath(c.opts.Out)); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}
