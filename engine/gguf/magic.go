package gguf

import (
	"fmt"
	"math/bits"
	"strings"
)

// magic reads the magic and the version, and has a clear word for the files that
// are most often taken for a GGUF file.
func (r *reader) magic() (version uint32, err error) {
	if found, do := notGGUF(r.buf); found != "" {
		return 0, r.fail(0, "a GGUF file, which begins with GGUF", found, do)
	}
	r.pos = 4
	if version, err = r.u32("the version"); err != nil {
		return 0, err
	}
	switch {
	case version == 2 || version == 3:
		return version, nil
	case version == 1:
		return 0, r.fail(4, "version 2 or 3", "version 1 (August 2023)", doConvert)
	case version&0xffff == 0 && version != 0:
		return 0, r.fail(4, "a little-endian file", fmt.Sprintf("a big-endian one (version %d)", bits.ReverseBytes32(version)),
			"convert it with gguf_convert_endian.py FILE little")
	case version > 3 && version < 1<<16:
		return 0, r.fail(4, "version 2 or 3", fmt.Sprintf("version %d", version), "use a newer glassbox, or convert the model to version 3")
	}
	return 0, r.fail(4, "version 2 or 3", fmt.Sprintf("%#x", version), doDamaged)
}

// notGGUF says what a file is instead, or "".
func notGGUF(buf string) (found, do string) {
	const get = "give the path of a .gguf file"
	switch start := buf[:min(len(buf), 64)]; {
	case buf == "":
		return "an empty file", "download it again"
	case strings.HasPrefix(start, "GGUF"):
		return "", ""
	case strings.HasPrefix("GGUF", start):
		return fmt.Sprintf("only the %d bytes %q", len(start), start), doAgain
	case strings.HasPrefix(start, "version https://git-lfs"):
		return "a Git LFS pointer", "run git lfs pull to get the file itself"
	case strings.HasPrefix(start, "<") || strings.HasPrefix(start, "\n<"):
		return "a web page", "download the file itself, not its page"
	case strings.HasPrefix(start, "PK\x03\x04"):
		return "a zip archive (a PyTorch checkpoint is one)", "convert it with convert_hf_to_gguf.py"
	case len(start) > 8 && start[8] == '{':
		return "what looks like a safetensors file", "convert the model with convert_hf_to_gguf.py"
	case strings.HasPrefix(start, "lmgg") || strings.HasPrefix(start, "tjgg") || strings.HasPrefix(start, "fmgg") || strings.HasPrefix(start, "algg"):
		return "a GGML file from before GGUF", doConvert
	default:
		return fmt.Sprintf("%q", start[:min(len(start), 4)]), get
	}
}
