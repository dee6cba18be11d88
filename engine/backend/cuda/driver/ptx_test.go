package driver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParametersOfEntries(t *testing.T) {
	got, err := EntryParams(`.version 7.8
.visible .entry one(
	.param .u64 .ptr .align 1 one_param_0,
	.param .u32 one_param_1,
	.param .align 4 .b8 one_param_2[20],
	.param .f32 one_param_3
)
.maxntid 128
{ ret; }
.visible .entry none()
{ ret; }`)
	require.NoError(t, err)
	require.Equal(t, map[string][]int{"one": {8, 4, 20, 4}, "none": {}}, got)
	_, err = EntryParams("nothing")
	require.ErrorContains(t, err, "found none in 7 bytes")
	_, err = EntryParams(".entry odd( .param oops )")
	require.ErrorContains(t, err, `entry odd: wanted a parameter, found ".param oops"`)
}
