//go:build unix

package attach

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func endGroup(c *exec.Cmd, kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-c.Process.Pid, sig) // the group's number is its first process's
}

// groupLives tells whether any process of the group is left.
func groupLives(c *exec.Cmd) bool { return syscall.Kill(-c.Process.Pid, 0) == nil }

func signalZero(p *os.Process) bool { return p.Signal(syscall.Signal(0)) == nil }
