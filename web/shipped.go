package web

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"

	"glassbox/trace/file"
	"glassbox/web/view"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// firstShipped is the recording that the first page draws, when it ships.
const firstShipped = "why-is-the-sky-blue"

// shipped are the recordings inside the binary, recordings/NAME.gbx. Their id is their name.
type shipped struct {
	fs   fs.FS
	mu   sync.Mutex
	open map[string]*shippedFile
}

// shippedFile is one of them. Its bytes are there from the start; it is decoded when a page needs more than the bytes.
type shippedFile struct {
	name    string
	raw     []byte
	hash    string
	trace   *zip.File // trace.json inside
	decode  func() (*file.Recording, error)
	summary func() (file.Summary, error)
	home    func() view.Home // the first page's cards; empty when it cannot be decoded
}

// names lists the ids, the one of the first page first.
func (s *shipped) names() []string {
	entries, err := fs.ReadDir(s.fs, "recordings")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".gbx"); ok && file.ValidID(id) {
			out = append(out, id)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i] == firstShipped && out[j] != firstShipped })
	return out
}

// get returns a recording's file, nil when none of this name ships.
func (s *shipped) get(id string) *shippedFile {
	if !file.ValidID(id) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[id]; f != nil {
		return f
	}
	f, err := openShipped(s.fs, id)
	if err != nil {
		return nil
	}
	if s.open == nil {
		s.open = map[string]*shippedFile{}
	}
	s.open[id] = f
	return f
}

// size is how many bytes the file of a recording has, 0 when none of this name ships.
func (s *shipped) size(id string) int {
	if f := s.get(id); f != nil {
		return len(f.raw)
	}
	return 0
}

func openShipped(files fs.FS, id string) (*shippedFile, error) {
	raw, err := fs.ReadFile(files, path.Join("recordings", id+".gbx"))
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("recordings/%s.gbx: %w", id, err)
	}
	f := &shippedFile{name: id, raw: raw}
	for _, m := range z.File {
		if m.Name == "trace.json" {
			f.trace = m
		}
	}
	if f.trace == nil {
		return nil, fmt.Errorf("recordings/%s.gbx: there is no trace.json in it", id)
	}
	sum := sha256.Sum256(raw)
	f.hash = hex.EncodeToString(sum[:8])
	f.decode = sync.OnceValues(func() (*file.Recording, error) {
		rec, err := file.ReadFrom(bytes.NewReader(raw), int64(len(raw)), file.DefaultLimits)
		if err != nil {
			return nil, fmt.Errorf("recordings/%s.gbx: %w", id, err)
		}
		rec.ID = id
		return rec, nil
	})
	f.summary = sync.OnceValues(func() (file.Summary, error) {
		head, err := f.head()
		if err != nil {
			return file.Summary{}, fmt.Errorf("recordings/%s.gbx: %s: %w", id, f.trace.Name, err)
		}
		sum := file.Summarize(head)
		sum.ID, sum.Bytes = id, int64(len(raw))
		return sum, nil
	})
	f.home = sync.OnceValue(func() view.Home {
		rec, _ := f.decode() // nil when it fails, which makes no cards
		return view.HomeOf(rec)
	})
	return f, nil
}

// head reads what a list shows: of a recording of another engine that is a thousandth of it.
func (f *shippedFile) head() (*file.Recording, error) {
	r, err := f.trace.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return file.ReadHead(r)
}

// json is trace.json as it lies in the zip. Its compressed bytes are a gzip stream but for the frame, which costs
// nothing to put around them (RFC 1952): nothing is compressed or decompressed for a browser.
func (f *shippedFile) json() payload {
	p := payload{tag: `"` + f.hash + `"`, size: int64(f.trace.UncompressedSize64), open: f.trace.Open}
	deflated, err := f.trace.OpenRaw()
	if err != nil || f.trace.Method != zip.Deflate {
		return p
	}
	head := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255} // no name, no time, unknown system
	tail := binary.LittleEndian.AppendUint32(nil, f.trace.CRC32)
	tail = binary.LittleEndian.AppendUint32(tail, uint32(f.trace.UncompressedSize64))
	p.gz = []io.Reader{bytes.NewReader(head), deflated, bytes.NewReader(tail)}
	p.gzSize = int64(len(head)+len(tail)) + int64(f.trace.CompressedSize64)
	return p
}
