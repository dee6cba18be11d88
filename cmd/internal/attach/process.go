package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// command is how the engine is started.
type command struct {
	args []string
	env  []string // beside our own
}

// process is the engine's first process and its group.
type process struct {
	cmd    *exec.Cmd // nil: it ran before us
	pids   []int
	tail   tail
	done   chan struct{}
	failed error // of Wait, when done is closed
	once   sync.Once
}

// start starts the engine in a process group of its own.
func start(c *command) (*process, error) {
	p := &process{cmd: exec.Command(c.args[0], c.args[1:]...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), c.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.tail, &p.tail
	p.cmd.WaitDelay = 5 * time.Second // children may hold the pipes open
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the engine does not start: %w: give its command behind --", err)
	}
	go func() {
		p.failed = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// running stands for an engine that somebody else started.
func running(pids []int) *process { return &process{pids: pids, done: make(chan struct{})} }

// died tells whether the engine has ended.
func (p *process) died() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// end ends the engine's whole group: politely, and after ten seconds for good.
func (p *process) end() {
	if p.cmd == nil {
		return
	}
	p.once.Do(func() {
		endGroup(p.cmd, false)
		for range 100 {
			if p.died() && !groupLives(p.cmd) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		endGroup(p.cmd, true)
		select {
		case <-p.done:
		case <-time.After(10 * time.Second):
		}
	})
}

// blame adds the engine's last lines to an error when the engine has died.
func (p *process) blame(err error) error {
	if err == nil || !p.died() {
		return err
	}
	why := "it exited"
	if p.failed != nil {
		why = p.failed.Error()
	}
	return fmt.Errorf("the engine died (%s): its last lines: %s", why, p.tail.last(8))
}

// healthy waits until the engine serves.
func healthy(ctx context.Context, o *Options, p *process) error {
	begin := time.Now()
	deadline := begin.Add(o.Healthy)
	client := &http.Client{Timeout: 5 * time.Second}
	said := begin
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(o.URL, "/")+o.Engine.Health, nil)
		if err != nil {
			return fmt.Errorf("--url %s: wanted an address such as http://127.0.0.1:8000: %w", o.URL, err)
		}
		res, err := client.Do(req)
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				o.say("healthy after %.1f s", time.Since(begin).Seconds())
				return nil
			}
			err = fmt.Errorf("%s", res.Status)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case p.died():
			return p.blame(errors.New("it died"))
		case time.Now().After(deadline):
			return fmt.Errorf("%s%s did not answer within %s (%v): give it longer with --timeout, or its address with --url; the engine's last lines: %s",
				o.URL, o.Engine.Health, o.Healthy, err, p.tail.last(8))
		}
		if time.Since(said) > 15*time.Second {
			said = time.Now()
			o.say("not serving yet after %.0f s; its last line: %s", time.Since(begin).Seconds(), cut(p.tail.last(1), 160))
		}
		select {
		case <-ctx.Done():
		case <-p.done:
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// cut shortens a line: engines print their whole configuration in one.
func cut(line string, most int) string {
	r := []rune(line)
	if len(r) <= most {
		return line
	}
	return string(r[:most]) + "…"
}

// tail keeps the end of what the engine prints.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 16 << 10

// Write keeps the last bytes.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if len(t.b) > 2*tailBytes {
		t.b = append([]byte(nil), t.b[len(t.b)-tailBytes:]...)
	}
	return len(b), nil
}

// last returns the last lines in one: " | " between them.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.FieldsFunc(string(bytes.ToValidUTF8(t.b, []byte("?"))), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return "(none)"
	}
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
