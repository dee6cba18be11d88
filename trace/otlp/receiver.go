package otlp

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// Where spans are posted: over HTTP, and over gRPC, which is a POST on an HTTP/2 connection as well.
const (
	HTTPPath = "/v1/traces"
	GRPCPath = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
)

// MaxBody is how large a post may be, and how large it may become when it is unpacked.
const MaxBody = 16 << 20

// Content types of posts.
const (
	protobuf = "application/x-protobuf"
	jsonText = "application/json"
)

// Receiver takes the spans that other programs export: OTLP over HTTP (protobuf and JSON, gzip or not) and over gRPC. For
// gRPC without TLS the server has to speak HTTP/2 without it (http.Protocols).
type Receiver struct {
	Take    func(spans []Received)                // called for each post, by its goroutine
	Forward func(kind string, body []byte, n int) // where posts of n spans go on to as they came, unpacked; nil = nowhere
	Refused func(spans int, from, why string)     // told of spans that could not be read; nil = nobody
}

// ServeHTTP answers a post.
func (rc *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.ProtoMajor == 2 && (kind == "application/grpc" || strings.HasPrefix(kind, "application/grpc+")) {
		rc.grpc(w, r)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, kind, http.StatusMethodNotAllowed, r.URL.Path+": wanted POST, found "+r.Method)
		return
	}
	if kind != protobuf && kind != jsonText {
		fail(w, jsonText, http.StatusUnsupportedMediaType, fmt.Sprintf("%s: Content-Type: wanted %s or %s, found %.80q", r.URL.Path, protobuf, jsonText, kind))
		return
	}
	body, err := unpacked(http.MaxBytesReader(w, r.Body, MaxBody), r.Header.Get("Content-Encoding"))
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, errTooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		fail(w, kind, status, err.Error())
		return
	}
	if err := rc.take(kind, body, r.RemoteAddr); err != nil {
		fail(w, kind, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", kind) // an empty ExportTraceServiceResponse: all was taken
	if kind == jsonText {
		_, _ = io.WriteString(w, "{}")
	}
}

// fail answers in the form of the request: OTLP wants a google.rpc.Status, whose field 2 is the message.
func fail(w http.ResponseWriter, kind string, status int, message string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if kind == protobuf {
		w.Header().Set("Content-Type", protobuf)
		w.WriteHeader(status)
		_, _ = w.Write(append(binary.AppendUvarint([]byte{2<<3 | 2}, uint64(len(message))), message...))
		return
	}
	w.Header().Set("Content-Type", jsonText)
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "{\"message\":%s}\n", strconv.QuoteToASCII(message))
}

func (rc *Receiver) take(kind string, body []byte, from string) error {
	parse := Parse
	if kind == jsonText {
		parse = ParseJSON
	}
	spans, refused, err := parse(body)
	if err != nil {
		return err
	}
	if refused > 0 && rc.Refused != nil {
		rc.Refused(refused, from, "their ids or times are none")
	}
	if rc.Forward != nil {
		rc.Forward(kind, body, len(spans))
	}
	if len(spans) > 0 {
		rc.Take(spans)
	}
	return nil
}

var errTooLarge = fmt.Errorf("otlp: a post of more than %d bytes: export smaller batches", MaxBody)

// unpacked reads a body within MaxBody, before and after it is unpacked.
func unpacked(r io.Reader, encoding string) ([]byte, error) {
	switch encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, tooLarge(fmt.Errorf("otlp: Content-Encoding: wanted gzip: %w", err))
		}
		r = z
	default:
		return nil, fmt.Errorf("otlp: Content-Encoding: wanted gzip or none, found %.40q", encoding)
	}
	body, err := io.ReadAll(io.LimitReader(r, MaxBody+1))
	if err != nil {
		return nil, tooLarge(fmt.Errorf("otlp: the body broke off: %w", err))
	}
	if len(body) > MaxBody {
		return nil, errTooLarge
	}
	return body, nil
}

func tooLarge(err error) error {
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return errTooLarge
	}
	return err
}

// Status codes of gRPC.
const (
	grpcOK            = 0
	grpcInvalid       = 3
	grpcExhausted     = 8
	grpcUnimplemented = 12
)

// grpc answers a unary call of gRPC over HTTP/2 (its PROTOCOL-HTTP2.md): one message with a prefix of five bytes comes, one
// goes back, and the status is in the trailers. That is all of the protocol that an exporter of spans uses.
func (rc *Receiver) grpc(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	end := func(code int, message string) {
		h.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
		if message != "" {
			h.Set(http.TrailerPrefix+"Grpc-Message", percent(message))
		}
	}
	if r.URL.Path != GRPCPath {
		end(grpcUnimplemented, "this server takes spans alone: "+GRPCPath)
		return
	}
	body, err := message(http.MaxBytesReader(w, r.Body, MaxBody+5), r.Header.Get("Grpc-Encoding"))
	switch {
	case errors.Is(err, errTooLarge):
		end(grpcExhausted, err.Error())
		return
	case err != nil:
		end(grpcInvalid, err.Error())
		return
	}
	if err := rc.take(protobuf, body, r.RemoteAddr); err != nil {
		end(grpcInvalid, err.Error())
		return
	}
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(make([]byte, 5)) // an empty message
	end(grpcOK, "")
}

// message reads the one message of a unary call.
func message(r io.Reader, encoding string) ([]byte, error) {
	var prefix [5]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, tooLarge(fmt.Errorf("otlp: wanted a message of gRPC, found its end: %w", err))
	}
	size := binary.BigEndian.Uint32(prefix[1:])
	if size > MaxBody {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(size))) // grows with what comes, not with what is claimed
	if err != nil {
		return nil, tooLarge(fmt.Errorf("otlp: the message broke off: %w", err))
	}
	if len(body) != int(size) {
		return nil, fmt.Errorf("otlp: wanted a message of %d bytes, found %d", size, len(body))
	}
	if prefix[0] == 0 {
		return body, nil
	}
	return unpacked(bytes.NewReader(body), encoding)
}

// percent writes a message as gRPC's trailers want it: printable ASCII, all else as %XX.
func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
