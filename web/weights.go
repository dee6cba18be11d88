package web

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"math"
	"net/http"
	"strconv"

	"glassbox/trace/file"
)

// Weights is the model file that the server has open, for the tape to look into. A name of no tensor gives
// ErrUnknownTensor; rows, blocks and regions outside a tensor give a *RangeError.
type Weights interface {
	// Tensors lists the weights in the order in which a pass reads them.
	Tensors() []file.ModelTensor
	// Block takes one stored block of a row apart.
	Block(name string, row, block int) (*WeightBlock, error)
	// Row is a row as float32.
	Row(name string, row int) ([]float32, error)
	// Image is a region of a tensor, down-sampled.
	Image(name string, region WeightRegion) (*WeightImage, error)
}

// WeightBlock is a stored block and what it says.
type WeightBlock struct {
	Name    string       `json:"name"`
	Type    string       `json:"type"`
	Row     int          `json:"row"`
	Block   int          `json:"block"`
	Blocks  int          `json:"blocks"` // of a row
	First   int          `json:"first"`  // column of the first weight
	Offset  int64        `json:"offset"` // of the block from the tensor's first byte
	Bytes   HexBytes     `json:"bytes"`
	Parts   []WeightPart `json:"parts"`
	Formula string       `json:"formula"`
	Group   int          `json:"group"` // weights that share a scale
	Zero    int32        `json:"zero"`  // taken off the codes
	Codes   []int32      `json:"codes,omitempty"`
	Scale   []float32    `json:"scale,omitempty"` // of each group
	Min     []float32    `json:"min,omitempty"`
	Values  []float32    `json:"values"`
}

// WeightPart is a run of bytes of a block with one meaning.
type WeightPart struct {
	Name  string `json:"name"`
	First int    `json:"first"`
	Bytes int    `json:"bytes"`
	Kind  string `json:"kind"`
}

// HexBytes are bytes that JSON shows as hexadecimal digits.
type HexBytes []byte

// MarshalText implements encoding.TextMarshaler.
func (b HexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, b), nil }

// WeightRegion is what an image shows: rows [Row, Row+Rows) and columns [Col, Col+Cols), on at most Width x Height pixels.
type WeightRegion struct {
	Row, Rows, Col, Cols int // Rows or Cols 0: to the end
	Width, Height        int
	Mean                 bool // the mean of each pixel's weights; else the largest absolute value
}

// WeightImage is a down-sampled tensor. Pixel (x, y) stands for rows [y*Rows/Height, (y+1)*Rows/Height) and the columns
// alike. Level 255 is Top; of means, 128 is 0 and 1 is -Top.
type WeightImage struct {
	Row, Rows, Col, Cols int
	Width, Height        int
	Mean                 bool
	Top                  float32
	Levels               []uint8
}

// ErrUnknownTensor is what Weights says of a name of no tensor.
var ErrUnknownTensor = errors.New("there is no such tensor; GET /api/weights lists them")

// RangeError is a row, block or region outside a tensor.
type RangeError struct{ Text string }

func (e *RangeError) Error() string { return e.Text }

// weightRoutes are there even without a model file, to say so.
func (s *Server) weightRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /api/weights":              s.apiWeights,
		"GET /api/weights/{name}/block": s.apiWeightBlock,
		"GET /api/weights/{name}/row":   s.apiWeightRow,
		"GET /api/weights/{name}/image": s.apiWeightImage,
	}
}

// weights answers for a server without a model file.
func (s *Server) weights(w http.ResponseWriter) Weights {
	if s.c.Weights == nil {
		apiError(w, http.StatusNotFound, "no_model_file", "this server has no model file open; start glassbox serve with --model FILE.gguf")
	}
	return s.c.Weights
}

func (s *Server) apiWeights(w http.ResponseWriter, _ *http.Request) {
	if ws := s.weights(w); ws != nil {
		m := s.c.Model
		m.Tensors = nil
		writeJSON(w, http.StatusOK, struct {
			Model   file.Model         `json:"model"`
			Tensors []file.ModelTensor `json:"tensors"`
		}{m, ws.Tensors()})
	}
}

