package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that may connect to some addresses only is asked about each one after its name is resolved; a redirect is not
// followed, and a proxy of the environment is not taken, since both would lead around the question.
func TestOnlyAllowedAddressesAreDialled(t *testing.T) {
	hits := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits++
		http.Redirect(w, r, "http://10.255.255.1/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer h.Close()
	for _, base := range []string{h.URL, strings.Replace(h.URL, "127.0.0.1", "localhost", 1)} {
		var asked []netip.AddrPort
		refuse := errors.New("not this one")
		c, err := New(base, "sk-secret", func() int64 { return 1 }, time.Second)
		require.NoError(t, err)
		answer := refuse
		c.Only(func(a netip.AddrPort) error {
			asked = append(asked, a)
			return answer
		})
		require.Nil(t, c.http.Transport.(*http.Transport).Proxy)
		before := hits
		status, _, err := c.JSON(context.Background(), http.MethodGet, "/v1/models", nil, nil)
		require.Zero(t, status)
		require.ErrorContains(t, err, "not this one")
		row := &Row{}
		c.Do(context.Background(), Call{Path: "/v1/chat/completions"}, row)
		require.Contains(t, *row.Error, "not this one")
		require.Equal(t, before, hits, "nothing reached the server")
		answer = nil
		status, _, err = c.JSON(context.Background(), http.MethodGet, "/v1/models", nil, nil)
		require.Equal(t, http.StatusTemporaryRedirect, status)
		require.Error(t, err)
		require.Equal(t, before+1, hits)
		require.NotEmpty(t, asked)
		for _, a := range asked {
			require.True(t, a.Addr().IsLoopback() && !a.Addr().Is4In6(), "%s: asked about the address, not the name, and never about where a redirect leads", a)
		}
		c.Close()
	}
}

// Servers of uvicorn (vLLM, SGLang) and llama.cpp close a connection that was idle for 5 s, and say "Keep-Alive: timeout=5". A slow
// open loop leaves connections idle for longer: they must be ours to close, not theirs while a request is on its way.
func TestConnectionsAreNotKeptLongerThanServersKeepThem(t *testing.T) {
	require.Less(t, transport().IdleConnTimeout, 5*time.Second)
	require.Positive(t, transport().IdleConnTimeout, "0 would be for ever")
}
