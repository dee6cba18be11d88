package room

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Bounds of the notes.
const (
	maxNote  = 8 << 10 // bytes of one
	maxNotes = 1000
	maxFile  = 2 << 20 // bytes of the file
)

// Notes are what the teacher wrote down for steps, in a Markdown file that people can edit too: a heading of level two with
// the id of the step, and the text below it. What stands before the first heading is kept as it is.
type Notes struct {
	mu   sync.Mutex
	path string
}

// OpenNotes reads the file once, so that a damaged one is told at the start; a file that is not there is made by the first note.
func OpenNotes(path string) (*Notes, error) {
	n := &Notes{path: path}
	_, err := n.All()
	return n, err
}

var stepID = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// All are the notes by step. The file is read each time: it may have been edited meanwhile.
func (n *Notes) All() (map[string]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, out, err := n.read()
	return out, err
}

// Set keeps the note of a step; an empty text removes it. The file is replaced as a whole.
func (n *Notes) Set(step, text string) error {
	if !stepID.MatchString(step) {
		return fmt.Errorf("step: wanted an id such as attn_q, found %.40q", step)
	}
	if len(text) > maxNote {
		return fmt.Errorf("a note has at most %d bytes, this one %d", maxNote, len(text))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	head, all, err := n.read()
	if err != nil {
		return err
	}
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"))
	if text == "" {
		delete(all, step)
	} else if all[step] = text; len(all) > maxNotes {
		return fmt.Errorf("there are %d notes already; remove some from %s", maxNotes, n.path)
	}
	return n.write(head, all)
}

// read returns what stands before the first heading, and the notes. The notes are locked.
func (n *Notes) read() (head string, notes map[string]string, err error) {
	notes = map[string]string{}
	info, err := os.Stat(n.path)
	if errors.Is(err, os.ErrNotExist) {
		return "# Notes for a workshop\n", notes, nil
	}
	if err == nil && info.Size() > maxFile {
		err = fmt.Errorf("%s: wanted notes of at most %d bytes, found %d", n.path, maxFile, info.Size())
	}
	if err != nil {
		return "", nil, err
	}
	raw, err := os.ReadFile(n.path)
	if err != nil {
		return "", nil, err
	}
	step, lines := "", []string{}
	end := func() {
		text := strings.TrimSpace(strings.Join(lines, "\n"))
		if step == "" {
			head = text + "\n"
		} else if text != "" {
			notes[step] = text
		}
		lines = nil
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		id, isHead := strings.CutPrefix(line, "## ")
		if id = strings.TrimSpace(id); isHead && stepID.MatchString(id) {
			end()
			step = id
			continue
		}
		lines = append(lines, strings.TrimPrefix(line, `\`))
	}
	end()
	return head, notes, nil
}

// write replaces the file: a reader, or a power cut, finds the old one or the new one. The notes are locked.
func (n *Notes) write(head string, notes map[string]string) error {
	var b strings.Builder
	b.WriteString(head)
	steps := make([]string, 0, len(notes))
	for s := range notes {
		steps = append(steps, s)
	}
	slices.Sort(steps)
	for _, s := range steps {
		fmt.Fprintf(&b, "\n## %s\n\n", s)
		for line := range strings.Lines(notes[s] + "\n") {
			if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, `\`) { // it would be read as a heading, or lose its first sign
				b.WriteByte('\\')
			}
			b.WriteString(line)
		}
	}
	if err := os.MkdirAll(filepath.Dir(n.path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(n.path), ".notes-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(b.String()); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), n.path)
}
