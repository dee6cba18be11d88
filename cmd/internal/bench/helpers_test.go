package bench_test

import (
	"io"
	"net/http"
	"strings"
)

// teeReader reads a request's body and keeps it.
func teeReader(r *http.Request, keep io.Writer) io.Reader { return io.TeeReader(r.Body, keep) }

func reader(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }
