// Command release builds what is handed out: a static binary for each platform, their checksums, and a script that installs
// one after it has compared its checksum.
//
//	go run ./cmd/internal/release -o out/release linux/amd64 darwin/arm64 ...
//
// The binaries do not depend on where or when they are built: the same commit and Go release give the same bytes.
//
// It does not know about what is in a binary.
package main

import (
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed install.sh
var script []byte

func main() {
	out := flag.String("o", "out/release", "the folder to fill; what is in it already is removed")
	pkg := flag.String("package", "./cmd/glassbox", "what to build")
	flag.Parse()
	if err := run(*out, *pkg, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run fills a folder beside the final one and renames it when it is whole.
func run(out, pkg string, platforms []string) error {
	if len(platforms) == 0 {
		return fmt.Errorf("wanted platforms such as linux/amd64, found none")
	}
	part := out + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := os.MkdirAll(part, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(part)
	for _, p := range platforms {
		name, err := build(part, pkg, p)
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(part, name))
		if err != nil {
			return err
		}
		fmt.Printf("%-28s %6.1f MB\n", name, float64(info.Size())/1e6)
	}
	if err := os.WriteFile(filepath.Join(part, "install.sh"), script, 0o755); err != nil {
		return err
	}
	if err := sums(part); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(part, out)
}

// build makes the binary of one platform, without cgo and without paths of this machine, and returns its name.
func build(dir, pkg, platform string) (string, error) {
	goos, arch, ok := strings.Cut(platform, "/")
	if !ok || goos == "" || arch == "" {
		return "", fmt.Errorf("%q: wanted a platform such as linux/amd64", platform)
	}
	name := "glassbox-" + goos + "-" + arch
	if goos == "windows" {
		name += ".exe"
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), pkg)
	c.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", platform, err)
	}
	return name, nil
}

// sums writes SHA256SUMS over all files of a folder, in the form that sha256sum -c reads.
func sums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", h.Sum(nil), e.Name()))
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
