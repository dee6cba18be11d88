package trace

// Part is one request's part of a turn. Other requests than the recorded one are known by their numbers alone.
type Part struct {
	Request int64 // its number, counted by the engine from 1 in the order of arrival
	Kind    PassKind
	Tokens  int // that went through the model
	From    int // position of the first of them
}

// Turn is one turn of the engine's loop, with its pass: for the recorded request's own passes and for those that went by
// while it waited.
type Turn struct {
	Start, Dur int64 // ns, clock of Now: around the pass, as the loop sees it
	Waiting    int   // requests in the queue
	Parts      []Part
}

// PageWhat says what happened to pages of the KV cache.
type PageWhat uint8

// What happens to pages. The first two tell the state when the recording begins.
const (
	PageHold    PageWhat = iota // held by a request since before
	PageKeep                    // held by nobody, but known by the prefix it ends
	PageTake                    // given to a request; what they held before is gone
	PageShare                   // one more request holds them
	PageDrop                    // a request holds them no more
	PagePublish                 // from now on they are known by the prefix they end
	PageEvict                   // they are not known any more
	PageCopy                    // they get the content of others, which more than one held
)

// String returns the name in a recording.
func (w PageWhat) String() string {
	return [...]string{"hold", "keep", "take", "share", "drop", "publish", "evict", "copy"}[w]
}

// PageChange is what happened to some pages of the KV cache at one moment.
type PageChange struct {
	At      int64 // ns, clock of Now
	What    PageWhat
	Request int64   // for which it happened; 0: for none
	Pages   []int32 // their numbers
	From    []int32 // of a copy: where each page's content comes from
}

// AddTurn hands a turn to the recorder, which keeps Parts.
func (r *Recorder) AddTurn(t Turn) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.turns = append(r.turns, t)
	r.mu.Unlock()
}

// AddPages hands changes of pages to the recorder, which keeps their slices.
func (r *Recorder) AddPages(c ...PageChange) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.pages = append(r.pages, c...)
	r.mu.Unlock()
}
