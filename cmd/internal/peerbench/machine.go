package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/stat: USER_HZ, 1/100 s on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// load is a reading of /proc/stat: time that all cores together were busy, stolen by the host included.
type load struct {
	busy  time.Duration
	at    time.Time
	known bool
}

func readLoad() load {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return load{}
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return parseLoad(line, time.Now())
}

// parseLoad reads "cpu user nice system idle iowait irq softirq steal ...".
func parseLoad(line string, now time.Time) load {
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return load{}
	}
	l := load{at: now, known: true}
	for i := 1; i <= 8; i++ {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return load{}
		}
		if i != 4 && i != 5 { // idle, iowait
			l.busy += time.Duration(n) * tick
		}
	}
	return l
}

// others is the share of all cores that went to anything but a child that used own, between two readings.
func (l load) others(end load, own time.Duration) float64 {
	if !l.known || !end.known {
		return -1
	}
	all := end.at.Sub(l.at) * time.Duration(runtime.NumCPU())
	if all <= 0 {
		return -1
	}
	return max(0, float64(end.busy-l.busy-own)/float64(all))
}

// machine says what the figures were measured on.
func machine() string {
	model, flags := "unknown processor", ""
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		model, flags = parseCPU(bufio.NewScanner(f))
		f.Close()
	}
	s := fmt.Sprintf("%s, %d cores, %s/%s", model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if flags != "" {
		s += ", " + flags
	}
	return s
}

// parseCPU takes the model and those features that matter to matrix code.
func parseCPU(lines *bufio.Scanner) (model, features string) {
	model = "unknown processor"
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.TrimSpace(key) {
		case "model name", "Model":
			model = strings.TrimSpace(value)
		case "flags", "Features":
			var have []string
			for _, f := range strings.Fields(value) {
				switch f {
				case "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
					"avx512_fp16", "amx_tile", "amx_int8", "asimd", "asimddp", "i8mm", "bf16", "sve", "sve2":
					have = append(have, f)
				}
			}
			return model, strings.Join(have, " ")
		}
	}
	return model, ""
}
