package bench

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"glassbox/cmd/internal/bench/stats"
)

// Env is what the client ran on and how it fared. When the server is on the same machine it describes that too.
type Env struct {
	SameMachine bool       `json:"server_on_this_machine"`
	OS          string     `json:"os"`
	Kernel      string     `json:"kernel,omitempty"`
	CPU         string     `json:"cpu,omitempty"`
	Cores       int        `json:"cores"`
	MemoryBytes int64      `json:"memory_bytes,omitempty"`
	Load        string     `json:"load_average_before,omitempty"`
	GPUs        []GPU      `json:"gpus"`
	GPUSource   string     `json:"gpu_source"`
	Proxy       bool       `json:"proxy"`         // requests may have gone through a proxy of the environment
	Lag         stats.Dist `json:"client_lag_ms"` // how late a timer of 5 ms woke the client
	ClockJumpMS float64    `json:"clock_jump_ms"` // largest step of the wall clock against the monotonic one
}

// GPU is a device as nvidia-smi describes it, before and after the run.
type GPU struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	Memory string `json:"memory"`
	Before string `json:"before"` // clocks, power, temperature
	After  string `json:"after"`
}

// machine looks at this machine.
func machine(ctx context.Context) Env {
	e := Env{OS: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), GPUs: []GPU{}}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		e.Kernel = strings.TrimSpace(string(b))
	}
	e.CPU = procValue("/proc/cpuinfo", "model name")
	if kb, _, ok := strings.Cut(procValue("/proc/meminfo", "MemTotal"), " "); ok {
		n, _ := strconv.ParseInt(kb, 10, 64)
		e.MemoryBytes = n << 10
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		e.Load = strings.Join(strings.Fields(string(b))[:3], " ")
	}
	if runtime.GOOS == "darwin" {
		e.CPU = output(ctx, "sysctl", "-n", "machdep.cpu.brand_string")
		e.MemoryBytes, _ = strconv.ParseInt(output(ctx, "sysctl", "-n", "hw.memsize"), 10, 64)
		e.Kernel = output(ctx, "uname", "-r")
	}
	for _, k := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		e.Proxy = e.Proxy || os.Getenv(k) != ""
	}
	e.GPUs, e.GPUSource = gpus(ctx)
	return e
}

// procValue returns the first value of a key in a file of "key : value" lines.
func procValue(file, key string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func output(ctx context.Context, name string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// gpus asks nvidia-smi, which every driver brings along.
func gpus(ctx context.Context) ([]GPU, string) {
	if _, err := exec.LookPath("nvidia-smi"); err != nil {
		return []GPU{}, "no nvidia-smi on this machine"
	}
	return parseGPUs(output(ctx, "nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem,power.draw,temperature.gpu", "--format=csv,noheader")), "nvidia-smi"
}

// parseGPUs reads nvidia-smi's lines of seven values.
func parseGPUs(text string) []GPU {
	out := []GPU{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), ", ")
		if len(f) == 7 {
			out = append(out, GPU{Name: f[0], Driver: f[1], Memory: f[2], Before: "SM " + f[3] + ", memory " + f[4] + ", " + f[5] + ", " + f[6] + " °C"})
		}
	}
	return out
}

// after notes the GPUs' state at the end.
func (e *Env) after(ctx context.Context) {
	if len(e.GPUs) == 0 {
		return
	}
	now, _ := gpus(ctx)
	for i := range min(len(now), len(e.GPUs)) {
		e.GPUs[i].After = now[i].Before
	}
}

// tool describes this program.
func tool(version string) Tool {
	t := Tool{Name: "glassbox bench", Version: version, Commit: "unknown", Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && s.Value != "" {
				t.Commit = s.Value
			}
		}
	}
	return t
}

// lagMeter watches how late this process wakes up, and whether the wall clock jumps. Time stamps cannot be better than
// the client's own punctuality.
type lagMeter struct {
	mu   sync.Mutex
	late []float64
	jump float64
	stop chan struct{}
	done chan struct{}
}

const lagTick = 5 * time.Millisecond

func startLag() *lagMeter {
	m := &lagMeter{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(m.done)
		for {
			before := time.Now()
			select {
			case <-m.stop:
				return
			case <-time.After(lagTick):
			}
			after := time.Now()
			m.note(after.Sub(before), after.Round(0).Sub(before.Round(0))) // Round strips the monotonic reading
		}
	}()
	return m
}

// note takes what passed on the monotonic and on the wall clock.
func (m *lagMeter) note(mono, wall time.Duration) {
	jump := (wall - mono).Abs().Seconds() * 1000
	m.mu.Lock()
	defer m.mu.Unlock()
	m.jump = max(m.jump, jump)
	if len(m.late) < 1<<20 {
		m.late = append(m.late, (mono-lagTick).Seconds()*1000)
	}
}

// end stops the meter and returns what it saw.
func (m *lagMeter) end() (stats.Dist, float64) {
	close(m.stop)
	<-m.done
	return stats.Describe(m.late), m.jump
}
