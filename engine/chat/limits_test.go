package chat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bombs are templates that would run, grow or recurse without bound.
var bombs = map[string]string{
	"huge range":               "{% for i in range(100000000000) %}{% endfor %}",
	"range over all integers":  "{% for i in range(-9223372036854775807, 9223372036854775807) %}{% endfor %}",
	"nested loops":             "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}{% endfor %}{% endfor %}{% endfor %}",
	"loops with work":          "{% for a in range(100000) %}{% for b in range(100000) %}{% set x = 'a' * 1000 %}{% endfor %}{% endfor %}",
	"string multiplication":    "{{ 'a' * 1000000000000 }}",
	"string times max":         "{{ 'abc' * 9223372036854775807 }}",
	"list multiplication":      "{{ [0] * 1000000000000 }}",
	"multiplied twice":         "{{ 'a' * 100000 * 100000 }}",
	"doubling text":            "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
	"doubling by plus":         "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
	"doubling by join":         "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] | join %}{% endfor %}",
	"doubling by replace":      "{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set ns.x = ns.x | replace('a', 'aa') %}{% endfor %}",
	"doubling by format":       "{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set ns.x = '{0}{0}'.format(ns.x) %}{% endfor %}",
	"doubling by percent":      "{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set ns.x = '%s%s' % (ns.x, ns.x) %}{% endfor %}",
	"doubling by set block":    "{% set ns = namespace(x='a') %}{% for i in range(100) %}{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = y %}{% endfor %}",
	"doubling lists":           "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
	"shared lists printed":     "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
	"shared lists as JSON":     "{% set ns = namespace(x=[1]) %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}",
	"shared lists compared":    "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(100) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
	"shared tuples hashed":     "{% set ns = namespace(x=(1,)) %}{% for i in range(100) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {ns.x: 1} }}",
	"deep list printed":        "{% set ns = namespace(x=[1]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
	"deep list as JSON":        "{% set ns = namespace(x=[1]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x | tojson(indent=2) }}",
	"deep lists compared":      "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x < ns.y }}",
	"object inside itself":     "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
	"chain of generators":      "{% set ns = namespace(x=[1]) %}{% for i in range(90000) %}{% set ns.x = ns.x | map('string') %}{% endfor %}{{ ns.x | list }}",
	"macro recursion":          "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
	"mutual recursion":         "{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
	"recursion by caller":      "{% macro f() %}{% call f() %}{{ caller() }}{% endcall %}{% endmacro %}{{ f() }}",
	"recursion by default":     "{% macro f(a=f()) %}{% endmacro %}{{ f() }}",
	"fork by macros":           "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(100) }}",
	"recursive loop":           "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
	"macro in a macro":         "{% set ns = namespace() %}{% macro f() %}{% macro g() %}{{ ns.m() }}{% endmacro %}{% set ns.m = g %}{{ g() }}{% endmacro %}{{ f() }}",
	"scopes chained":           "{% set ns = namespace() %}{% macro ns0() %}{% endmacro %}{% set ns.m = ns0 %}{% for i in range(90000) %}{% for j in range(90000) %}{{ nope }}{% endfor %}{% endfor %}",
	"huge output":              "{% for i in range(100000) %}{{ 'a' * 100000 }}{% endfor %}",
	"huge output of data":      "{% for i in range(100000) %}{% for j in range(100) %}" + strings.Repeat("x", 1000) + "{% endfor %}{% endfor %}",
	"wide format":              "{{ '%999999999d' % 1 }}",
	"wide format by star":      "{{ '%*d' % (999999999, 1) }}",
	"wide brace format":        "{{ '{:>999999999}'.format(1) }}",
	"precise format":           "{{ '%.999999999f' % 1.0 }}",
	"wide center":              "{{ 'a' | center(9999999999) }}",
	"wide ljust":               "{{ 'a'.ljust(9999999999) }}",
	"wide zfill":               "{{ '1'.zfill(9999999999) }}",
	"wide tabs":                "{{ '\t\t\t\t'.expandtabs(999999999999) }}",
	"wide indent":              "{{ 'a\nb' | indent(9999999999) }}",
	"wide JSON indent":         "{{ [[1]] | tojson(indent=9999999999) }}",
	"long batch":               "{{ [1] | batch(9999999999, 0) | list }}",
	"many slices":              "{{ [1] | slice(9999999999) | list }}",
	"quadratic replace":        "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s.replace('a', 'b') %}{% endfor %}",
	"quadratic search":         "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{{ 'b' in s }}{% endfor %}",
	"sorting again and again":  "{% for i in range(100000) %}{% set x = range(100000) | sort %}{% endfor %}",
	"list of a range, forever": "{% for i in range(100000) %}{% set x = range(100000) | list %}{% endfor %}",
	"deep parentheses":         "{{ " + strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000) + " }}",
	"deep lists":               "{{ " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + " }}",
	"deep dicts":               "{{ " + strings.Repeat("{1:", 100000) + "1" + strings.Repeat("}", 100000) + " }}",
	"deep nots":                "{{ " + strings.Repeat("not ", 100000) + "1 }}",
	"deep minus":               "{{ " + strings.Repeat("- ", 100000) + "1 }}",
	"deep conditions":          "{{ " + strings.Repeat("1 if 0 else ", 50000) + "1 }}",
	"deep subscripts":          "{{ " + strings.Repeat("a[", 100000) + "1" + strings.Repeat("]", 100000) + " }}",
	"deep calls":               "{{ " + strings.Repeat("a(", 100000) + "1" + strings.Repeat(")", 100000) + " }}",
	"deep blocks":              strings.Repeat("{% if 1 %}", 50000) + strings.Repeat("{% endif %}", 50000),
	"deep loops":               strings.Repeat("{% for a in 'a' %}", 30000) + strings.Repeat("{% endfor %}", 30000),
	"long sum":                 "{{ 1" + strings.Repeat("+1", 100000) + " }}",
	"long chain of filters":    "{{ 1" + strings.Repeat("|abs", 100000) + " }}",
	"huge source":              strings.Repeat("a", 2<<20),
}

