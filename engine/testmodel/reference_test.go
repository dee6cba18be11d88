package testmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/engine/gguf"
	"glassbox/engine/golden"
	"glassbox/engine/token"
)

// write makes the files for engine/golden/tiny_witness.py: go test ./engine/testmodel -args -write FOLDER
var write = flag.String("write", "", "folder that the tiny models' files are written into")

func TestTheTinyFilesAreThoseThatLlamaCppRead(t *testing.T) {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	require.Len(t, models, 5)
	for _, g := range models {
		data := Reference(t, g)
		if *write != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*write, g.Name+".gguf"), data, 0o666))
			continue
		}
		require.NotNil(t, g.Witness, g.Name)
		sum := sha256.Sum256(data)
		require.Equal(t, g.Witness.SHA256, hex.EncodeToString(sum[:]), "%s: another file than llama.cpp read: write them and run tiny_witness.py", g.Name)
	}
}

func TestTheTinyFilesHaveVocabulariesOfTheirKind(t *testing.T) {
	models, err := golden.LoadTiny()
	require.NoError(t, err)
	for _, g := range models {
		f, err := gguf.Parse(g.Name, Reference(t, g))
		require.NoError(t, err)
		tok, err := token.FromGGUF(f)
		require.NoError(t, err)
		require.Equal(t, golden.TinyVocab, tok.Size())
		ids := tok.Encode("hello world, é", token.Options{AddSpecial: true})
		if g.Arch == "gemma3" {
			// No space is put in front; spaces become part of a piece, and bytes without a piece tokens of their own.
			require.Equal(t, []int{2, tok32(tok, "hello"), tok32(tok, "▁"), tok32(tok, "world"), tok32(tok, "<0x2C>"), tok32(tok, "▁"), tok32(tok, "<0xC3>"), tok32(tok, "<0xA9>")}, ids)
		}
		text, err := tok.Decode(ids)
		require.NoError(t, err)
		require.Contains(t, text, "hello world, é")
	}
}

func tok32(tok *token.Tokenizer, text string) int {
	id, _ := tok.ID(text)
	return id
}
