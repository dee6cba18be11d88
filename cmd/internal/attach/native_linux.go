package attach

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"glassbox/steps"
)

// native records machine code by uprobes: the kernel writes down when functions are entered and left. It needs root, the
// trace file system, and a program with function names.
type native struct {
	o        *Options
	root     string // of tracefs
	instance string // a trace buffer of our own
	group    string // of our probes
	pids     []int
	probes   map[uint16]probe // by the kernel's number of the event
	names    []string         // of the probes
	missing  []string         // functions of the catalogue that the program does not have
	clock    int64            // wall minus monotonic
}

// probe is what an event means.
type probe struct {
	fn   *function
	end  bool
	node bool // the event carries the name of a node
}

func newNative() recorder { return &native{} }

// kilobytes of the kernel's buffer for each CPU; an event is about 32 bytes.
const bufferKB = 16 << 10

func (n *native) prepare(o *Options, _ *command) error {
	n.o = o
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if _, err := os.Stat(filepath.Join(dir, "uprobe_events")); err == nil {
			n.root = dir
			break
		}
	}
	if n.root == "" {
		return errors.New("no tracefs: wanted /sys/kernel/tracing/uprobe_events: run as root, and if it is empty: mount -t tracefs tracefs /sys/kernel/tracing (the kernel needs CONFIG_UPROBE_EVENTS)")
	}
	f, err := os.OpenFile(filepath.Join(n.root, "uprobe_events"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("tracefs: %w: machine code is recorded by uprobes, which only root may set", err)
	}
	return f.Close()
}

func (n *native) arm(_ context.Context, p *process) error {
	n.pids = p.pids
	if p.cmd != nil {
		n.pids = append(n.pids, p.cmd.Process.Pid)
	}
	wanted := n.o.Catalogue.Symbols()
	files, err := n.files()
	if err != nil {
		return err
	}
	n.group = fmt.Sprintf("glassbox%d", os.Getpid())
	n.instance = filepath.Join(n.root, "instances", n.group)
	if err := os.Mkdir(n.instance, 0o700); err != nil {
		return fmt.Errorf("tracefs: %w", err)
	}
	found := map[string]bool{}
	fns := map[string]*function{}
	var def bytes.Buffer
	var all []probe
	for _, file := range files {
		syms, err := symbolsOf(file)
		if err != nil {
			return err
		}
		for _, s := range syms {
			if !wanted[s.name] || slices.Contains(n.o.Engine.Skip, s.name) {
				continue
			}
			found[s.name] = true
			if fns[s.name] == nil {
				fns[s.name] = &function{name: s.name}
			}
			node := nodeArgument(n.o.Engine.Nodes, s.name)
			fmt.Fprintf(&def, "p:%s/p%d %s:0x%x%s\nr:%s/r%d %s:0x%x\n", n.group, len(all), file, s.offset, node, n.group, len(all), file, s.offset)
			n.names = append(n.names, fmt.Sprintf("p%d", len(all)), fmt.Sprintf("r%d", len(all)))
			all = append(all, probe{fn: fns[s.name], node: node != ""})
		}
	}
	for name := range wanted {
		if !found[name] && !slices.Contains(n.o.Engine.Skip, name) {
			n.missing = append(n.missing, name)
		}
	}
	slices.Sort(n.missing)
	if len(all) == 0 {
		return fmt.Errorf("none of the %d functions of the catalogue is in %v: is this %s, and was it built without link-time optimisation?", len(wanted), files, n.o.Engine.Title)
	}
	return n.enable(def.Bytes(), all)
}

// nodeArgument is what a probe's definition says to read the name of the node, "" for functions that compute none.
func nodeArgument(rules []steps.NodeRule, function string) string {
	registers := map[string][]string{
		"amd64": {"%di", "%si", "%dx", "%cx", "%r8", "%r9"},
		"arm64": {"%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7"},
	}[runtime.GOARCH]
	for _, r := range rules {
		if strings.HasPrefix(function, r.Prefix) && r.Arg <= len(registers) {
			return fmt.Sprintf(" node=+%d(%s):string", r.Offset, registers[r.Arg-1])
		}
	}
	return ""
}

