package query

// Rows spreads intervals over as few rows as first fit finds, so that those of a row follow each other or nest and never
// overlap by halves. They are given by start, of two that start together the longer first. At most is how many rows there
// may be, 0 = any number; what fits none is put on the last, and counted in crowded.
func Rows(n int, interval func(i int) (start, end int64), most int) (rows []int, count, crowded int) {
	rows = make([]int, n)
	var open [][]int64 // of each row, the ends of what is open, innermost last
	for i := range n {
		start, end := interval(i)
		for t := 0; ; t++ {
			if most > 0 && t == most {
				rows[i] = most - 1
				crowded++
				break
			}
			if t == len(open) {
				open = append(open, nil)
			}
			for k := len(open[t]); k > 0 && open[t][k-1] <= start; k = len(open[t]) {
				open[t] = open[t][:k-1]
			}
			if k := len(open[t]); k == 0 || open[t][k-1] >= end {
				open[t] = append(open[t], end)
				rows[i] = t
				break
			}
		}
	}
	return rows, len(open), crowded
}
