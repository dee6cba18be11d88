// Package browser opens the site of a built glassbox binary in Chromium and uses it as a reader does: by keys, clicks and
// links. The tests beside it and the bench use it.
//
// GLASSBOX_BIN names the binary; without it one is built from this checkout.
//
// It does not know about anything inside the binary: it talks HTTP alone.
package browser

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// T is what is needed of a test, or of a program in its place.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
	Cleanup(func())
	TempDir() string
}

var (
	binOnce sync.Once
	bin     string
	binErr  error
)

// binary returns the path of the binary under test.
func binary() (string, error) {
	binOnce.Do(func() {
		if bin = os.Getenv("GLASSBOX_BIN"); bin != "" {
			bin, binErr = filepath.Abs(bin)
			return
		}
		dir, err := os.MkdirTemp("", "glassbox")
		if err != nil {
			binErr = err
			return
		}
		bin = filepath.Join(dir, "glassbox")
		c := exec.Command("go", "build", "-o", bin, "./cmd/glassbox")
		c.Dir = Checkout()
		if out, err := c.CombinedOutput(); err != nil {
			binErr = fmt.Errorf("go build ./cmd/glassbox: %v\n%s", err, out)
		}
	})
	return bin, binErr
}

// Checkout is the root of the repository: the folder above the working directory that holds cmd/glassbox.
func Checkout() string {
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "cmd", "glassbox")); err == nil {
			return dir
		}
	}
	return "."
}

// Binary is the path of the program under test.
func Binary(t T) string {
	path, err := binary()
	require.NoError(t, err)
	return path
}

var address = regexp.MustCompile(`http://[\w.:\[\]-]+`)

// StartServer runs the binary on a free port until the test ends.
func StartServer(t T, args ...string) string {
	said := startServer(t, 1, args...)
	return address.FindString(said[0])
}

// StartWorkshop runs it for a room, with notes in a folder of the test, and returns its address and the teacher's key.
func StartWorkshop(t T, args ...string) (base, key string) {
	said := startServer(t, 3, append([]string{"--workshop", "--notes", filepath.Join(t.TempDir(), "notes.md")}, args...)...)
	_, key, _ = strings.Cut(strings.TrimSpace(said[1]), "/teach#")
	require.NotEmpty(t, key, said)
	return address.FindString(said[0]), key
}

// startServer returns the first lines of what the server says; the first names its address.
func startServer(t T, lines int, args ...string) (said []string) {
	t.Helper()
	c := exec.Command(Binary(t), append([]string{"serve", "--addr", "127.0.0.1:0", "--threads", "2"}, args...)...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	from := bufio.NewReader(out)
	for range lines {
		line, err := from.ReadString('\n')
		require.NoError(t, err)
		said = append(said, line)
	}
	require.Regexp(t, address, said[0])
	return said
}

// chromium finds the browser.
func chromium(t T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	require.Fail(t, "no Chromium: install it (Debian: apt-get install chromium)")
	return ""
}

// Start runs a headless Chromium with a profile of its own. It may reach nothing but the server.
func Start(t T) context.Context {
	opts := []chromedp.ExecAllocatorOption{
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("headless", "new"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("disable-extensions", true), chromedp.Flag("mute-audio", true),
	}
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		stop()
		stopAlloc()
	})
	_, err := chromedp.Run(ctx, chromedp.Evaluate[int]("1"))
	require.NoError(t, err)
	return ctx
}

// Tab is a page, what it said on its console, and whom it called.
type Tab struct {
	t     T
	Ctx   context.Context
	base  string
	mu    sync.Mutex
	said  []string
	hosts map[string]bool
	bytes map[string]float64 // transferred, by path
	ids   map[network.RequestID]string
	stop  func()
}

// Window is a size of window, px.
type Window struct{ W, H int64 }

var (
	Desk   = Window{1440, 900}
	Laptop = Window{1280, 720}
	Phone  = Window{390, 844}
)

// Open opens a tab of the given size and theme ("light", "dark").
func Open(t T, browser context.Context, base string, size Window, theme string) *Tab {
	ctx, stop := chromedp.NewContext(browser)
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute) // a page that hangs; a busy machine may be slow
	end := sync.OnceFunc(func() {
		cancel()
		stop()
	})
	t.Cleanup(end)
	p := &Tab{stop: end, t: t, Ctx: ctx, base: base, hosts: map[string]bool{}, bytes: map[string]float64{}, ids: map[network.RequestID]string{}}
	require.NoError(t, chromedp.Listen(ctx, p.hear))
	Call(p, network.Enable, network.EnableParams{})
	Call(p, log.Enable, cdp.Empty{})
	Call(p, runtime.Enable, cdp.Empty{})
	Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	p.Do(chromedp.EmulateViewport(size.W, size.H))
	return p
}

func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return o.Description
}

