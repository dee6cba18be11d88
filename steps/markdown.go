package steps

import (
	"bytes"
	"errors"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// markdown turns the body of a page into HTML and into plain text. Raw HTML is refused rather than dropped: a page that
// has it was meant to show something.
func markdown(src string) (html, plain string, err error) {
	md := goldmark.New()
	doc := md.Parser().Parse(text.NewReader([]byte(src)))
	var b strings.Builder
	walk := func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.RawHTML, *ast.HTMLBlock:
			return ast.WalkStop, errors.New("the text has raw HTML; wanted Markdown, with `code` for anything in angle brackets")
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value([]byte(src)))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	}
	if err := ast.Walk(doc, walk); err != nil {
		return "", "", err
	}
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, []byte(src), doc); err != nil {
		return "", "", err
	}
	return strings.TrimSpace(out.String()), strings.TrimSpace(b.String()), nil
}
