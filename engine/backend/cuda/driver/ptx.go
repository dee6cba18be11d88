package driver

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	entryRE = regexp.MustCompile(`(?s)\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?`)
	paramRE = regexp.MustCompile(`\.param\s+(?:\.align\s+\d+\s+)?\.[busf](\d+)\s+(?:\.ptr\s+(?:\.\w+\s+)*(?:\d+\s+)?)?[\w$]+(?:\[(\d+)\])?`)
)

// EntryParams returns the sizes in bytes of the parameters of every entry point in PTX text.
func EntryParams(ptx string) (map[string][]int, error) {
	out := map[string][]int{}
	for _, e := range entryRE.FindAllStringSubmatch(ptx, -1) {
		sizes := []int{}
		for _, p := range strings.Split(e[2], ",") {
			if strings.TrimSpace(p) == "" {
				continue
			}
			m := paramRE.FindStringSubmatch(p)
			if m == nil {
				return nil, fmt.Errorf("PTX: entry %s: wanted a parameter, found %q", e[1], strings.TrimSpace(p))
			}
			bits, _ := strconv.Atoi(m[1])
			n := bits / 8
			if m[2] != "" {
				c, _ := strconv.Atoi(m[2])
				n *= c
			}
			sizes = append(sizes, n)
		}
		out[e[1]] = sizes
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("PTX: wanted entry points, found none in %d bytes", len(ptx))
	}
	return out, nil
}
