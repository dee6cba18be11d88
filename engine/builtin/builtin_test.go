package builtin

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModelIsTheFileOfOriginMd(t *testing.T) {
	require.Len(t, Model(), 98_362_432)
	sum := sha256.Sum256(Model())
	require.Equal(t, SHA256, hex.EncodeToString(sum[:]))
}
