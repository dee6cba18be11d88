package gateway

import (
	"sync"
	"time"

	"glassbox/trace/file"
)

// liveRun tells a sink of a request while it runs. It reads along what the exchange noted, beside the way of the bytes.
type liveRun struct {
	x    *exchange
	sink file.Sink
	quit chan struct{}
	once sync.Once
	done chan struct{}
	last *file.Recording
}

const liveInterval = 50 * time.Millisecond

// startLive begins to tell, where there is somebody to tell.
func (x *exchange) startLive() {
	w, watched := x.g.c.Sink.(file.Watched)
	if x.g.c.Sink == nil || watched && !w.Watching() {
		return
	}
	x.live = &liveRun{x: x, sink: x.g.c.Sink, quit: make(chan struct{}), done: make(chan struct{})}
	go x.live.run()
}

// stop ends the telling; rec is the whole recording, nil where there is none.
func (l *liveRun) stop(rec *file.Recording) {
	l.once.Do(func() {
		l.last = rec
		close(l.quit)
	})
	<-l.done
}

func (l *liveRun) run() {
	defer close(l.done)
	g, x := l.x.g, l.x
	head := g.head(x)
	l.sink.Started(x.id, head)
	r := g.request(x)
	rec := &file.Recording{Request: r}
	if g.c.Redact {
		redact(rec)
	}
	l.sink.Request(x.id, &rec.Request)
	f := follower{x: x}
	tick := time.NewTicker(liveInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if d := f.next(g.c.Redact); !d.Empty() {
				l.sink.Delta(x.id, &d)
			}
		case <-l.quit:
			if d := f.next(g.c.Redact); !d.Empty() {
				l.sink.Delta(x.id, &d)
			}
			if l.last == nil {
				l.last = head
			}
			l.sink.Finished(x.id, l.last)
			return
		}
	}
}

// follower reads an answer while it comes.
type follower struct {
	x           *exchange
	r           *reader
	reads, kept int
	tokens      int
	pieces      int // told
}

// next is what is new.
func (f *follower) next(redacted bool) file.Delta {
	x := f.x
	x.mu.Lock()
	if x.header == nil {
		x.mu.Unlock()
		return file.Delta{}
	}
	if f.r == nil {
		f.r = newReader(x.header.Get("Content-Type"))
		if x.header.Get("Content-Encoding") != "" {
			f.r.stream = false
		}
	}
	reads, kept := x.reads[f.reads:len(x.reads):len(x.reads)], x.kept[f.kept:len(x.kept):len(x.kept)]
	x.mu.Unlock()
	at := 0
	for _, p := range reads {
		f.r.feed(kept[at:at+p.kept], p.at, p.at)
		at += p.kept
	}
	f.reads, f.kept = f.reads+len(reads), f.kept+at
	rec := &file.Recording{}
	x.pieces(rec, f.r.a.pieces[f.pieces:], f.pieces) // those of one read come together
	f.pieces = len(f.r.a.pieces)
	tokens := append([]file.Token(nil), f.r.a.tokens[f.tokens:]...)
	f.tokens += len(tokens)
	for i := range tokens {
		tokens[i].TNs -= x.first
		if redacted {
			tokens[i].ID, tokens[i].Text, tokens[i].Bytes, tokens[i].Top = -1, "", nil, nil
		}
	}
	return file.Delta{Spans: rec.Spans, Tokens: tokens}
}
