package kv

// EventKind says what happened to a page.
type EventKind uint8

// Kinds of page events.
const (
	Take    EventKind = iota // it was given to a sequence, its old content is gone
	Share                    // one more sequence holds it
	Drop                     // a sequence holds it no more
	Publish                  // it can be found by its prefix
	Evict                    // it can not be found any more: it is wanted for something else
)

// Watch sets what is called after each event, nil for nothing.
func (p *Pool) Watch(f func(EventKind, Page)) { p.log = f }

func (p *Pool) tell(k EventKind, pg Page) {
	if p.log != nil {
		p.log(k, pg)
	}
}
