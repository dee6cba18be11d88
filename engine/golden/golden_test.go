package golden

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func load(t *testing.T) *Set {
	t.Helper()
	s, err := Load()
	require.NoError(t, err)
	return s
}

func TestTheDataIsAboutTheFileThatShips(t *testing.T) {
	s := load(t)
	data, err := os.ReadFile("../builtin/" + s.Model.File)
	require.NoError(t, err)
	sum := sha256.Sum256(data)
	require.Equal(t, s.Model.SHA256, hex.EncodeToString(sum[:]))
}

func TestEveryPromptIsWhole(t *testing.T) {
	s := load(t)
	require.Len(t, s.Prompts, 8)
	require.Equal(t, 64, s.AnswerTokens)
	for _, p := range s.Prompts {
		n := len(p.PromptIDs)
		require.Len(t, p.Positions, n, p.Name)
		require.Len(t, p.Answers, 64, p.Name)
		require.Len(t, p.Forced(), n+63, p.Name)
		require.Len(t, p.Full, 3, p.Name)
		require.Equal(t, p.Positions[n-1].Top, p.Answers[0].Top, p.Name)
		require.Equal(t, p.Name == s.Traced, p.Residuals != nil, p.Name)
		for k, r := range p.Answers {
			require.Equal(t, p.AnswerIDs[k], r.TopIDs[0], "%s: the answer is greedy, word %d", p.Name, k)
		}
		require.Less(t, p.Float32ToFloat64.MaxAbs, 2e-4, "float32 itself stays well inside a bound of 1e-3")
		require.True(t, p.SameWordsInFloat64, p.Name)
	}
	long := s.Prompt("long")
	require.Greater(t, len(long.PromptIDs), 300)
	require.Nil(t, s.Prompt("no such prompt"))
}

// The known figures of the first prompt, as literals: they do not move unless the file or the reference does.
func TestSky(t *testing.T) {
	p := load(t).Prompt("sky")
	require.Len(t, p.PromptIDs, 36)
	require.Equal(t, []int32{1, 9690, 198, 2683}, p.PromptIDs[:4])
	require.Equal(t, []int32{520, 9531, 198}, p.PromptIDs[33:])
	require.InDelta(t, 31.007, p.Answers[0].Top[0], 5e-4)
	require.InDelta(t, 26.841, p.Answers[0].Top[1], 5e-4)
	require.True(t, strings.HasPrefix(p.Answer, "The answer to this question lies in the intricate dance of light and color. "+
		"The sky appears blue because of a phenomenon known as Rayleigh scattering."), p.Answer)
	require.Len(t, p.Residuals.Norm, 31)
	for l := 0; l <= 30; l++ {
		last := p.Residuals.Last[l]
		require.InDelta(t, p.Residuals.Norm[l][35], norm(last), 1e-5*norm(last), "layer %d", l)
		if l < 30 {
			require.InDelta(t, p.Residuals.MidNorm[l][35], norm(p.Residuals.MidLast[l]), 1e-5*norm(p.Residuals.MidLast[l]))
		}
	}
}

// llama.cpp and the reference were asked in different ways by different programs; where they agree the data is sound.
func TestTheWitnessAgrees(t *testing.T) {
	s := load(t)
	require.InDelta(t, 0.10, s.WitnessDistance, 0.02)
	for _, p := range s.Prompts {
		w := p.Witness
		require.NotNil(t, w, p.Name)
		require.Equal(t, p.PromptIDs, w.TokenizeIDs, "%s: the same ids of the same text", p.Name)
		sum, count := 0.0, 0
		for k, word := range w.ForcedIDs {
			r := p.Answers[k]
			if word != r.TopIDs[0] {
				t.Logf("%s, word %d: llama.cpp would say %d, the reference %d with a lead of %.3f", p.Name, k, word, r.TopIDs[0], r.Margin())
				require.Less(t, r.Margin(), 0.3, "where the reference is sure, llama.cpp says the same")
			}
			for i, id := range w.TopIDs[k] {
				for j, ref := range r.TopIDs {
					if ref == id {
						sum, count = sum+math.Abs(float64(r.Top[j]-r.LSE-w.TopLogprobs[k][i])), count+1
					}
				}
			}
		}
		require.Greater(t, count, 250, p.Name)
		require.InDelta(t, w.Distance, sum/float64(count), 1e-4, "%s: the figure in the file follows from the data", p.Name)
	}
}

// A row that is kept in full must give the summaries that are kept for it; this also ties Go's sketch to the generator's.
func TestSummariesFollowFromFullRows(t *testing.T) {
	s := load(t)
	for _, p := range s.Prompts {
		for _, f := range p.Full {
			n := len(p.PromptIDs)
			rows := []*Row{}
			if f.Position < n {
				rows = append(rows, &p.Positions[f.Position])
			}
			if f.Position >= n-1 {
				rows = append(rows, &p.Answers[f.Position-n+1])
			}
			require.NotEmpty(t, rows)
			for _, r := range rows {
				d, err := s.Compare(r, f.Logits)
				require.NoError(t, err)
				require.True(t, d.Same)
				require.Zero(t, d.MaxAbs, "%s %d", p.Name, f.Position)
				require.Less(t, d.LSE, 1e-5)
				require.Less(t, d.L2, 1e-3)
				require.Less(t, d.KL, 1e-5)
				require.Less(t, d.Logprob, 1e-5)
				require.InDelta(t, 1, d.Cosine, 1e-6)
				if r.Sketch != nil {
					require.Less(t, d.RMS, 2e-6)
				}
			}
		}
	}
}

func TestADamagedFileSaysWhere(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name, content string) {
		w, err := z.Create(name + ".npy")
		require.NoError(t, err)
		_, err = w.Write([]byte(content))
		require.NoError(t, err)
	}
	head := "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
	put("good", "\x93NUMPY\x01\x00"+string(rune(len(head)))+"\x00"+head+"\x00\x00\x80\x3f\x00\x00\x00\xc0")
	put("short", "\x93NUMPY\x01\x00"+string(rune(len(head)))+"\x00"+head+"\x00\x00\x80\x3f")
	put("cut", "\x93NUMPY\x01\x00\xff\x00{")
	put("other", "not an array")
	require.NoError(t, z.Close())
	a, err := readNPZ("x.npz", b.Bytes())
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1, -2}}, a.floats("good", 1, 2))
	require.NoError(t, a.err)
	for name, want := range map[string]string{"short": "wanted 8 bytes, found 4", "cut": "header cut short", "other": "no NumPy", "none": "missing"} {
		a.err = nil
		a.floats(name, 1, 2)
		require.ErrorContains(t, a.err, "x.npz: array "+name+": "+want)
	}
	a.err = nil
	a.ints("good", 1, 2)
	require.ErrorContains(t, a.err, "'<i4'")
	_, err = readNPZ("x.npz", []byte("no zip"))
	require.ErrorContains(t, err, "x.npz")
}
