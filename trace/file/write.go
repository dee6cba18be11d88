package file

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Write writes a recording under path: the zip form when path ends in .gbx, the text form when it ends in .json. The
// file is written beside it as PATH.new.part, flushed to the disk and renamed, so that there is never a partial file under the final
// name.
func Write(path string, rec *Recording) (err error) {
	write, err := writerFor(path)
	if err != nil {
		return err
	}
	tmp := path + ".new.part"
	defer func() {
		if err != nil {
			os.Remove(tmp)
			err = fmt.Errorf("recording %s: %w", path, err)
		}
	}()
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 256<<10)
	if err = write(b, rec); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err = os.Rename(tmp, path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// writerFor picks the form by the file's name.
func writerFor(path string) (func(io.Writer, *Recording) error, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		return WriteJSON, nil
	case ".gbx":
		return WriteGBX, nil
	}
	return nil, fmt.Errorf("recording %s: wanted a name ending in .json or .gbx, found %q", path, filepath.Ext(path))
}

// syncDir makes a rename last through a power cut where the system can do that.
func syncDir(dir string) {
	if runtime.GOOS == "windows" {
		return
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
