//go:build !windows

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder is a release whose binaries are small scripts.
func folder(t *testing.T) string {
	dir := t.TempDir()
	for _, name := range []string{"linux-amd64", "linux-arm64", "darwin-arm64", "windows-amd64.exe"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "glassbox-"+name), []byte("#!/bin/sh\necho I am "+name+"\n"), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "install.sh"), script, 0o755))
	require.NoError(t, sums(dir))
	return dir
}

// install runs the script as the given machine.
func install(t *testing.T, dir, machine string, args ...string) (to, said string, err error) {
	to = filepath.Join(t.TempDir(), "my bin")
	c := exec.Command("sh", append([]string{filepath.Join(dir, "install.sh"), "--to", to}, args...)...)
	goos, arch, _ := strings.Cut(machine, "/")
	c.Env = append(os.Environ(), "GLASSBOX_OS="+goos, "GLASSBOX_ARCH="+arch)
	out, err := c.CombinedOutput()
	return to, string(out), err
}

func nothing(t *testing.T, to string) {
	for _, name := range []string{"glassbox", "glassbox.exe"} {
		_, err := os.Stat(filepath.Join(to, name))
		require.ErrorIs(t, err, os.ErrNotExist, "nothing may be installed")
	}
}

func TestScriptInstallsTheBinaryOfThisMachine(t *testing.T) {
	dir := folder(t)
	for machine, name := range map[string]string{"Linux/x86_64": "linux-amd64", "Linux/aarch64": "linux-arm64", "Darwin/arm64": "darwin-arm64"} {
		to, said, err := install(t, dir, machine)
		require.NoError(t, err, said)
		out, err := exec.Command(filepath.Join(to, "glassbox")).Output()
		require.NoError(t, err)
		require.Equal(t, "I am "+name+"\n", string(out))
		left, err := os.ReadDir(to)
		require.NoError(t, err)
		require.Len(t, left, 1, "nothing else lies there")
	}
	to, said, err := install(t, dir, "MINGW64_NT-10.0/x86_64")
	require.NoError(t, err, said)
	require.FileExists(t, filepath.Join(to, "glassbox.exe"))
}

func TestScriptRefusesWhatIsNotListedOrDamaged(t *testing.T) {
	change := func(name string, f func(string) string) string {
		dir := folder(t)
		raw, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(f(string(raw))), 0o644))
		return dir
	}
	without := folder(t)
	require.NoError(t, os.Remove(filepath.Join(without, "SHA256SUMS")))
	for _, c := range []struct{ dir, machine, said string }{
		{change("glassbox-linux-amd64", func(s string) string { return s + "#" }), "Linux/x86_64", "is damaged"},
		{change("SHA256SUMS", func(s string) string { return strings.ReplaceAll(s, "glassbox-linux-amd64", "other") }), "Linux/x86_64", "does not list"},
		{change("SHA256SUMS", func(s string) string { return s + s }), "Linux/x86_64", "there are two"},
		{change("SHA256SUMS", func(string) string { return "zz  glassbox-linux-amd64\n" }), "Linux/x86_64", "is no checksum"},
		{without, "Linux/x86_64", "SHA256SUMS is not there"},
		{folder(t), "Plan9/x86_64", "no binary for the system Plan9"},
		{folder(t), "Linux/riscv64", "no binary for the processor riscv64"},
		{folder(t), "Darwin/x86_64", "glassbox-darwin-amd64 is not there"},
	} {
		to, said, err := install(t, c.dir, c.machine)
		require.Error(t, err, c.said)
		require.Contains(t, said, c.said)
		nothing(t, to)
	}
	_, said, err := install(t, folder(t), "Linux/x86_64", "--wrong")
	require.Contains(t, said, "wanted --from")
	require.Equal(t, 2, err.(*exec.ExitError).ExitCode())
}

func TestScriptFetchesFromAnAddress(t *testing.T) {
	dir := folder(t)
	srv := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer srv.Close()
	to, said, err := install(t, dir, "Linux/x86_64", "--from", srv.URL)
	if err != nil && strings.Contains(said, "neither curl nor wget") {
		nothing(t, to)
		return
	}
	require.NoError(t, err, said)
	require.FileExists(t, filepath.Join(to, "glassbox"))
	require.NoError(t, os.Remove(filepath.Join(dir, "glassbox-linux-amd64")))
	to, said, err = install(t, dir, "Linux/x86_64", "--from", srv.URL)
	require.Error(t, err)
	require.Contains(t, said, "could not be fetched")
	nothing(t, to)
}

// A release of this small program itself, which builds in no time: it is whole, its sums are right, and it can be made again.
func TestReleaseIsWholeAndTheSameAgain(t *testing.T) {
	out := filepath.Join(t.TempDir(), "release")
	here := []string{runtime.GOOS + "/" + runtime.GOARCH} // the others are built by make cross
	require.NoError(t, run(out, ".", here))
	list := func() map[string]string {
		raw, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
		require.NoError(t, err)
		by := map[string]string{}
		for line := range strings.Lines(string(raw)) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			by[name] = sum
		}
		return by
	}
	first := list()
	require.Len(t, first, 2)
	require.Contains(t, first, "install.sh")
	require.NoDirExists(t, out+".part")
	require.NoError(t, run(out, ".", here))
	require.Equal(t, first, list(), "the same sources give the same bytes")
	require.ErrorContains(t, run(out, ".", []string{"linux"}), "linux/amd64")
	require.Equal(t, first, list(), "a release that fails leaves the one before")
}
