package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"glassbox/web/room"
)

// workshopFlags are those of a server for a room.
type workshopFlags struct {
	Workshop bool   `help:"Serve a room: a teacher's page with an address and a QR code to join at, and pages that go where the teacher goes. Listens on all addresses unless --addr says otherwise."`
	Notes    string `placeholder:"FILE.md" help:"Where the teacher's notes are kept; by default workshop-notes.md in your configuration folder."`
	Loud     bool   `help:"Accept everybody's prompts in a workshop from the start; the teacher's page opens and closes them too."`
}

// everywhere is where a workshop listens when nothing else is asked for: the pages of a room come from other machines.
const everywhere = "0.0.0.0:8080"

// room returns the workshop, nil when there is none.
func (f *workshopFlags) room() (*room.Room, error) {
	if !f.Workshop {
		if f.Notes != "" || f.Loud {
			return nil, &usageError{"--notes and --loud are for a workshop: add --workshop"}
		}
		return nil, nil
	}
	path := f.Notes
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("the teacher's notes: there is no configuration folder (%w): name a file with --notes", err)
		}
		path = filepath.Join(dir, "glassbox", "workshop-notes.md")
	}
	notes, err := room.OpenNotes(path)
	if err != nil {
		return nil, fmt.Errorf("--notes: %w", err)
	}
	return room.New(room.Config{Notes: notes, Loud: f.Loud}), nil
}

// joinAt lists the addresses of the page that joins, the likeliest to be reached first: those of this machine's networks
// when the server listens on all of them, else the one that it listens on.
func joinAt(l net.Listener) []string {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil
	}
	hosts := []string{at.IP.String()}
	if at.IP.IsUnspecified() {
		hosts = nil
		for _, ip := range networks() {
			hosts = append(hosts, ip.String())
		}
		if len(hosts) == 0 {
			hosts = []string{"127.0.0.1"}
		}
	}
	var out []string
	for _, h := range hosts {
		out = append(out, "http://"+net.JoinHostPort(h, fmt.Sprint(at.Port))+"/join")
	}
	return out
}

// networks are the addresses under which others may reach this machine: private IPv4 first, bridges of containers last.
func networks() []net.IP {
	type found struct {
		ip   net.IP
		rank int
	}
	var all []found
	list, _ := net.Interfaces() // none: the caller has another
	for _, i := range list {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			if !ok || !n.IP.IsGlobalUnicast() {
				continue
			}
			rank := 0
			if n.IP.To4() == nil {
				rank += 4
			}
			if !n.IP.IsPrivate() {
				rank += 2
			}
			for _, bridge := range []string{"docker", "br-", "veth", "virbr", "vboxnet", "vmnet", "cni", "tailscale", "tun", "utun"} {
				if strings.HasPrefix(i.Name, bridge) {
					rank += 8
				}
			}
			all = append(all, found{n.IP, rank})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.rank - b.rank })
	var out []net.IP
	for _, f := range all {
		out = append(out, f.ip)
	}
	return out
}

// reachable is the listener's address as a browser on this machine opens it.
func reachable(l net.Listener) string {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok || !at.IP.IsUnspecified() {
		return l.Addr().String()
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(at.Port))
}

// inRoom puts the workshop's guard before everything the server answers, and tells where to go.
func inRoom(rm *room.Room, l net.Listener, join []string, h http.Handler) http.Handler {
	if rm == nil {
		return h
	}
	fmt.Printf("glassbox: workshop: the teacher opens http://%s/teach#%s\n", reachable(l), rm.Key())
	fmt.Printf("glassbox: workshop: the others join at %s\n", strings.Join(join, " or "))
	return rm.Guard(h)
}