// TestBombs: each bomb ends soon, in little memory, with an error that says
// which limit it was.
func TestBombs(t *testing.T) {
	for name, source := range bombs {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			err := renderOnce(source, Options{Limits: Limits{Time: time.Second}})
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			require.NotEmpty(t, limit.Limit)
			require.Positive(t, limit.Max)
			require.Positive(t, limit.Line)
			require.Less(t, time.Since(start), 20*time.Second)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<30))
			require.Less(t, after.HeapSys, uint64(1<<30))
		})
	}
}

func renderOnce(source string, o Options) error {
	tmpl, err := New(source)
	if err == nil {
		_, err = tmpl.Render(context.Background(), []Message{{Role: "user", Content: "hi"}}, o)
	}
	return err
}

func TestEachLimitIsNamed(t *testing.T) {
	for _, c := range []struct {
		source string
		limits Limits
		name   string
		max    int64
		line   int
	}{
		{"\n{% for i in range(50) %}{% endfor %}", Limits{Range: 20}, "items of a range", 20, 2},
		{"{% for i in range(50) %}\n{{ i }}{% endfor %}", Limits{Steps: 60}, "steps", 60, 2},
		{"a\nb{{ 'x' * 50 }}", Limits{Output: 40}, "bytes of output", 40, 2},
		{"{{ 'x' * 5000 }}", Limits{Alloc: 4000}, "bytes of values", 4000, 1},
		{"{% macro f(n) %}\n{{ f(n + 1) }}{% endmacro %}{{ f(0) }}", Limits{Depth: 7}, "nested calls", 7, 2},
		{"{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", Limits{Time: time.Millisecond, Steps: 1 << 60, Alloc: 1 << 60}, "milliseconds", 1, 1},
	} {
		var limit *LimitError
		require.ErrorAs(t, renderOnce(c.source, Options{Limits: c.limits}), &limit, c.source)
		require.Equal(t, LimitError{Limit: c.name, Max: c.max, Line: c.line}, *limit)
	}
}

// TestLimitsHoldExactly: what just fits renders, one less does not.
func TestLimitsHoldExactly(t *testing.T) {
	for _, c := range []struct {
		source string
		limits func(n int) Limits
		fits   int
	}{
		{"{% for i in range(50) %}{% endfor %}", func(n int) Limits { return Limits{Range: n} }, 50},
		{"{{ 'x' * 30 }}{{ 'y' * 20 }}", func(n int) Limits { return Limits{Output: n} }, 50},
		{"{% macro f(n) %}{{ f(n - 1) if n }}{% endmacro %}{{ f(9) }}", func(n int) Limits { return Limits{Depth: n} }, 10},
		{"{% for x in [[[[]]]] recursive %}{{ loop(x) }}{% endfor %}", func(n int) Limits { return Limits{Depth: n} }, 4},
	} {
		require.NoError(t, renderOnce(c.source, Options{Limits: c.limits(c.fits)}), c.source)
		var limit *LimitError
		require.ErrorAs(t, renderOnce(c.source, Options{Limits: c.limits(c.fits - 1)}), &limit, c.source)
	}
	nested := func(n int) string { return "{{ " + strings.Repeat("[", n) + strings.Repeat("]", n) + " }}" }
	require.NoError(t, renderOnce(nested(90), Options{}))
	require.Error(t, renderOnce(nested(110), Options{}))
}

// TestTemplateIsShared: many goroutines may render one template at once.
func TestTemplateIsShared(t *testing.T) {
	tmpl, err := New("{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ m.content | upper ~ ns.n }}{% endfor %}")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := 0; g < 8; g++ {
		wg.Go(func() {
			for i := 0; i < 50; i++ {
				out, err := tmpl.Render(context.Background(), []Message{{Content: "ß"}, {Content: fmt.Sprint(g)}}, Options{})
				if err != nil || out.Text != fmt.Sprintf("SS1%d2", g) {
					t.Errorf("got %q, %v", out.Text, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestContextEndsRender(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	tmpl, err := New("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}")
	require.NoError(t, err)
	start := time.Now()
	_, err = tmpl.Render(ctx, nil, Options{Limits: Limits{Steps: 1 << 60, Alloc: 1 << 60, Time: time.Hour}})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), 5*time.Second)
}

// TestLongChatsAreNoBombs: the default limits are far above a real, long chat.
func TestLongChatsAreNoBombs(t *testing.T) {
	var msgs []Message
	for i := 0; i < 1000; i++ {
		msgs = append(msgs, Message{Role: "user", Content: strings.Repeat("word ", 200)}, Message{Role: "assistant", Content: "ok"})
	}
	files, err := filepath.Glob("testdata/templates/*.jinja")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		source, err := os.ReadFile(f)
		require.NoError(t, err)
		tmpl, err := New(string(source))
		require.NoError(t, err)
		out, err := tmpl.Render(context.Background(), msgs, Options{Limits: Limits{Steps: 2_000_000, Alloc: 64 << 20}})
		require.NoError(t, err, f)
		require.Greater(t, len(out.Text), 999_000)
	}
}

func TestErrors(t *testing.T) {
	_, err := New(" \n")
	require.ErrorIs(t, err, ErrNoTemplate)

	var syntax *SyntaxError
	_, err = New("a\n{{ 1 +\n }}")
	require.ErrorAs(t, err, &syntax)
	require.Equal(t, 3, syntax.Line)
	for _, tag := range []string{"include 'x'", "import 'x' as y", "from 'x' import y", "extends 'x'"} {
		_, err = New("\n{% " + tag + " %}")
		require.ErrorAs(t, err, &syntax, tag)
		require.Contains(t, syntax.Msg, "refused")
	}

	var raise *RaiseError
	require.ErrorAs(t, renderOnce("x\n{{ raise_exception('roles must alternate') }}", Options{}), &raise)
	require.Equal(t, RaiseError{Line: 2, Msg: "roles must alternate"}, *raise)

	var run *RuntimeError
	require.ErrorAs(t, renderOnce("\n\n{{ messages[0].nope.x }}", Options{}), &run)
	require.Equal(t, 3, run.Line)
	require.Equal(t, "UndefinedError", run.Kind)

	require.ErrorAs(t, renderOnce("{{ 9223372036854775807 + 1 }}", Options{}), &run)
	require.Equal(t, "OverflowError", run.Kind)
	for _, op := range []string{"-9223372036854775807 - 2", "3037000500 * 3037000500", "2 ** 63", "(-9223372036854775807 - 1) * -1", "-(-9223372036854775807 - 1)", "(-9223372036854775807 - 1) // -1", "(-9223372036854775807 - 1) | abs"} {
		require.ErrorAs(t, renderOnce("{{ "+op+" }}", Options{}), &run, op)
		require.Equal(t, "OverflowError", run.Kind, op)
	}

	tmpl, err := New("{{ x }}")
	require.NoError(t, err)
	_, err = tmpl.Render(context.Background(), nil, Options{Extra: map[string]any{"x": make(chan int)}})
	require.ErrorContains(t, err, fmt.Sprintf("%T", make(chan int)))
}
