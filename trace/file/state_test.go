package file

import (
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// A device is asked for its state when a request comes and when it is over, and what it said is in the file.
func TestStatesOfADeviceAroundARequest(t *testing.T) {
	asked := 0.0
	rec := trace.NewRecorder("states", trace.Now(), trace.CaptureSpec{})
	c, err := Collect(rec, Options{Head: sampleHead, State: func() *DeviceState {
		asked++
		w := 100 * asked
		return &DeviceState{PowerW: &w}
	}})
	require.NoError(t, err)
	sampleRequest(rec)
	rec.End()
	got, err := c.Wait()
	require.NoError(t, err)
	back, err := read(write(t, got, ".json"))
	require.NoError(t, err)
	require.Equal(t, []float64{100, 200}, []float64{*back.Device.Before.PowerW, *back.Device.After.PowerW})
	require.Nil(t, back.Device.After.TempC)
	require.Nil(t, sampleHead.Device.Before, "the head is shared")
}
