package kv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrowTakesOnlyWhatIsMissing(t *testing.T) {
	p := NewPool(4)
	table, ok := p.Grow(nil, 17)
	require.True(t, ok)
	require.Len(t, table, 2)
	table, ok = p.Grow(table, 32)
	require.True(t, ok)
	require.Len(t, table, 2)
	_, ok = p.Grow(table, 81)
	require.False(t, ok, "three pages more than there are")
	require.Equal(t, 2, p.Free())
	require.NoError(t, p.Check(table))
}

func TestSharedPagesAreFreeWhenTheLastHolderLeaves(t *testing.T) {
	p := NewPool(3)
	a, _ := p.Grow(nil, 32)
	p.Share(a[:1])
	b, ok := p.Grow([]Page{a[0]}, 20)
	require.True(t, ok)
	require.NoError(t, p.Check(a, b))
	require.Equal(t, 1, p.Release(a))
	require.NoError(t, p.Check(b))
	require.Equal(t, 2, p.Release(b))
	require.NoError(t, p.Check())
	require.Equal(t, 3, p.Free())
}

func TestCheckFindsLeaksAndDoubleUse(t *testing.T) {
	p := NewPool(2)
	a, _ := p.Grow(nil, 1)
	require.Error(t, p.Check(), "a page is held by nobody")
	require.Error(t, p.Check(a, a), "a page is in two tables, but has one holder")
	p.Release(a)
	require.Error(t, p.Check(a), "a page is used and free")
	p.free = append(p.free, a[0])
	require.Error(t, p.Check(), "a page is free twice")
}

// tokens returns n tokens that begin like those of any other call with the same seed.
func tokens(seed, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(seed + i)
	}
	return out
}

// publish makes the pages of a table known by their tokens.
func publish(p *Pool, table []Page, toks []int32) {
	key := Root("")
	for i, pg := range table {
		key = key.Next(toks[i*PageTokens:])
		p.Publish(pg, key)
	}
}

func TestPrefixesAreFoundInWholePages(t *testing.T) {
	p := NewPool(8)
	a, _ := p.Grow(nil, 48)
	toks := tokens(0, 48)
	publish(p, a, toks)
	pages, keys := p.Match(Root(""), append(tokens(0, 40), 1, 2, 3))
	require.Equal(t, a[:2], pages, "the third page is not full of the same tokens")
	require.Len(t, keys, 2)
	pages, _ = p.Match(Root("another"), toks)
	require.Empty(t, pages)
	other := tokens(0, 48)
	other[0] = 99
	pages, _ = p.Match(Root(""), other)
	require.Empty(t, pages, "pages after another beginning hold other keys, though their own tokens are the same")
	p.Release(a)
	require.NoError(t, p.Check())
	require.Equal(t, []int{8, 3}, []int{p.Free(), p.Kept()})
	pages, _ = p.Match(Root(""), toks)
	p.Share(pages)
	require.NoError(t, p.Check(a))
	require.Equal(t, []int{5, 0}, []int{p.Free(), p.Kept()})
}

func TestKeptPagesGoWhenNoneIsFreeTheOldestFirst(t *testing.T) {
	p := NewPool(4)
	a, _ := p.Grow(nil, 32)
	publish(p, a, tokens(0, 32))
	b, _ := p.Grow(nil, 32)
	publish(p, b, tokens(100, 32))
	p.Release(a)
	p.Release(b)
	c, ok := p.Grow(nil, 48)
	require.True(t, ok)
	require.Equal(t, []Page{a[1], a[0], b[1]}, c, "the end of a prefix goes before its beginning")
	require.EqualValues(t, 3, p.Evicted())
	require.NoError(t, p.Check(c))
	pages, _ := p.Match(Root(""), tokens(100, 32))
	require.Equal(t, b[:1], pages)
	pages, _ = p.Match(Root(""), tokens(0, 32))
	require.Empty(t, pages)
}

func TestAPageThatOthersHoldIsCopiedBeforeItIsWritten(t *testing.T) {
	p := NewPool(3)
	a, _ := p.Grow(nil, 20)
	p.Share(a)
	b := append([]Page(nil), a...)
	c, copied, ok := p.Own(b, 1)
	require.True(t, ok && copied)
	require.Equal(t, Copy{a[1], b[1]}, c)
	require.NotEqual(t, a[1], b[1])
	require.NoError(t, p.Check(a, b))
	_, copied, ok = p.Own(a, 1)
	require.True(t, ok && !copied, "nobody else holds it now")
	_, _, ok = p.Own(a, 0)
	require.False(t, ok, "no page is free")
	require.NoError(t, p.Check(a, b))
	publish(p, b[:1], tokens(0, 16))
	p.Release(a)
	_, copied, ok = p.Own(b, 0)
	require.True(t, ok && !copied)
	pages, _ := p.Match(Root(""), tokens(0, 16))
	require.Empty(t, pages, "what is written over is not to be found")
	require.NoError(t, p.Check(b))
}

func TestEventsTellWhereEveryPageIs(t *testing.T) {
	p := NewPool(2)
	holders, known := map[Page]int{}, map[Page]bool{}
	p.Watch(func(k EventKind, pg Page) {
		switch k {
		case Take, Share:
			holders[pg]++
		case Drop:
			holders[pg]--
		case Publish:
			known[pg] = true
		case Evict:
			delete(known, pg)
		}
	})
	a, _ := p.Grow(nil, 32)
	publish(p, a, tokens(0, 32))
	p.Share(a[:1])
	p.Release(a)
	require.Equal(t, map[Page]int{a[0]: 1, a[1]: 0}, holders)
	b, _ := p.Grow(nil, 16)
	require.Equal(t, map[Page]int{a[0]: 1, b[0]: 1}, holders)
	require.Equal(t, map[Page]bool{a[0]: true}, known)
	_, _, _ = p.Own(a[:1], 0)
	require.Empty(t, known)
}
