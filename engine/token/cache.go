package token

import (
	"strings"
	"sync"
)

// The cache keeps the ids of short words. When it is full it starts anew, so it holds at most cacheWords words of
// cacheBytes bytes: about 1 MB.
const (
	cacheWords = 8192
	cacheBytes = 48
)

type wordCache struct {
	mu    sync.RWMutex
	words map[string][]int32
}

func (c *wordCache) get(word string) ([]int32, bool) {
	if len(word) > cacheBytes {
		return nil, false
	}
	c.mu.RLock()
	ids, ok := c.words[word]
	c.mu.RUnlock()
	return ids, ok
}

func (c *wordCache) put(word string, ids []int32) {
	if len(word) > cacheBytes {
		return
	}
	kept := append([]int32(nil), ids...)
	c.mu.Lock()
	if len(c.words) >= cacheWords {
		clear(c.words)
	}
	c.words[strings.Clone(word)] = kept // the word is part of a prompt, which must not be kept alive
	c.mu.Unlock()
}
