package jinja

// Expressions.
type (
	expr interface{}

	constExpr struct{ v Value }
	nameExpr  struct {
		name string
		line int
	}
	attrExpr struct {
		x    expr
		name string
		line int
	}
	itemExpr struct {
		x, key expr
		line   int
	}
	sliceExpr struct{ from, to, step expr } // each may be nil; only as key of an itemExpr
	listExpr  struct{ items []expr }
	tupleExpr struct{ items []expr }
	dictExpr  struct{ keys, vals []expr }
	unaryExpr struct {
		op   string
		x    expr
		line int
	}
	binExpr struct {
		op   string
		a, b expr
		line int
	}
	concatExpr  struct{ items []expr }
	compareExpr struct {
		x    expr
		ops  []string
		args []expr
		line int
	}
	condExpr struct {
		test, yes, no expr // no may be nil
		line          int
	}
	callArgs struct {
		pos   []expr
		names []string
		vals  []expr
		star  expr // *args, or nil
		dstar expr // **kwargs, or nil
	}
	callExpr struct {
		fn   expr
		args callArgs
		line int
	}
	filterExpr struct {
		x    expr // nil in a filter block: the block's text
		name string
		args callArgs
		line int
	}
	testExpr struct {
		x    expr
		name string
		args callArgs
		line int
	}
)

// Assignment targets: *nameExpr, *nsTarget or *tupleExpr of targets.
type nsTarget struct {
	name, attr string
	line       int
}

// Statements.
type (
	stmt interface{}

	dataStmt  struct{ text string }
	printStmt struct {
		x    expr
		line int
	}
	ifStmt struct {
		tests  []expr
		bodies [][]stmt
		orElse []stmt
		line   int
	}
	forStmt struct {
		target       expr
		iter, filter expr
		body, orElse []stmt
		recursive    bool
		line         int
	}
	setStmt struct {
		target expr
		value  expr
		line   int
	}
	setBlockStmt struct {
		target expr
		filter expr // chain of filterExpr over nil, or nil
		body   []stmt
		line   int
	}
	withStmt struct {
		targets, values []expr
		body            []stmt
		line            int
	}
	scopeStmt struct{ body []stmt } // autoescape false
	blockStmt struct {
		body   []stmt
		scoped bool
	}
	macroDef struct {
		name                         string
		params                       []string
		defaults                     []expr // of the last parameters
		body                         []stmt
		varargs, kwargs, wantsCaller bool
		line                         int
	}
	macroStmt     struct{ def *macroDef }
	callBlockStmt struct {
		def  *macroDef
		call *callExpr
		line int
	}
	generationStmt struct{ body []stmt }
	filterStmt     struct {
		filter expr
		body   []stmt
		line   int
	}
	breakStmt    struct{}
	continueStmt struct{}
)
