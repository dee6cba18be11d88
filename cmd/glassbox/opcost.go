package main

import (
	"slices"
	"time"

	"glassbox/engine/backend"
	"glassbox/engine/backend/cpu"
	"glassbox/engine/kv"
	"glassbox/engine/model"
	"glassbox/trace"
)

// opCost measures what recording every op adds to a decode pass, in percent: rounds times, the median of timed passes over
// the median of untimed ones, which take turns on a backend of their own.
func opCost(o *opened, rounds int) ([]float64, error) {
	m, err := model.Load(o.file)
	if err != nil {
		return nil, err
	}
	const pages = 8
	be, err := cpu.Open(m.Graph, backend.Options{Threads: o.engine.Options().Threads, Features: o.engine.Options().Features, MaxTokens: 1, MaxOut: 1,
		MaxScores: m.Config.Heads * pages * kv.PageTokens, Pages: pages})
	if err != nil {
		return nil, err
	}
	defer be.Close()
	b := &backend.Batch{Tokens: []int32{20}, Pos: []int32{0}, Seq: []int32{0}, Out: []int32{0}, Seqs: []backend.Seq{{Pages: []kv.Page{0, 1, 2, 3, 4, 5, 6, 7}}}}
	var costs []float64
	var ops trace.PassOps
	for range rounds {
		var took [2][]float64 // untimed, timed
		for i := range 2 * (pages*kv.PageTokens - 1) {
			into := (*trace.PassOps)(nil)
			if i%2 == 1 {
				into = &ops
			}
			b.Pos[0] = int32(i / 2)
			start := time.Now()
			if err := be.Run(b, into); err != nil {
				return nil, err
			}
			took[i%2] = append(took[i%2], time.Since(start).Seconds())
		}
		slices.Sort(took[0])
		slices.Sort(took[1])
		costs = append(costs, 100*(took[1][len(took[1])/2]/took[0][len(took[0])/2]-1))
	}
	return costs, nil
}
