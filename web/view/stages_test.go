package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"glassbox/steps"
	"glassbox/trace/file"
)

// ofEngine finds the recordings that ship by their engine.
func ofEngine(t *testing.T) Recordings {
	get := shippedByName(t)
	by := map[string]*file.Recording{}
	for _, id := range []string{filmWalk, filmOther} {
		if rec := get(id); rec != nil {
			by[rec.Engine.Name] = rec
		}
	}
	return func(engine string) *file.Recording { return by[engine] }
}

// Every number of the page is of a catalogue or of a recording; an engine without a recording has no time, and says no number.
func TestStagesShowWhatWasMeasured(t *testing.T) {
	all, get := steps.Stages(nil), ofEngine(t)
	v := StagesOf(all, get)
	require.Len(t, v.Stages, 4)
	for i, s := range v.Stages {
		require.Len(t, s.Columns, len(v.Engines))
		require.Len(t, s.Features, len(all[i].Features))
		for k, c := range s.Columns {
			require.Equal(t, len(all[i].Columns[k].Steps), c.Steps)
			rec := get(c.Engine.ID)
			require.Equal(t, rec != nil, c.Time.Known(), "%s in %s", s.ID, c.Engine.Title)
			if rec == nil {
				require.Empty(t, c.Engine.Run)
				continue
			}
			require.Contains(t, c.Engine.Run, rec.Device.Name)
			require.Equal(t, Duration(steps.TimeOf(rec)[s.ID].BusyNs, "", "").Value, c.Time.Value)
			require.Equal(t, "derived", c.Time.Prov)
		}
		for _, f := range s.Features {
			for _, c := range f.Cells {
				require.Contains(t, []string{"yes", "partly", "no"}, c.Has)
				require.NotEmpty(t, c.Proof, "%s %s %s", s.ID, f.ID, c.Engine)
				for _, p := range c.Proof {
					require.False(t, p.Step && !strings.HasPrefix(p.Href, "/trace/"))
				}
			}
		}
	}
	emulated := *get("glassbox")
	emulated.Device.Kind = "emulated"
	w := StagesOf(all, func(string) *file.Recording { return &emulated })
	require.False(t, w.Stages[0].Columns[0].Time.Known(), "an emulated device has no times")
}

// Side by side both walks are whole and in their order, and what is the same by name stands in one row.
func TestSideBySideKeepsBothWalks(t *testing.T) {
	all := steps.Stages(nil)
	for _, s := range all {
		v, ok := PairOf(all, ofEngine(t), s.ID, "glassbox", "vllm")
		require.True(t, ok)
		var a, b []int
		pairs := 0
		for _, r := range v.Rows {
			if r.A != nil {
				a = append(a, r.A.Number)
			}
			if r.B != nil {
				b = append(b, r.B.Number)
			}
			if r.A != nil && r.B != nil {
				pairs++
				require.NotEmpty(t, r.Why)
			}
		}
		require.True(t, slices.IsSorted(a) && slices.IsSorted(b))
		require.Len(t, a, len(s.Column("glassbox").Steps))
		require.Len(t, b, len(s.Column("vllm").Steps))
		require.GreaterOrEqual(t, pairs, 2, s.ID)
	}
	v, _ := PairOf(all, ofEngine(t), "compute", "glassbox", "vllm")
	require.True(t, slices.ContainsFunc(v.Rows, func(r PairRow) bool { return r.Why == "rope" && r.A != nil && r.B != nil }))
	for _, bad := range [][3]string{{"compute", "vllm", "vllm"}, {"compute", "vllm", "x"}, {"x", "glassbox", "vllm"}} {
		_, ok := PairOf(all, ofEngine(t), bad[0], bad[1], bad[2])
		require.False(t, ok, "%v", bad)
	}
}

// The alignment is the best there is: against every other one, for short lists.
func TestAlignIsTheBest(t *testing.T) {
	step := func(ids string) (out []*steps.Step) {
		for _, c := range ids {
			out = append(out, &steps.Step{ID: string(c)})
		}
		return out
	}
	score := func(x, y *steps.Step) (float64, string) {
		if x.ID == y.ID {
			return 1, x.ID
		}
		return 0, ""
	}
	for _, c := range []struct {
		a, b string
		most int
	}{{"abc", "abc", 3}, {"abc", "", 0}, {"abcbdab", "bdcaba", 4}, {"xaybzc", "abc", 3}, {"ab", "ba", 1}} {
		n := 0
		for _, p := range align(step(c.a), step(c.b), score) {
			if p.a != nil && p.b != nil {
				require.Equal(t, p.a.ID, p.b.ID)
				n++
			}
		}
		require.Equal(t, c.most, n, "%s %s", c.a, c.b)
	}
}
