package main

import (
	"fmt"

	"glassbox/engine"
)

// printShards says which part of the model each shard has, and what memory that takes.
func printShards(e *engine.Engine) {
	for i, s := range e.Shards() {
		fmt.Printf("glassbox: shard %d: %d threads, %.1f MB of weights, %.1f kB of cache a token; heads %d-%d, KV heads %d-%d, feed-forward %d-%d, vocabulary %d-%d\n", i,
			s.Threads, float64(s.Weights)/1e6, float64(s.KVToken)/1e3, s.Heads.From, s.Heads.To-1, s.KVHeads.From, s.KVHeads.To-1, s.FFN.From, s.FFN.To-1, s.Vocab.From, s.Vocab.To-1)
	}
}
