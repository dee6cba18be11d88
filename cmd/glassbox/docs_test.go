package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// docCommands finds the commands of this program in the fenced blocks of a page: what stands after its name up to a comment, two
// spaces, or the pipe. Words in quotes are one argument.
func docCommands(page string) (out [][]string) {
	words := regexp.MustCompile(`'[^']*'|"[^"]*"|\$\([^)]*\)|[^\s'"]+`)
	starts := regexp.MustCompile(`^(?:[A-Z_]+=\S+ )?(?:go run \./cmd/glassbox|glassbox)( .*)?$`)
	inside := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			inside = !inside
			continue
		}
		m := starts.FindStringSubmatch(line)
		if !inside || m == nil {
			continue
		}
		rest := regexp.MustCompile(`\s{2,}| [|>&#]`).Split(m[1], 2)[0]
		args := []string{}
		for _, w := range words.FindAllString(rest, -1) {
			args = append(args, strings.ReplaceAll(strings.Trim(w, `'"`), "$(pidof llama-server)", "1"))
		}
		out = append(out, args)
	}
	return out
}

// Every command of the fenced blocks of the README and the documentation is one that the program takes. They are parsed, not run.
func TestCommandsInTheDocsParse(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	seen := 0
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		raw, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, args := range docCommands(string(raw)) {
			var c cli
			parser, err := kong.New(&c, kong.Name("glassbox"))
			require.NoError(t, err)
			_, err = parser.Parse(args)
			require.NoError(t, err, "%s: glassbox %s", filepath.Base(page), strings.Join(args, " "))
			seen++
		}
	}
	require.GreaterOrEqual(t, seen, 30, "commands were no longer found")
}
