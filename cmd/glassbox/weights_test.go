package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"glassbox/engine/graph"
	"glassbox/engine/tensor"
	"glassbox/trace/file"
	"glassbox/web"
	"glassbox/web/live"

	"github.com/stretchr/testify/require"
)

// weightsOf opens the model in the binary and returns its weights behind the pages' routes.
func weightsOf(t *testing.T) (*weights, *httptest.Server) {
	f := engineFlags{Model: "builtin", Backend: "cpu", Threads: 1}
	o, err := f.open()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.close()) })
	w := newWeights(o.tensors(), o.engine.Weights())
	return w, serveWeights(t, w)
}

func serveWeights(t *testing.T, w web.Weights) *httptest.Server {
	store, err := file.NewStore(file.StoreOptions{})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	s := httptest.NewServer(web.New(web.Config{Store: store, Hub: live.New(live.Config{}), Weights: w}))
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, s *httptest.Server, path string, status int) []byte {
	res, err := http.Get(s.URL + path)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, status, res.StatusCode, "%s: %s", path, raw)
	return raw
}

func TestWeightsInReadingOrder(t *testing.T) {
	_, s := weightsOf(t)
	var got struct{ Tensors []file.ModelTensor }
	require.NoError(t, json.Unmarshal(get(t, s, "/api/weights", 200), &got))
	// embedding; 9 of each of 30 layers, 2 of them norms; the last norm and the head
	require.Len(t, got.Tensors, 1+30*9+2)
	require.Equal(t, file.ModelTensor{Op: "embed", Layer: -1, Name: "token_embd.weight", Type: "Q8_0", Rows: 49152, Cols: 576, Bytes: 49152 * 18 * 34}, got.Tensors[0])
	require.Equal(t, file.ModelTensor{Op: "ffn_gate", Layer: 17, Name: "blk.17.ffn_gate.weight", Type: "Q4_1", Rows: 1536, Cols: 576, Bytes: 1536 * 18 * 20}, got.Tensors[1+17*9+6])
	last := got.Tensors[len(got.Tensors)-1]
	require.Equal(t, []any{"lm_head", "token_embd.weight"}, []any{last.Op, last.Name})
}

// A block says the same as the row it is cut from, and as its own parts by its own formula.
func TestBlocksAreOfTheirRows(t *testing.T) {
	w, s := weightsOf(t)
	for _, c := range []struct {
		name       string
		row, block int
	}{{"blk.17.ffn_gate.weight", 412, 4}, {"token_embd.weight", 49151, 17}, {"blk.0.attn_norm.weight", 0, 17}} {
		path := "/api/weights/" + c.name
		var b web.WeightBlock
		require.NoError(t, json.Unmarshal(replaceBytes(get(t, s, path+"/block?row="+itoa(c.row)+"&block="+itoa(c.block), 200), &b), &b))
		raw := get(t, s, path+"/row?r="+itoa(c.row), 200)
		require.Len(t, raw, 4*w.byName[c.name].Cols)
		require.Equal(t, 32*c.block, b.First)
		for i, v := range b.Values {
			require.Equal(t, binary.LittleEndian.Uint32(raw[4*(b.First+i):]), math.Float32bits(v))
			if b.Codes != nil {
				x := b.Scale[i/b.Group] * float32(b.Codes[i]-b.Zero)
				if b.Min != nil {
					x = float32(x) + b.Min[i/b.Group]
				}
				require.Equal(t, v, x)
			}
		}
	}
}

// replaceBytes takes the hexadecimal bytes out, which decode into no []byte, and checks that they are as long as the parts.
func replaceBytes(raw []byte, _ *web.WeightBlock) []byte {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	n := 0.0
	for _, p := range m["parts"].([]any) {
		n += p.(map[string]any)["bytes"].(float64)
	}
	if len(m["bytes"].(string)) != 2*int(n) {
		return nil
	}
	delete(m, "bytes")
	out, _ := json.Marshal(m)
	return out
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// Down-sampling is honest: one large weight is the level of its pixel wherever it stands, and means are means.
func TestImagesKeepEveryWeight(t *testing.T) {
	const rows, cols = 37, 50
	v := make([]float32, rows*cols)
	for i := range v {
		v[i] = 0.25
	}
	v[23*cols+41] = -4
	data := make([]byte, 4*len(v))
	require.NoError(t, tensor.Quantize(tensor.F32, data, v))
	w := &weights{byName: map[string]*graph.Weight{"a": {Name: "a", Type: tensor.F32, Rows: rows, Cols: cols, Data: data}}}
	s := serveWeights(t, w)
	var m struct {
		Width, Height, Rows, Cols int
		Top                       float32
		Levels                    string
	}
	decode := func(path string) []byte {
		require.NoError(t, json.Unmarshal(get(t, s, path, 200), &m))
		raw, err := base64.StdEncoding.DecodeString(m.Levels)
		require.NoError(t, err)
		require.Len(t, raw, m.Width*m.Height)
		return raw
	}
	px := decode("/api/weights/a/image?width=7&height=5")
	require.Equal(t, []int{7, 5, rows, cols}, []int{m.Width, m.Height, m.Rows, m.Cols})
	require.Equal(t, float32(4), m.Top)
	for y := range 5 {
		for x := range 7 {
			here := y*rows/5 <= 23 && 23 < (y+1)*rows/5 && x*cols/7 <= 41 && 41 < (x+1)*cols/7
			want := uint8(16) // 0.25 of 4 in 255 levels
			if here {
				want = 255
			}
			require.Equal(t, want, px[y*7+x])
		}
	}
	px = decode("/api/weights/a/image?width=1&height=1&kind=mean&row=23&rows=1&col=40&cols=2")
	require.Equal(t, float32(1.875), m.Top) // (0.25 - 4) / 2, the largest there is
	require.Equal(t, []byte{1}, px)
	px = decode("/api/weights/a/image?width=999&height=999") // no more pixels than weights
	require.Equal(t, []int{cols, rows}, []int{m.Width, m.Height})
	require.Equal(t, uint8(255), px[23*cols+41])
}

func TestWeightRefusals(t *testing.T) {
	_, s := weightsOf(t)
	for path, status := range map[string]int{
		"/api/weights/nothing/row":                                              404,
		"/api/weights/output_norm.weight/row?r=1":                               400,
		"/api/weights/output_norm.weight/row?r=-1":                              400,
		"/api/weights/output_norm.weight/row?r=x":                               400,
		"/api/weights/output_norm.weight/block?block=18":                        400,
		"/api/weights/output_norm.weight/image?width=0":                         400,
		"/api/weights/output_norm.weight/image?height=2000":                     400,
		"/api/weights/output_norm.weight/image?kind=colour":                     400,
		"/api/weights/output_norm.weight/image?col=570&cols=7":                  400,
		"/api/weights/blk.0.ffn_up.weight/image?row=9223372036854775807":        400,
		"/api/weights/blk.0.ffn_up.weight/image?rows=9223372036854775807":       400,
		"/api/weights/blk.0.ffn_up.weight/block?block=4611686018427387904":      400,
		"/api/weights/blk.0.ffn_up.weight/image?row=1&rows=9223372036854775807": 400,
	} {
		var e struct {
			Error struct{ Message, Code string }
		}
		require.NoError(t, json.Unmarshal(get(t, s, path, status), &e))
		require.NotEmpty(t, e.Error.Message)
		require.NotEmpty(t, e.Error.Code)
	}
	require.Contains(t, string(get(t, serveWeights(t, nil), "/api/weights", 404)), "no model file open")
}
