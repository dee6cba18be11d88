package steps

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"glassbox/trace/file"
)

func TestStagesCompareEveryEngine(t *testing.T) {
	all := Stages(ours)
	require.Len(t, all, 4)
	for _, s := range all {
		require.GreaterOrEqual(t, len(s.Features), 10, s.File)
		seen := map[string]bool{}
		for _, f := range s.Features {
			require.False(t, seen[f.ID], "%s: %s is here twice", s.File, f.ID)
			seen[f.ID] = true
			require.Len(t, f.Cells, len(StageEngines()), "%s: %s", s.File, f.ID)
			for _, c := range f.Cells {
				require.LessOrEqual(t, len(strings.Fields(c.Text)), 40, "%s: %s: %s", s.File, f.ID, c.Engine)
				require.True(t, strings.HasSuffix(c.Text, "."), "%s: %s: %s: a sentence ends: %q", s.File, f.ID, c.Engine, c.Text)
			}
		}
		for _, c := range s.Columns {
			require.GreaterOrEqual(t, len(c.Path), 4, "%s: path of %s", s.File, c.Engine)
			if _, err := EngineOf(c.Engine); err == nil || c.Engine == "glassbox" {
				require.GreaterOrEqual(t, len(c.Steps), 7, "%s: %s", s.File, c.Engine)
			}
		}
	}
}

// Places in this engine are where they are said to be, in the files of this checkout.
func TestPlacesOfStagesInThisEngineExist(t *testing.T) {
	for _, s := range Stages(ours) {
		check := func(a Anchor) {
			require.Positive(t, a.Line, "%s: %s %s is not there", s.File, a.Path, a.Symbol)
			text, err := os.ReadFile("../" + a.Path)
			require.NoError(t, err)
			name := a.Symbol[strings.LastIndexByte(a.Symbol, '.')+1:]
			require.Contains(t, strings.Split(string(text), "\n")[a.Line-1], "func ", "%s: %s", s.File, a.Symbol)
			require.Contains(t, strings.Split(string(text), "\n")[a.Line-1], name, s.File)
		}
		for _, f := range s.Features {
			for _, a := range f.Cell("glassbox").Proof {
				check(a)
			}
		}
		for _, a := range s.Column("glassbox").Path {
			check(a)
		}
	}
}

func TestStageFilesAreChecked(t *testing.T) {
	cells := func(first string) string {
		return "## a: A\nWhat.\n" + first + "- llamacpp no: It. [x.cpp:3 f]\n- vllm yes: It. [#gate]\n- sglang partly: It. [x.py:2 C.f]\n"
	}
	const good = "- glassbox yes: It. [engine/loop.go (*Engine).loop]\n"
	const path = "## path\n- glassbox: [#submit]\n- llamacpp: [x.cpp:3 f]\n- vllm: [#gate]\n- sglang: [x.py:2 f]\n"
	for text, want := range map[string]string{
		cells(good) + path: "",
		cells("- glassbox yes: It. [engine/loop.go:3 (*Engine).loop]\n") + path:    "no line in this engine",
		cells("- glassbox yes: It.\n") + path:                                      "a place in the source that proves them",
		cells("- glassbox: It. [#submit]\n") + path:                                "yes, partly or no",
		cells("- vllm yes: It. [#gate]\n") + path:                                  "the engines in the order of",
		strings.Replace(cells(good), "[#gate]", "[#gone]", 1) + path:               "there is no gone",
		strings.Replace(cells(good), "x.py:2 ", "x.py ", 1) + path:                 "a line from 1 behind the path",
		strings.Replace(cells(good), "- sglang partly: It. [x.py:2 C.f]\n", "", 1): "a line for each of",
		cells(good):                      `wanted a part "## path"`,
		cells(good) + cells(good) + path: "a is here twice",
		"# A\n" + path:                   `wanted "## id: Title"`,
		strings.Replace(cells(good), "What.\n", "", 1) + path:                                   "wanted a title, and a sentence below it",
		strings.Replace(cells(good), "- llamacpp", "more\n- llamacpp", 1) + path:                "two spaces before a line that goes on",
		strings.Replace(cells(good), "It. [x.cpp:3 f]", "It\n  goes on. [x.cpp:3 f]", 1) + path: "",
	} {
		files := fstest.MapFS{}
		for i, id := range stages {
			files["stages/"+string(rune('1'+i))+"-"+id+".md"] = &fstest.MapFile{Data: []byte("---\ntitle: A\nshort: A.\n---\nText.\n\n" + text)}
		}
		all, err := LoadStages(files, nil)
		if want != "" {
			require.ErrorContains(t, err, want, text)
			continue
		}
		require.NoError(t, err)
		require.Len(t, all, 4)
		require.Equal(t, "no", all[0].Features[0].Cell("llamacpp").Has)
		require.Equal(t, "gate", all[0].Column("vllm").Path[0].Step)
		require.Equal(t, 33, all[0].Column("vllm").Path[0].Line)
		pins := StagePins(all, "sglang")
		require.Len(t, pins, 8, "one a feature and one a path, in each stage")
		require.Equal(t, "C.f", pins[0].Place.Symbol)
		delete(files, "stages/4-deliver.md")
		_, err = LoadStages(files, nil)
		require.ErrorContains(t, err, "wanted a file for each of")
	}
}

func span(id, step, parent, lane string, start, dur int64) file.Span {
	return file.Span{ID: id, Step: step, Parent: parent, Lane: lane, StartNs: start, DurNs: dur}
}

// A function around others is in its own stage only where they are not; where two lanes are in different stages, the wall
// clock is the one's that the other waits for.
func TestTimeIsCountedWhereTheWorkIs(t *testing.T) {
	rec := &file.Recording{
		Walk: []file.Step{{ID: "s", Stage: "schedule", Spans: []int{0}}, {ID: "c", Stage: "compute", Spans: []int{1, 4}}, {ID: "d", Stage: "deliver"}},
		Spans: []file.Span{
			span("1", "s", "", "x", 0, 100), span("2", "c", "1", "x", 10, 50), span("3", "", "2", "x", 20, 10), span("4", "", "1", "x", 70, 10),
			span("5", "c", "", "y", 30, 60), span("6", "", "", "y", 95, 5),
		},
	}
	got := TimeOf(rec)
	require.Equal(t, StageTime{Steps: 1, Reached: 1, Spans: 1, BusyNs: 20, LaneNs: 50}, got["schedule"])
	require.Equal(t, StageTime{Steps: 1, Reached: 1, Spans: 2, BusyNs: 80, LaneNs: 110}, got["compute"])
	require.Equal(t, StageTime{Steps: 1}, got["deliver"])
}

// Of the recordings that ship, the four stages have times, and they fit into the request.
func TestTimesOfTheRecordingsThatShip(t *testing.T) {
	for _, name := range []string{"why-is-the-sky-blue", "chat-in-llamacpp", "chat-in-vllm", "chat-in-sglang"} {
		rec := recordingOf(t, name)
		var end int64
		for i := range rec.Spans {
			end = max(end, rec.Spans[i].EndNs())
		}
		whole := int64(0)
		for stage, s := range TimeOf(rec) {
			whole += s.BusyNs
			require.Positive(t, s.BusyNs, "%s: %s", name, stage)
			require.LessOrEqual(t, s.BusyNs, s.LaneNs, "%s: %s", name, stage)
			require.LessOrEqual(t, s.Reached, s.Steps, "%s: %s", name, stage)
		}
		require.LessOrEqual(t, whole, end, name)
		require.GreaterOrEqual(t, whole*10, end*9, "%s: nine tenths of the time are of some stage", name)
	}
}
