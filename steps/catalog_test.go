package steps

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"glassbox/trace"
)

// ours is what engine.Sources holds in the binary, as it is in the tree.
var ours = os.DirFS("../engine")

func TestEachStepOfTheEngineHasOnePageAndTheReverse(t *testing.T) {
	c := Glassbox(nil)
	var pages, engine []string
	for _, s := range c.Steps {
		pages = append(pages, s.ID)
	}
	for _, id := range trace.Steps() {
		engine = append(engine, id.String())
	}
	require.Equal(t, engine, pages)
}

func TestEachOpHasAPageThatSaysSo(t *testing.T) {
	c := Glassbox(nil)
	ops := map[string]bool{}
	for _, op := range trace.Ops() {
		s := c.Step(op.Step().String())
		require.NotNil(t, s, op.String())
		require.Equal(t, op.String(), s.Op, s.File)
		require.NotEmpty(t, s.Role, s.File)
		ops[s.ID] = true
	}
	for _, s := range c.Steps {
		if !ops[s.ID] {
			require.Empty(t, s.Op, s.File)
			require.Equal(t, s.ID, s.Span, s.File)
		}
	}
}

// smol is the built-in model on two threads.
var smol = Values{Layers: 30, Heads: 9, KVHeads: 3, Width: 576, HeadDim: 64, FFN: 1536, Vocab: 49152, Threads: 2, PageTokens: 16, Backend: "cpu"}

func TestTextsAreAsLongAsTheyShouldBe(t *testing.T) {
	c := Glassbox(nil)
	for _, s := range c.Steps {
		for _, v := range []Values{smol, {}} {
			text := c.Text(s, v)
			require.NotContains(t, text, "{", s.File)
			n := len(strings.Fields(text))
			require.GreaterOrEqual(t, n, 60, "%s: %s", s.File, text)
			require.LessOrEqual(t, n+len(strings.Fields(s.Unreached)), 120, "%s: %s", s.File, text)
			require.LessOrEqual(t, len(v.Fill(s.Short)), 70, s.File)
		}
		require.True(t, strings.HasPrefix(s.Wrong, "That "), s.File)
		require.Equal(t, 2, strings.Count(s.Wrong+" ", ". ")+strings.Count(s.Wrong, "; it "), "%s: what is wrong, and what is the case", s.File)
		for _, line := range []string{s.Short, s.Wrong} {
			require.True(t, strings.HasSuffix(line, ".") || strings.HasSuffix(line, "?"), "%s: %q", s.File, line)
		}
		require.NotEmpty(t, s.Link, s.File)
	}
}

func TestTheRequestChangesItsFormAlongTheWalk(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Glassbox(nil).Steps {
		seen[s.Form] = true
	}
	require.ElementsMatch(t, Forms, slices.Collect(maps.Keys(seen)))
}

func TestHandOversStandWhereTheLaneChanges(t *testing.T) {
	steps := Glassbox(nil).Steps
	for i, s := range steps[:len(steps)-1] {
		require.Equal(t, s.Lane != steps[i+1].Lane, s.Hand != "", "%s: hand", s.File)
	}
}

func page(change func(string) string) fs.FS {
	data, err := catalog.ReadFile("catalog/glassbox/01-first_byte.md")
	if err != nil {
		panic(err)
	}
	return fstest.MapFS{"catalog/x/01-first_byte.md": {Data: []byte(change(string(data)))}}
}

