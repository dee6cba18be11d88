package anchor

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// goDefs finds functions and methods: Name, (*T).Name, T.Name.
func goDefs(text []byte) []Def {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var out []Def
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil && len(fn.Recv.List) > 0 {
			name = receiver(fn.Recv.List[0].Type) + "." + name
		}
		out = append(out, Def{name, set.Position(fn.Pos()).Line})
	}
	return out
}

func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return "(*" + receiver(x.X) + ")"
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
