//go:build cuda

package cuda_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/engine"
	"glassbox/engine/testmodel"
)

// A device that is lost while requests run: each of them ends with an error, so does one that comes later, and the process goes on to
// close everything. In a process of its own, whose driver loses the device after some launches; once in a replayed pass
// and once on two devices.
func TestRequestsOfALostDeviceEndWithAnError(t *testing.T) {
	if os.Getenv("LOST_CUDA") != "" {
		askALostDevice(t)
		return
	}
	for _, shards := range []string{"1", "2"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRequestsOfALostDeviceEndWithAnError$", "-test.v", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), "LOST_CUDA="+shards, "CUEMU_LOSE_AFTER=400", "CUEMU_LEAK_ABORT=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "the device is lost", "shards: %s", shards)
		require.Equal(t, 4, strings.Count(string(out), "ended with an error"), "%s", out)
		require.Contains(t, string(out), "the process lives")
	}
}

func askALostDevice(t *testing.T) {
	shards := 1
	fmt.Sscan(os.Getenv("LOST_CUDA"), &shards)
	e, err := engine.Open(testmodel.Tiny(t, testmodel.Spec{}), engine.Options{Backend: "cuda", Slots: 4, Shards: shards, AllReduce: "direct"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	ask := func() *engine.Stream {
		s, err := e.Submit(ctx, engine.Request{Tokens: []int{1, 2, 3}, MaxTokens: 100, IgnoreEOS: true})
		require.NoError(t, err)
		return s
	}
	read := func(s *engine.Stream) {
		for {
			ev, err := s.Next(ctx)
			require.NoError(t, err, "the request hangs")
			if ev.Finish != "" {
				t.Fatalf("a request ended with %q", ev.Finish)
			}
			if ev.Err != nil {
				fmt.Println("ended with an error:", ev.Err)
				return
			}
		}
	}
	running := []*engine.Stream{ask(), ask(), ask()}
	for _, s := range running {
		read(s)
	}
	read(ask())
	require.NoError(t, e.Close())
	fmt.Println("the process lives")
}
