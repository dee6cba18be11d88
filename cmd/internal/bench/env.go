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

// GPU is a device of this machine as its driver describes it. 0 and nil = the driver does not say.
type GPU struct {
	Name      string   `json:"name"`
	Driver    string   `json:"driver"`
	MemoryMB  float64  `json:"memory_mib,omitempty"`
	MaxSMMHz  float64  `json:"max_sm_clock_mhz,omitempty"`
	Before    GPUState `json:"at_start"`
	After     GPUState `json:"at_end"`              // right after the last request
	Lowest    *float64 `json:"lowest_sm_clock_mhz"` // seen while requests ran and kernels with them, every few seconds
	Warmest   *float64 `json:"highest_temperature_c"`
	Hungriest *float64 `json:"highest_power_w"`
	Samples   int      `json:"samples"` // of the three above
}

// GPUState is what changes while a device works.
type GPUState struct {
	SMMHz     *float64 `json:"sm_clock_mhz"`
	MemoryMHz *float64 `json:"memory_clock_mhz"`
	PowerW    *float64 `json:"power_w"`
	TempC     *float64 `json:"temperature_c"`
	UsedMB    *float64 `json:"memory_used_mib"`
	Busy      *float64 `json:"busy_percent"`
}

// machine looks at this machine; ask lists its GPUs, their state as Before.
func machine(ctx context.Context, ask func(context.Context) ([]GPU, string)) Env {
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
	e.GPUSource = "not asked"
	if ask != nil {
		var found []GPU
		found, e.GPUSource = ask(ctx)
		e.GPUs = append(e.GPUs, found...)
	}
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

// gpuEvery is how often GPUs are asked while requests run: asking costs nvidia-smi a few ten milliseconds of a core.
const gpuEvery = 10 * time.Second

// watchGPUs looks at the GPUs' state until the returned function is called, which looks a last time. Where there is none, it does nothing.
func watchGPUs(ctx context.Context, e *Env, ask func(context.Context) ([]GPU, string), every time.Duration) (stop func(context.Context)) {
	if len(e.GPUs) == 0 {
		return func(context.Context) {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			now, _ := ask(ctx)
			for i := range min(len(now), len(e.GPUs)) {
				e.GPUs[i].note(now[i].Before)
			}
		}
	}()
	return func(last context.Context) {
		cancel()
		<-done
		now, _ := ask(last)
		for i := range min(len(now), len(e.GPUs)) {
			e.GPUs[i].After = now[i].Before
		}
	}
}

// note takes a state into the extremes. A clock counts only while kernels run: an idle device lowers it.
func (g *GPU) note(s GPUState) {
	g.Samples++
	if s.Busy == nil || *s.Busy > 0 {
		g.Lowest = extreme(g.Lowest, s.SMMHz, func(a, b float64) float64 { return min(a, b) })
	}
	g.Warmest = extreme(g.Warmest, s.TempC, func(a, b float64) float64 { return max(a, b) })
	g.Hungriest = extreme(g.Hungriest, s.PowerW, func(a, b float64) float64 { return max(a, b) })
}

func extreme(old, now *float64, of func(a, b float64) float64) *float64 {
	if old == nil || now == nil {
		if now == nil {
			return old
		}
		return now
	}
	x := of(*old, *now)
	return &x
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
