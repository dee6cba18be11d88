//go:build cuda

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCopyRoof(t *testing.T) {
	r := copyRoof("g", 8, []float64{1e9, 2e9, 4e9}, false)
	require.Equal(t, "copy", r.Kernels)
	require.EqualValues(t, 8, r.Reads[0].Bytes)
	require.Equal(t, []float64{1, 2, 4}, []float64{r.Reads[0].GBPerS.Min, r.Reads[0].GBPerS.Median, r.Reads[0].GBPerS.Max})
	require.Zero(t, r.Int8.Runs)
	require.Nil(t, copyRoof("g", 8, []float64{1e9}, true))
}