// files are the program and libraries of the engine that are mapped as code.
func (n *native) files() ([]string, error) {
	var out []string
	for _, pid := range n.pids {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if err != nil {
			return nil, fmt.Errorf("process %d: %w: is it the engine's?", pid, err)
		}
		for _, line := range strings.Split(string(maps), "\n") {
			f := strings.Fields(line)
			if len(f) < 6 || !strings.Contains(f[1], "x") || slices.Contains(out, f[5]) {
				continue
			}
			for _, p := range n.o.Engine.Packages {
				if strings.HasPrefix(filepath.Base(f[5]), p) {
					out = append(out, f[5])
					break
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("processes %v have no code from %v: give llama-server itself as the command, and not a script around it, or its number with --pid", n.pids, n.o.Engine.Packages)
	}
	return out, nil
}

// enable sets the probes and begins.
func (n *native) enable(definitions []byte, all []probe) error {
	if err := n.write("", "uprobe_events", string(definitions), os.O_APPEND); err != nil {
		return fmt.Errorf("uprobes: %w", err)
	}
	n.probes = map[uint16]probe{}
	for i, p := range all {
		for _, kind := range []string{"p", "r"} {
			id, err := os.ReadFile(filepath.Join(n.root, "events", n.group, kind+strconv.Itoa(i), "id"))
			if err != nil {
				return fmt.Errorf("uprobes: %w", err)
			}
			v, err := strconv.ParseUint(strings.TrimSpace(string(id)), 10, 16)
			if err != nil {
				return fmt.Errorf("uprobes: number of %s%d: %w", kind, i, err)
			}
			n.probes[uint16(v)] = probe{p.fn, kind == "r", kind == "p" && p.node}
		}
	}
	var tids []string
	for _, tid := range n.tids() {
		tids = append(tids, strconv.Itoa(tid))
	}
	for _, set := range [][2]string{{"trace_clock", "mono"}, {"buffer_size_kb", strconv.Itoa(bufferKB)}, {"set_event_pid", strings.Join(tids, " ")}, {"options/event-fork", "1"}, {"events/" + n.group + "/enable", "1"}} {
		if err := n.write(n.instance, set[0], set[1], os.O_TRUNC); err != nil {
			return fmt.Errorf("tracefs: %s: %w", set[0], err)
		}
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return err
	}
	n.clock = time.Now().UnixNano() - ts.Nano()
	return nil
}

func (n *native) write(dir, name, text string, flag int) error {
	f, err := os.OpenFile(filepath.Join(cmp.Or(dir, n.root), name), os.O_WRONLY|flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	for len(text) > 0 { // the kernel takes at most a page at once, in whole lines
		part := text
		if len(part) > 4000 {
			part = part[:strings.LastIndexByte(part[:4000], '\n')+1]
		}
		if _, err := f.WriteString(part); err != nil {
			return err
		}
		text = text[len(part):]
	}
	return nil
}

// tids are the threads of the processes.
func (n *native) tids() []int {
	var out []int
	for _, pid := range n.pids {
		entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, e := range entries {
			if tid, err := strconv.Atoi(e.Name()); err == nil {
				out = append(out, tid)
			}
		}
	}
	return out
}

func (n *native) stop(ctx context.Context) ([]thread, error) {
	select { // what is done behind the answer
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	names := map[int]string{}
	for _, pid := range n.pids {
		for _, tid := range n.tids() {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, tid))
			if tid == pid {
				comm = []byte("main")
			}
			if len(comm) > 0 {
				names[tid] = strings.TrimSpace(string(comm))
			}
		}
	}
	if err := n.write(n.instance, "events/"+n.group+"/enable", "0", os.O_TRUNC); err != nil {
		return nil, err
	}
	events, err := n.read()
	if err != nil {
		return nil, err
	}
	return n.threads(events, names), nil
}

// read takes the events out of the buffers of all CPUs.
func (n *native) read() ([]probeEvent, error) {
	var events []probeEvent
	pipes, _ := filepath.Glob(filepath.Join(n.instance, "per_cpu", "cpu*", "trace_pipe_raw"))
	for _, name := range pipes {
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		page := make([]byte, os.Getpagesize())
		for {
			size, err := syscall.Read(fd, page)
			if size <= 0 || err != nil {
				break
			}
			lost, err := readPage(page[:size], binary.NativeEndian, func(e probeEvent) {
				if n.probes[e.probe].node {
					e.text = dataText(e.data, binary.NativeEndian)
				}
				e.data = nil // the page is used again
				events = append(events, e)
			})
			if err == nil && lost {
				err = errors.New("the kernel's buffer was too small: ask for a shorter answer")
			}
			if err != nil {
				syscall.Close(fd)
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		syscall.Close(fd)
	}
	slices.SortStableFunc(events, func(a, b probeEvent) int { return cmp.Compare(a.at, b.at) })
	return events, nil
}

// threads turns events into the calls of each thread.
func (n *native) threads(events []probeEvent, names map[int]string) []thread {
	stacks := map[int32]*stack{}
	for _, e := range events {
		p, ok := n.probes[e.probe]
		if !ok {
			continue
		}
		s := stacks[e.tid]
		if s == nil {
			s = &stack{}
			stacks[e.tid] = s
		}
		kind := kindCall
		if p.end {
			kind = kindReturn
		}
		s.event(p.fn, kind, e.at+n.clock)
		if e.text != "" {
			s.calls[len(s.calls)-1].node = e.text
		}
	}
	var out []thread
	for tid, s := range stacks {
		calls := s.end()
		if len(calls) == 0 {
			continue
		}
		t := thread{pid: int(tid), process: n.o.Engine.Name, name: cmp.Or(names[int(tid)], "ended"), calls: calls}
		if t.name != "main" {
			t.name += " " + calls[0].fn.name // threads of a program often share its name
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b thread) int { return cmp.Compare(a.calls[0].start, b.calls[0].start) })
	return out
}

func (n *native) describe() (string, []string) {
	facts := []string{fmt.Sprintf("%d functions probed", len(n.names)/2)}
	if len(n.missing) > 0 {
		facts = append(facts, "not in the program, perhaps inlined: "+strings.Join(n.missing, " "))
	}
	return "uprobes", facts
}

// close takes the probes out again.
func (n *native) close() {
	if n.instance == "" {
		return
	}
	_ = n.write(n.instance, "events/"+n.group+"/enable", "0", os.O_TRUNC)
	_ = os.Remove(n.instance)
	for _, name := range n.names {
		_ = n.write("", "uprobe_events", "-:"+n.group+"/"+name+"\n", os.O_APPEND)
	}
}
