package openai

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"glassbox/trace"
)

// Listener wraps a listener so that the arrival of each request's first byte is noted. Serve its connections with a
// server that Prepare was called for.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn notes when it was read from.
type conn struct {
	net.Conn
	first atomic.Int64 // when the current request's first bytes arrived, clock of trace.Now; 0 = none yet
	last  atomic.Int64 // when bytes last arrived
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		now := trace.Now()
		c.last.Store(now)
		c.first.CompareAndSwap(0, now)
	}
	return n, err
}

// arrived returns when the current request's first byte arrived. A request that came in one packet with the one before it
// was there when that packet was.
func (c *conn) arrived() int64 {
	if t := c.first.Load(); t != 0 {
		return t
	}
	return c.last.Load()
}

type connKey struct{}

// Prepare makes an http.Server pass the connection's clock on to handlers, and bounds the time a client may take for the
// head of a request and between requests.
func Prepare(srv *http.Server) {
	if srv.ReadHeaderTimeout == 0 {
		srv.ReadHeaderTimeout = 20 * time.Second
	}
	if srv.IdleTimeout == 0 {
		srv.IdleTimeout = 2 * time.Minute
	}
	connContext, connState := srv.ConnContext, srv.ConnState
	srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, c)
		}
		if own, ok := c.(*conn); ok {
			ctx = context.WithValue(ctx, connKey{}, own)
		}
		return ctx
	}
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		if own, ok := c.(*conn); ok && state == http.StateIdle {
			own.first.Store(0) // the next byte begins another request
		}
		if connState != nil {
			connState(c, state)
		}
	}
}

// FirstByte returns when the request's first byte arrived, on the clock of trace.Now, for a server that Prepare was called for.
func FirstByte(r *http.Request) int64 { return firstByte(r, trace.Now()) }

// firstByte returns when the request's first byte arrived on its connection, or now where that was not noted.
func firstByte(r *http.Request, now int64) int64 {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		if t := c.arrived(); t != 0 && t <= now {
			return t
		}
	}
	return now
}
