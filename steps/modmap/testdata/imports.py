"""Prints the import statements of Python files as Python's own parser sees them, in the form of glassbox modmap --statements.

    python imports.py ROOT FOLDER-OR-FILE...     a line a file: [path, [[line, level, module, names, kind], ...]]
    python imports.py --closure ROOT MODULE...   the modules that modulefinder finds from these, a line each
"""

import ast
import json
import modulefinder
import os
import sys


def checking(test):
    """The test holds for type checkers alone."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(checking(v) for v in test.values)
    return isinstance(test, (ast.Name, ast.Attribute)) and "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def running(test):
    """The test fails for type checkers alone."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(running(v) for v in test.values)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and checking(test.operand)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.Try, ast.TryStar, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Match)


def walk(node, kind, out):
    for field, value in ast.iter_fields(node):
        inner = kind
        if isinstance(node, FUNCTIONS):
            inner = max(kind, 2)
        elif isinstance(node, BRANCHES):
            inner = max(kind, 1)
        if isinstance(node, ast.If) and (field == "body" and checking(node.test) or field == "orelse" and running(node.test)):
            inner = 3
        for n in value if isinstance(value, list) else [value]:
            if isinstance(n, ast.Import):
                out.append((n.lineno, -1, None, [a.name for a in n.names], inner))
            elif isinstance(n, ast.ImportFrom):
                out.append((n.lineno, n.level, n.module, [a.name for a in n.names], inner))
            elif isinstance(n, ast.AST):
                walk(n, inner, out)


def statements(path):
    with open(path, "rb") as f:
        tree = ast.parse(f.read())
    out = []
    walk(tree, 0, out)
    return [[*row[:4], ("top", "conditional", "lazy", "typing")[row[4]]] for row in out]


def files(root, names):
    for name in names:
        top = os.path.join(root, name)
        if os.path.isfile(top):
            yield name
        for folder, below, found in os.walk(top):
            below[:] = [d for d in below if d.isidentifier() and d != "__pycache__"]
            for f in found:
                if f.endswith(".py") and f[:-3].isidentifier():
                    yield os.path.relpath(os.path.join(folder, f), root)


if sys.argv[1] == "--closure":
    root, package = sys.argv[2], sys.argv[3].split(".")[0]
    finder = modulefinder.ModuleFinder(path=[root])
    for module in sys.argv[3:]:
        finder.import_hook(module)
    print("\n".join(sorted(n for n in finder.modules if n == package or n.startswith(package + "."))))
else:
    for path in sorted(files(sys.argv[1], sys.argv[2:])):
        print(json.dumps([path, statements(os.path.join(sys.argv[1], path))], separators=(",", ":"), ensure_ascii=False))