func TestBrokenPagesAreRefusedWithFileAndLine(t *testing.T) {
	swap := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				panic("the page has no " + old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	_, err := Load(page(func(s string) string { return s }), "x")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(string) string
		want   string
	}{
		"unknown key":         {swap("title:", "titel:"), `01-first_byte.md:3: key titel: there is no such key; wanted one of `},
		"missing key":         {swap("title: First byte\n", ""), "key title: is missing"},
		"key twice":           {swap("title: First byte\n", "title: a\ntitle: b\n"), "01-first_byte.md:4: key title: is here twice; the first is on line 3"},
		"wrong stage":         {swap("stage: receive", "stage: accept"), `01-first_byte.md:4: stage: wanted one of receive, schedule, compute, deliver, found "accept"`},
		"wrong form":          {swap("form: bytes", "form: socket"), `form: wanted one of bytes, `},
		"wrong id":            {swap("id: first_byte", "id: byte"), `01-first_byte.md:2: id: wanted first_byte, as in the file's name, found "byte"`},
		"long label":          {swap("label: first byte", "label: the first byte"), "label: wanted at most 12 characters"},
		"not a key":           {swap("title: First byte", "First byte"), `01-first_byte.md:3: wanted "key: value", found "First byte"`},
		"empty value":         {swap("title: First byte", "title:"), `01-first_byte.md:3: wanted "key: value", found "title:"`},
		"op and span":         {swap("title:", "op: embed\ntitle:"), "wanted one of the keys op and span"},
		"models of no op":     {swap("title:", "models: llama\ntitle:"), `models: wanted none, on a page that is not of an op, found "llama"`},
		"no front matter":     {swap("---\n", "\n"), `01-first_byte.md:1: wanted "---" and front matter`},
		"no end":              {func(s string) string { return s[:strings.LastIndex(s, "\n---\n")] }, `wanted "---" at the end of the front matter`},
		"no text":             {func(s string) string { return s[:strings.LastIndex(s, "---\n")+4] }, "the text is missing"},
		"raw HTML":            {func(s string) string { return s + "<b>x</b>\n" }, "raw HTML"},
		"HTML block":          {func(s string) string { return s + "\n<script>\nx()\n</script>\n" }, "raw HTML"},
		"unknown placeholder": {func(s string) string { return s + "{colour}\n" }, "there is no placeholder {colour}"},
		"placeholder in key":  {swap("short: ", "short: {colour} "), "key short: there is no placeholder {colour}"},
		"http link":           {swap("link: https:", "link: http:"), "wanted an address that begins with https://"},
		"unknown role":        {swap("label:", "role: box\nlabel:"), `role: wanted one of residual, add, op, plain, found "box"`},
		"unknown loop":        {swap("label:", "loop: days, first_byte\nlabel:"), "loop: wanted layers or tokens, and the id of a step"},
		"loop to nowhere":     {swap("label:", "loop: tokens, nowhere\nlabel:"), `loop: wanted the id of a step, found "nowhere"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(page(c.change), "x")
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "catalog/x/01-first_byte.md")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestFolderMustBeNumberedWithoutGaps(t *testing.T) {
	for name, want := range map[string]string{
		"02-first_byte.md": "wanted number 01, found 02",
		"1-first_byte.md":  "wanted a file name such as 01-first_byte.md",
		"README.md":        "wanted a file name such as",
	} {
		data, err := catalog.ReadFile("catalog/glassbox/01-first_byte.md")
		require.NoError(t, err)
		_, err = Load(fstest.MapFS{"catalog/x/" + name: {Data: data}}, "x")
		require.ErrorContains(t, err, want)
	}
	_, err := Load(catalog, "nobody")
	require.ErrorContains(t, err, "catalog/nobody: no catalogue of this engine")
}

func TestCatalogueMustAgreeWithTheEngine(t *testing.T) {
	pages := len(trace.Steps())
	for name, c := range map[string]struct {
		change func(*Catalogue)
		want   string
	}{
		"stage":   {func(c *Catalogue) { c.Steps[0].Stage = "compute" }, "01-first_byte.md:4: stage: wanted receive, found compute"},
		"lane":    {func(c *Catalogue) { c.Steps[0].Lane = "loop" }, "01-first_byte.md:5: lane: wanted http, found loop"},
		"order":   {func(c *Catalogue) { c.Steps[0], c.Steps[1] = c.Steps[1], c.Steps[0] }, "wanted first_byte at place 1 of the walk, found route"},
		"missing": {func(c *Catalogue) { c.Steps = c.Steps[:len(c.Steps)-6] }, fmt.Sprintf("wanted %d pages, found %d: the next is free_pages", pages, pages-6)},
		"extra":   {func(c *Catalogue) { c.Steps = append(c.Steps, c.Steps[0]) }, fmt.Sprintf("wanted no more pages at place %d", pages+1)},
	} {
		t.Run(name, func(t *testing.T) {
			cat, err := Load(catalog, "glassbox")
			require.NoError(t, err)
			require.NoError(t, cat.checkEngine())
			c.change(cat)
			require.ErrorContains(t, cat.checkEngine(), c.want)
		})
	}
}

func TestMarkdownBecomesSafeHTMLAndPlainText(t *testing.T) {
	html, plain, err := markdown("A mark is `<|im_start|>`,\nnot *more* & [so](javascript:alert(1)).\n\nNext.")
	require.NoError(t, err)
	require.Equal(t, "A mark is <|im_start|>, not more & so.\nNext.", plain)
	require.Contains(t, html, "<code>&lt;|im_start|&gt;</code>")
	require.NotContains(t, html, "javascript:")
}

func TestPlaceholdersTakeTheModelsValuesOrALetter(t *testing.T) {
	require.Equal(t, "49,152 rows, 9 heads", smol.Fill("{vocab} rows, {heads} heads"))
	require.Equal(t, "V rows, H heads", Values{}.Fill("{vocab} rows, {heads} heads"))
	require.Equal(t, "1,234,567", thousands(1234567))
	require.Equal(t, "999", thousands(999))
	require.Equal(t, "engine/backend/cpu.x", smol.symbol("engine/backend/{backend}.x"))
}
