package client_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"glassbox/cmd/internal/bench/client"
	"glassbox/cmd/internal/bench/mock"
)

// sent is where the fixed clock stands when a recorded request is sent.
const sent = int64(1_000_000_000)

// replay feeds a script to the client with the times of the script: no clock, no network.
func replay(s mock.Script) *client.Row {
	row := &client.Row{Status: 200}
	row.Times.Scheduled, row.Times.Sent = sent, sent
	stream := client.NewStream(row, s.Lines)
	at := sent
	for _, r := range s.Reads() {
		at = sent + int64(r.At)
		if stream.Read(r.Data, at) != nil {
			break
		}
	}
	stream.Close(at, nil)
	return row
}

// overHTTP is whether a script is about more than the bytes of a stream.
func overHTTP(s mock.Script) bool {
	switch s.Name {
	case "whole", "broken", "dead":
		return true
	}
	return s.Status != 0
}

// Every quirk, with fixed time stamps: counts, outcome and every latency are exactly those of the script.
func TestArithmeticOfEveryQuirk(t *testing.T) {
	for _, s := range mock.Quirks() {
		if overHTTP(s) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			row := replay(s)
			requireTruth(t, s, row)
			if s.Truth.Error != "" {
				return
			}
			require.Equal(t, float64(s.FirstToken())/1e6, *row.TTFT, "TTFT")
			require.Equal(t, float64(s.FirstText())/1e6, *row.TTFO, "TTFO")
			require.Equal(t, float64(s.LastToken())/1e6, *row.E2E, "e2e")
			switch want := s.TPOT(); {
			case s.Truth.Output < 0 || want == 0:
				require.Nil(t, row.TPOT)
			default:
				require.InDelta(t, want, *row.TPOT, 1e-9, "TPOT")
			}
			require.LessOrEqual(t, *row.TTFR, *row.TTFT)
		})
	}
}

// Every quirk over a real connection: counts and outcome; times are only held to their order.
func TestEveryQuirkOverHTTP(t *testing.T) {
	server := mock.New(mock.Behaviour{})
	h := httptest.NewServer(server)
	t.Cleanup(func() { close(server.Quit); h.Close() }) // after the parallel subtests
	for _, s := range mock.Quirks() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			silence := 20 * time.Second
			if s.Name == "dead" {
				silence = 150 * time.Millisecond
			}
			c, err := client.New(h.URL, "", func() int64 { return int64(time.Since(start)) + 1 }, silence)
			require.NoError(t, err)
			defer c.Close()
			e := &client.Endpoint{Model: s.Name, API: "chat"}
			path, body, err := e.Body("hello", 4)
			require.NoError(t, err)
			row := &client.Row{}
			c.Do(context.Background(), client.Call{Path: path, Body: body, Lines: s.Lines}, row)
			requireTruth(t, s, row)
			x := row.Times
			require.GreaterOrEqual(t, x.End, x.Sent)
			if s.Truth.Error == "" {
				require.True(t, x.Sent <= x.Headers && x.Headers <= x.FirstEvent && x.FirstEvent <= x.FirstToken && x.FirstToken <= x.LastToken && x.LastToken <= x.End, "%+v", x)
			}
			if s.Truth.RetryAfter > 0 {
				require.Equal(t, float64(s.Truth.RetryAfter.Milliseconds()), *row.RetryAfter)
			}
		})
	}
}

func requireTruth(t *testing.T, s mock.Script, row *client.Row) {
	t.Helper()
	w := s.Truth
	if w.Error != "" {
		require.Equal(t, client.Failed, row.Outcome)
		require.Contains(t, *row.Error, w.Error)
		require.Nil(t, row.TTFT, "a failed request has no latency")
		require.Nil(t, row.TPOT)
		require.Nil(t, row.E2E)
		return
	}
	if row.Error != nil {
		t.Fatal(*row.Error)
	}
	require.Equal(t, client.OK, row.Outcome)
	count := func(want int, got *int, what string) {
		if want < 0 {
			require.Nil(t, got, what)
			return
		}
		require.NotNil(t, got, what)
		require.Equal(t, want, *got, what)
	}
	count(w.Prompt, row.PromptTokens, "prompt tokens")
	count(w.Output, row.OutputTokens, "output tokens")
	count(w.Cached, row.CachedTokens, "cached tokens")
	require.Equal(t, s.Chunks(), row.Chunks, "chunks")
	require.Equal(t, w.FirstChunk, row.FirstChunk, "tokens in the first chunk")
	require.Equal(t, w.Finish, row.Finish)
	require.ElementsMatch(t, w.Marks, row.Marks)
	if w.Prefill > 0 {
		require.Equal(t, w.Prefill, *row.Server.Prefill)
		require.Equal(t, w.Decode, *row.Server.Decode)
		require.InDelta(t, w.Decode/3, *row.Server.TPOT, 1e-9, "four tokens are three steps")
	}
	if s.Name == "buffering-proxy" {
		require.Equal(t, w.Joined, row.Joined)
	}
}

// The first words of the answer are kept; the bytes of a character that the network cut in two are put together again.
func TestSample(t *testing.T) {
	s, ok := mock.Find("bytes")
	require.True(t, ok)
	require.Equal(t, strings.Repeat(" wörd", 4), replay(s).Sample)
}

// An open loop counts from the time a request was due, not from when it was sent.
func TestOpenLoopCountsFromTheSchedule(t *testing.T) {
	s, _ := mock.Find("plain")
	row := replay(s)
	row.Rate = 2
	row.Times.Scheduled = sent - int64(7*time.Millisecond)
	before := *row.TTFT
	row.Derive()
	require.Equal(t, before+7, *row.TTFT)
	require.Equal(t, 7.0, *row.Wait)
}
