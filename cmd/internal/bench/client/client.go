package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Client talks to one endpoint.
type Client struct {
	Base    string        // scheme://host[:port][/path], without /v1
	Now     func() int64  // the run's clock; see Times
	Silence time.Duration // a request that says nothing for so long is given up
	key     string
	http    *http.Client
	user    *url.Userinfo
}

// New prepares a client. The address may lack http:// and may end in /v1; a name, password or query in it is never shown
// again. key is sent as a bearer token, "" for none.
func New(address, key string, now func() int64, silence time.Duration) (*Client, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("bench: wanted an address such as http://127.0.0.1:8000, found %q", address)
	}
	c := &Client{Now: now, Silence: silence, key: key, user: u.User}
	path := strings.TrimSuffix(u.Path, "/")
	for _, end := range []string{"/chat/completions", "/completions", "/models", "/v1"} {
		path = strings.TrimSuffix(path, end)
	}
	c.Base = u.Scheme + "://" + u.Host + path
	c.http = &http.Client{
		Transport: transport(),
		// A redirect would be measured, and might carry the key to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// idleFor is how long a connection is kept without a request on it. Servers close theirs: llama.cpp's and uvicorn, which vLLM and
// SGLang run on, after 5 s. A request sent on a connection that the server closes at that moment would have to be sent again.
const idleFor = 4 * time.Second

// transport gives each request that runs at a time a connection of its own. HTTP/2 is off: its streams share one
// connection, where a lost packet holds up all of them. Compression is off: it waits for more to compress.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{},
		DisableCompression:  true,
		MaxIdleConns:        0,
		MaxIdleConnsPerHost: 1 << 16,
		IdleConnTimeout:     idleFor,
		ReadBufferSize:      16 << 10,
	}
}

// Only lets the client connect to addresses that allow takes. It is asked after names are resolved, about each address that
// is dialled, so that a name cannot lead elsewhere the second time. Proxies of the environment are left out: they would
// connect for us.
func (c *Client) Only(allow func(netip.AddrPort) error) {
	t := transport()
	t.Proxy = nil
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return allow(netip.AddrPortFrom(a.Addr().Unmap(), a.Port()))
	}}).DialContext
	c.http.Transport = t
}

// Close drops kept connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Local tells whether the endpoint is on this machine.
func (c *Client) Local() bool {
	u, err := url.Parse(c.Base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// Call is one measured request.
type Call struct {
	Path  string // below Base
	Body  []byte
	Lines bool // the answer is newline-delimited JSON
	// Traceparent joins the server's spans to the row; Record asks a Glassbox server for a recording.
	Traceparent string
	Record      bool
}

// Do sends the request and reads its answer into the row, whose Scheduled time the caller has set. Every outcome is in
// the row. There are no retries: a retry is load nobody asked for.
func (c *Client) Do(ctx context.Context, call Call, row *Row) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(c.Silence, func() { cancel(errSilent) })
	defer quiet.Stop()
	var first, connected atomic.Int64
	var kept atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { connected.Store(c.Now()); kept.Store(i.Reused) },
		GotFirstResponseByte: func() { first.Store(c.Now()) },
	})
	req, err := c.request(ctx, http.MethodPost, call.Path, call.Body)
	if err != nil {
		row.Fail(err.Error())
		row.Derive()
		return
	}
	if call.Traceparent != "" {
		req.Header.Set("Traceparent", call.Traceparent)
	}
	if call.Record {
		req.Header.Set("X-Glassbox-Trace", "1")
	}
	row.Times.Sent = c.Now()
	if row.Times.Scheduled == 0 {
		row.Times.Scheduled = row.Times.Sent
	}
	res, err := c.http.Do(req)
	row.Times.Headers, row.Times.Connected = first.Load(), connected.Load()
	if !kept.Load() {
		row.Connect = ms(row.Times.Sent, row.Times.Connected)
	}
	if err != nil {
		row.Times.End = c.Now()
		c.failed(ctx, row, fmt.Sprintf("POST %s: %s", call.Path, c.explain(err)))
		return
	}
	defer res.Body.Close()
	row.Status, row.RequestID, row.Recording = res.StatusCode, clip([]byte(res.Header.Get("X-Request-Id")), 100), res.Header.Get("X-Glassbox-Trace-Id")
	if res.StatusCode != http.StatusOK || !streamed(res) {
		c.refused(res, row)
		return
	}
	c.read(ctx, res.Body, NewStream(row, call.Lines), func() { quiet.Reset(c.Silence) })
	if row.Outcome == Failed && ctx.Err() != nil {
		err := row.Error
		row.Error = nil
		c.failed(ctx, row, *err)
	}
	c.hide(row)
}

var errSilent = errors.New("silent")

// read reads the body; the time is taken as soon as the bytes are here, before anything looks at them.
func (c *Client) read(ctx context.Context, body io.Reader, s *Stream, alive func()) {
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		at := c.Now()
		if n > 0 {
			alive()
			if s.Read(buf[:n], at) != nil {
				s.Close(at, nil)
				return
			}
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			s.Close(at, err)
			return
		}
	}
}

