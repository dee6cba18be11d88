package main

import (
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorkshopFlags(t *testing.T) {
	rm, err := (&workshopFlags{}).room()
	require.NoError(t, err)
	require.Nil(t, rm)
	_, err = (&workshopFlags{Notes: "x.md"}).room()
	require.ErrorContains(t, err, "add --workshop")
	_, err = (&workshopFlags{Workshop: true, Notes: t.TempDir()}).room()
	require.ErrorContains(t, err, "--notes")
	a, err := (&workshopFlags{Workshop: true, Notes: t.TempDir() + "/n.md"}).room()
	require.NoError(t, err)
	b, err := (&workshopFlags{Workshop: true, Notes: t.TempDir() + "/n.md"}).room()
	require.NoError(t, err)
	require.NotEqual(t, a.Key(), b.Key())
	require.Regexp(t, `^[a-z2-7]{24}$`, a.Key(), "what the page takes for a key")
	w := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader("{}"))
	require.False(t, a.Teaches(w))
}

func TestJoinAddressIsOneThatOthersReach(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	require.Equal(t, []string{"http://" + l.Addr().String() + "/join"}, joinAt(l))
	all, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	defer all.Close()
	for _, a := range joinAt(all) {
		require.NotContains(t, a, "0.0.0.0")
		c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(a, "http://"), "/join"))
		require.NoError(t, err, "an address that does not answer")
		c.Close()
	}
	require.True(t, strings.HasPrefix(reachable(all), "127.0.0.1:"))
}
