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