func (p *Tab) hear(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" {
			p.hosts[u.Host] = true
			p.ids[e.RequestID] = u.Path
		}
	case *network.EventWebSocketCreated:
		if u, err := url.Parse(e.URL); err == nil {
			p.hosts[u.Host] = true
		}
	case *network.EventLoadingFinished:
		p.bytes[p.ids[e.RequestID]] += e.EncodedDataLength
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			var parts []string
			for _, a := range e.Args {
				parts = append(parts, string(a.Value)+a.Description)
			}
			p.said = append(p.said, strings.Join(parts, " "))
		}
	case *runtime.EventExceptionThrown:
		p.said = append(p.said, e.ExceptionDetails.Text+" "+describe(e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.said = append(p.said, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// Call sends a command of the browser's protocol.
func Call[P, R any](p *Tab, c cdp.Command[P, R], params P) R {
	p.t.Helper()
	r, err := chromedp.Call(p.Ctx, c, params)
	require.NoError(p.t, err)
	return r
}

func (p *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.Ctx, steps...))
}

// GoTo opens a path of the site.
func (p *Tab) GoTo(path string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(p.base + path))
}

// Eval runs a script and returns its value.
func Eval[T any](p *Tab, script string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.Ctx, chromedp.Evaluate[T](script))
	require.NoError(p.t, err, script)
	return v
}

// Until waits for a script to become true. What it throws meanwhile, while a page comes and its elements are not there, is
// "not yet"; what it threw last is told when the time is over.
func (p *Tab) Until(script string) {
	p.t.Helper()
	thrown := ""
	for end := time.Now().Add(90 * time.Second); ; {
		got, err := chromedp.Run(p.Ctx, chromedp.Evaluate[string]("(() => { try { return ("+script+") ? 'true' : '' } catch (e) { return String(e) } })()"))
		if err != nil {
			got = err.Error() // the page is just being left for another
		}
		if got == "true" {
			return
		}
		thrown = got
		if time.Now().After(end) {
			p.mu.Lock()
			defer p.mu.Unlock()
			require.Fail(p.t, "this did not become true: "+script, "it threw: %q; the console said: %v", thrown, p.said)
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// Await runs a script that gives a promise, and returns what it resolves to.
func Await[R any](p *Tab, script string) R {
	p.t.Helper()
	v, err := chromedp.Run(p.Ctx, chromedp.Evaluate[R](script, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, script)
	return v
}

// EmptyCache makes the next page load as if for the first time.
func (p *Tab) EmptyCache() {
	p.t.Helper()
	Call(p, network.ClearBrowserCache, cdp.Empty{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes = map[string]float64{}
}

// Close closes the tab before the end.
func (p *Tab) Close() { p.stop() }

// Get waits until a page can be had, and returns when it was there.
func Get(t T, address string) time.Time {
	t.Helper()
	resp, err := http.Get(address)
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, address)
	return time.Now()
}

// Quiet fails if the page complained on its console, or asked another host for anything.
func (p *Tab) Quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.said, "the console is not empty")
	u, err := url.Parse(p.base)
	require.NoError(p.t, err)
	for host := range p.hosts {
		require.Equal(p.t, u.Host, host, "a request to another host")
	}
}

// Press presses and lets go of each key as a keyboard does: a key press that the page takes types nothing.
func (p *Tab) Press(keys string) {
	p.t.Helper()
	for _, r := range keys {
		for _, e := range kb.Encode(r) {
			switch {
			case e.Type == input.DispatchKeyEventTypeChar:
				continue // the browser makes it of the key that goes down
			case e.Type == input.DispatchKeyEventTypeKeyUp:
				e.Text = ""
			default:
				e.Type = input.DispatchKeyEventTypeKeyDown
				if k := kb.Keys[r]; k != nil && k.Print {
					e.Text, e.UnmodifiedText = k.Text, k.Unmodified
				}
			}
			Call(p, input.DispatchKeyEvent, *e)
		}
	}
}

// Said is what the page's console has said so far: errors and warnings.
func (p *Tab) Said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.said...)
}

// Hosts are the hosts that were asked for anything so far.
func (p *Tab) Hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for h := range p.hosts {
		out = append(out, h)
	}
	return out
}

// Transferred is how many bytes came over the wire so far, by path.
func (p *Tab) Transferred() map[string]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]float64{}
	for path, n := range p.bytes {
		out[path] = n
	}
	return out
}

// Scripts that are true when a page has drawn what it is about.
const (
	TracerReady = `document.querySelector('glassbox-tracer')?.hasAttribute('data-ready') && document.querySelector('glassbox-tracer').shadowRoot.querySelector('.card h2')`
	HeroReady   = `document.querySelector('glassbox-hero')?.shadowRoot?.querySelector('.h-map svg text') &&
	[...document.querySelectorAll('glassbox-picture')].every(p => p.shadowRoot.querySelector('svg'))`
)