// whole reads a query parameter that is a whole number; def where it is not given.
func whole(r *http.Request, key string, def int) (int, error) {
	v := r.URL.Query().Get(key)
	if v == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, &RangeError{fmt.Sprintf("%s: wanted a whole number from 0, found %.40q", key, v)}
	}
	return n, nil
}

// wholes reads several.
func wholes(r *http.Request, keys []string, into ...*int) error {
	for i, p := range into {
		n, err := whole(r, keys[i], *p)
		if err != nil {
			return err
		}
		*p = n
	}
	return nil
}

func weightFault(w http.ResponseWriter, name string, err error) {
	var out *RangeError
	switch {
	case errors.Is(err, ErrUnknownTensor):
		apiError(w, http.StatusNotFound, "not_found", fmt.Sprintf("%.80q: %v", name, ErrUnknownTensor))
	case errors.As(err, &out):
		apiError(w, http.StatusBadRequest, "out_of_range", out.Text)
	default:
		log.Printf("web: tensor %q: %v", name, err)
		apiError(w, http.StatusInternalServerError, "unreadable", fmt.Sprintf("tensor %.80q could not be read; the server's log says why", name))
	}
}

func (s *Server) apiWeightBlock(w http.ResponseWriter, r *http.Request) {
	ws := s.weights(w)
	if ws == nil {
		return
	}
	var row, block int
	name := r.PathValue("name")
	err := wholes(r, []string{"row", "block"}, &row, &block)
	var b *WeightBlock
	if err == nil {
		b, err = ws.Block(name, row, block)
	}
	if err != nil {
		weightFault(w, name, err)
		return
	}
	for _, v := range b.Values { // JSON has no numbers for these
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			weightFault(w, name, &RangeError{fmt.Sprintf("block %d of row %d has a weight that is no number: the file is damaged", block, row)})
			return
		}
	}
	writeJSON(w, http.StatusOK, b)
}

// apiWeightRow answers with little-endian float32.
func (s *Server) apiWeightRow(w http.ResponseWriter, r *http.Request) {
	ws := s.weights(w)
	if ws == nil {
		return
	}
	var row int
	name := r.PathValue("name")
	err := wholes(r, []string{"r"}, &row)
	var v []float32
	if err == nil {
		v, err = ws.Row(name, row)
	}
	if err != nil {
		weightFault(w, name, err)
		return
	}
	raw := make([]byte, 0, 4*len(v))
	for _, f := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	_, _ = w.Write(raw)
}

// maxPixels is the longest side of an image of weights.
const maxPixels = 1024

func (s *Server) apiWeightImage(w http.ResponseWriter, r *http.Request) {
	ws := s.weights(w)
	if ws == nil {
		return
	}
	g := WeightRegion{Width: 256, Height: 256}
	name := r.PathValue("name")
	err := wholes(r, []string{"row", "rows", "col", "cols", "width", "height"}, &g.Row, &g.Rows, &g.Col, &g.Cols, &g.Width, &g.Height)
	switch kind := r.URL.Query().Get("kind"); {
	case err != nil:
	case g.Width < 1 || g.Height < 1 || g.Width > maxPixels || g.Height > maxPixels:
		err = &RangeError{fmt.Sprintf("width and height: wanted 1 to %d, found %d and %d", maxPixels, g.Width, g.Height)}
	case kind == "mean":
		g.Mean = true
	case kind != "" && kind != "absmax":
		err = &RangeError{fmt.Sprintf("kind: wanted absmax or mean, found %.40q", kind)}
	}
	var m *WeightImage
	if err == nil {
		m, err = ws.Image(name, g)
	}
	if err != nil {
		weightFault(w, name, err)
		return
	}
	kind := "absmax"
	if m.Mean {
		kind = "mean"
	}
	writeJSON(w, http.StatusOK, struct {
		Name   string  `json:"name"`
		Kind   string  `json:"kind"`
		Row    int     `json:"row"`
		Rows   int     `json:"rows"`
		Col    int     `json:"col"`
		Cols   int     `json:"cols"`
		Width  int     `json:"width"`
		Height int     `json:"height"`
		Top    float32 `json:"top"`
		Levels string  `json:"levels"` // base64, row after row
	}{name, kind, m.Row, m.Rows, m.Col, m.Cols, m.Width, m.Height, m.Top, base64.StdEncoding.EncodeToString(m.Levels)})
}