// streamed tells whether the answer is a stream of events.
func streamed(res *http.Response) bool {
	t := res.Header.Get("Content-Type")
	return !strings.HasPrefix(t, "application/json") && !strings.HasPrefix(t, "text/html")
}

// refused reads an answer that is no stream.
func (c *Client) refused(res *http.Response, row *Row) {
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	row.Times.End = c.Now()
	if s := res.Header.Get("Retry-After"); s != "" {
		if d, ok := retryAfter(s, time.Now()); ok {
			x := float64(d) / float64(time.Millisecond)
			row.RetryAfter = &x
		}
	}
	if res.StatusCode == http.StatusOK {
		row.Fail(fmt.Sprintf("the server answered in one piece (%s) instead of streaming, so there are no times to take: %s",
			res.Header.Get("Content-Type"), clip(body, 120)))
	} else {
		row.Fail(fmt.Sprintf("HTTP %d: %s", res.StatusCode, bodyText(body)))
	}
	c.hide(row)
	row.Derive()
}

// retryAfter reads seconds or an HTTP date (RFC 9110, 10.2.3).
func retryAfter(s string, now time.Time) (time.Duration, bool) {
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e6 {
		return time.Duration(n * float64(time.Second)), true
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now)), true
	}
	return 0, false
}

// bodyText is the message in a refusal's body.
func bodyText(body []byte) string {
	var e struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &e) == nil {
		for _, raw := range []json.RawMessage{e.Error, e.Message, e.Detail} {
			if filled(raw) {
				return ErrorText(raw)
			}
		}
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return "without a message"
	}
	return clip(body, 200)
}

// failed ends a row whose transport failed: it was silent, cut off by us, or broken.
func (c *Client) failed(ctx context.Context, row *Row, text string) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent):
		row.Fail(fmt.Sprintf("no byte for %v: given up", c.Silence))
	case ctx.Err() != nil:
		row.Cancel("cut off before its end")
	default:
		row.Fail(text)
	}
	c.hide(row)
	row.Derive()
}

// hide takes the key out of an error that echoes it.
func (c *Client) hide(row *Row) {
	if row.Error != nil {
		text := c.Hide(*row.Error)
		row.Error = &text
	}
	row.Sample = c.Hide(row.Sample)
	row.RequestID = c.Hide(row.RequestID)
}

// Hide replaces the key in a text.
func (c *Client) Hide(text string) string {
	if c.key != "" {
		text = strings.ReplaceAll(text, c.key, "[key]")
	}
	if p, ok := c.user.Password(); ok && p != "" {
		text = strings.ReplaceAll(text, p, "[password]")
	}
	return text
}

// request builds a request with the headers that all have.
func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("bench: %s%s: %w", c.Base, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		// A kept connection that the server closed meanwhile may be replaced before anything was sent; net/http does so
		// for requests that it may repeat. The empty value is not sent.
		req.Header["Idempotency-Key"] = nil
	}
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "glassbox-bench")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.user != nil && c.key == "" {
		p, _ := c.user.Password()
		req.SetBasicAuth(c.user.Username(), p)
	}
	return req, nil
}

// JSON sends a request that is not measured and decodes its answer; to may be nil. The status is 0 when there was none.
func (c *Client) JSON(ctx context.Context, method, path string, send, to any) (status int, header http.Header, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(c.Silence, 15*time.Second))
	defer cancel()
	var body []byte
	if send != nil {
		if body, err = json.Marshal(send); err != nil {
			return 0, nil, err
		}
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return 0, nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%s %s%s: %s", method, c.Base, path, c.explain(err))
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 32<<20))
	if err != nil {
		return res.StatusCode, res.Header, fmt.Errorf("%s %s%s: %s", method, c.Base, path, c.explain(err))
	}
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, res.Header, fmt.Errorf("%s %s%s: HTTP %d: %s", method, c.Base, path, res.StatusCode, c.Hide(bodyText(raw)))
	}
	if text, ok := to.(*string); ok {
		*text = string(raw)
		return res.StatusCode, res.Header, nil
	}
	if to != nil {
		if err := json.Unmarshal(raw, to); err != nil {
			return res.StatusCode, res.Header, fmt.Errorf("%s %s%s: wanted JSON, found %s: %q", method, c.Base, path,
				res.Header.Get("Content-Type"), clip(raw, 60))
		}
	}
	return res.StatusCode, res.Header, nil
}

// explain says in words what broke.
func (c *Client) explain(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens there; is the server running, is the port right?"
	case errors.As(err, &dns):
		return fmt.Sprintf("no such host: %s", dns.Name)
	case errors.Is(err, syscall.ECONNRESET):
		return "the server reset the connection"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection in the middle"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server speaks HTTP, not HTTPS: write http:// in the address"
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return c.Hide(err.Error())
}
