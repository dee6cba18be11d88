package gateway

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"glassbox/cmd/internal/bench/mock"
)

// added is the bound on what the gateway adds, at the median.
const added = time.Millisecond

// BenchmarkAdded measures what the gateway adds to a streamed answer of 32 pieces, each 1 ms behind the one before: to the
// first piece, and to the whole. Requests go straight to the mock and through the gateway in turns. It fails where the
// median is above a millisecond.
func BenchmarkAdded(b *testing.B) {
	m := mock.New(mock.Behaviour{Base: 5 * time.Millisecond, PerToken: time.Millisecond})
	direct := serve(b, m.ServeHTTP)
	r := newRig(b, direct, nil)
	body := `{"model":"mock","messages":[{"role":"user","content":"` + strings.Repeat("word ", 500) + `"}],"max_tokens":32,"stream":true}`
	ask := func(url string) (first, all time.Duration) {
		start := time.Now()
		res, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()
		lines := bufio.NewReader(res.Body)
		if _, err := lines.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		first = time.Since(start)
		_, _ = io.Copy(io.Discard, lines)
		return first, time.Since(start)
	}
	for range 20 {
		ask(direct)
		ask(r.url)
	}
	const pairs = 200
	for b.Loop() {
		var first, all [2][]time.Duration
		for i := range 2 * pairs {
			k := (i + i/2) % 2 // which of the pair goes first changes
			f, a := ask([]string{direct, r.url}[k])
			first[k], all[k] = append(first[k], f), append(all[k], a)
		}
		for k := range 2 {
			slices.Sort(first[k])
			slices.Sort(all[k])
		}
		gap := func(l [2][]time.Duration, at int) time.Duration { return l[1][at] - l[0][at] }
		b.ReportMetric(float64(gap(first, pairs/2).Microseconds()), "µs-to-first-p50")
		b.ReportMetric(float64(gap(first, pairs*9/10).Microseconds()), "µs-to-first-p90")
		b.ReportMetric(float64(gap(all, pairs/2).Microseconds()), "µs-to-all-p50")
		if gap(first, pairs/2) > added || gap(all, pairs/2) > added {
			b.Errorf("the gateway adds %v to the first piece and %v to the answer at the median of %d pairs, wanted at most %v", gap(first, pairs/2), gap(all, pairs/2), pairs, added)
		}
	}
}
