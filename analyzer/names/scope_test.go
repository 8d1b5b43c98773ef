package names

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

func parse(t *testing.T, path, src string) *Module {
	t.Helper()
	tree, err := syntax.Parse([]byte(src))
	require.NoError(t, err)
	require.Empty(t, tree.DamagedSpans(), src)
	return NewModule(path, tree)
}

// describe names a scope: "module", what a function or class is called, or
// what else opens it.
func describe(m *Module, s *Scope) string {
	switch t := m.Tree; t.Kind(s.Node) {
	case syntax.Module:
		return "module"
	case syntax.FunctionDefinition, syntax.ClassDefinition:
		return t.Text(t.Child(s.Node, syntax.FieldName))
	case syntax.Lambda:
		return "lambda"
	}
	return "comprehension"
}

func scopeCalled(t *testing.T, m *Module, name string) *Scope {
	t.Helper()
	for _, s := range m.scopes {
		if describe(m, s) == name {
			return s
		}
	}
	t.Fatalf("no scope %s", name)
	return nil
}

// TestLookup asks in which scope the x lives that code of one scope means.
func TestLookup(t *testing.T) {
	tests := []struct{ name, src, from, want string }{
		{"a global", "x = 1\n", "module", "module"},
		{"a global, from a function", "x = 1\ndef f():\n    return x\n", "f", "module"},
		{"a local", "x = 1\ndef f():\n    x = 2\n    return x\n", "f", "f"},
		{"a local that is assigned later", "def f():\n    print(x)\n    x = 2\n", "f", "f"},
		{"a parameter", "def f(x):\n    return x\n", "f", "f"},
		{"a parameter with type and default", "def f(x: int = 0):\n    return x\n", "f", "f"},
		{"a parameter with a type", "def f(x: int):\n    return x\n", "f", "f"},
		{"the rest of the arguments", "def f(*x):\n    return x\n", "f", "f"},
		{"the rest of the arguments with a type", "def f(*x: int):\n    return x\n", "f", "f"},
		{"the rest of the keywords", "def f(**x):\n    return x\n", "f", "f"},
		{"a parameter after a bare star", "def f(*, x):\n    return x\n", "f", "f"},
		{"a parameter after a slash", "def f(a, /, x):\n    return x\n", "f", "f"},
		{"a default binds nothing", "def f(a=x):\n    return a\n", "f", "module"},
		{"a type binds nothing", "def f(a: x) -> x:\n    return a\n", "f", "module"},
		{"a closure", "def f():\n    x = 1\n    def g():\n        return x\n", "g", "f"},
		{"global", "def f():\n    global x\n    x = 1\n", "f", "module"},
		{"global passes a closure by", "def f():\n    x = 1\n    def g():\n        global x\n        return x\n", "g", "module"},
		{"nonlocal", "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1\n", "g", "f"},
		{"a class body", "class C:\n    x = 1\n", "C", "C"},
		{"methods do not see the class body", "class C:\n    x = 1\n    def m(self):\n        return x\n", "m", "module"},
		{"a class body in a function", "def f():\n    x = 1\n    class C:\n        y = x\n", "C", "f"},
		{"a builtin", "def f():\n    return x\n", "f", "module"},
		{"for", "def f():\n    for x in y:\n        pass\n", "f", "f"},
		{"a nested target", "def f():\n    for a, (b, *x) in y:\n        pass\n", "f", "f"},
		{"tuple assignment", "def f():\n    a, [b, x] = y\n", "f", "f"},
		{"chained assignment", "def f():\n    a = x = y\n", "f", "f"},
		{"an annotated name", "def f():\n    x: int = 1\n", "f", "f"},
		{"augmented assignment", "def f():\n    x += 1\n", "f", "f"},
		{"an attribute is no name", "def f(a):\n    a.x = 2\n", "f", "module"},
		{"an entry is no name", "def f():\n    x[0] = 2\n", "f", "module"},
		{"a keyword argument is no name", "def f():\n    g(x=2)\n", "f", "module"},
		{"with", "def f():\n    with open(p) as x:\n        pass\n", "f", "f"},
		{"with a tuple", "def f():\n    with g() as (a, x):\n        pass\n", "f", "f"},
		{"except", "def f():\n    try:\n        pass\n    except E as x:\n        pass\n", "f", "f"},
		{"import", "def f():\n    import x\n", "f", "f"},
		{"import of a submodule", "def f():\n    import x.y.z\n", "f", "f"},
		{"import of a submodule binds its first part only", "def f():\n    import y.x\n", "f", "module"},
		{"import as", "def f():\n    import a.b as x\n", "f", "f"},
		{"import as binds the new name only", "def f():\n    import x.y as b\n", "f", "module"},
		{"from", "def f():\n    from a import x\n", "f", "f"},
		{"from as", "def f():\n    from a import b as x\n", "f", "f"},
		{"from as binds the new name only", "def f():\n    from a import x as b\n", "f", "module"},
		{"the module of from is no name", "def f():\n    from x import b\n", "f", "module"},
		{"a function", "def f():\n    def x():\n        pass\n", "f", "f"},
		{"a decorated function", "def f():\n    @d\n    def x():\n        pass\n", "f", "f"},
		{"a class", "def f():\n    class x:\n        pass\n", "f", "f"},
		{"a comprehension", "y = [x for x in z]\n", "comprehension", "comprehension"},
		{"a comprehension binds nothing outside", "def f():\n    y = [x for x in z]\n", "f", "module"},
		{"a comprehension sees what is around", "def f(x):\n    y = [x for a in z]\n", "comprehension", "f"},
		{"a nested target of a comprehension", "y = {a: x for a, (b, x) in z}\n", "comprehension", "comprehension"},
		{"a walrus", "def f():\n    if (x := g()):\n        pass\n", "f", "f"},
		{"a walrus in a comprehension", "def f():\n    y = [x := a for a in z]\n", "f", "f"},
		{"lambda", "y = lambda x: x\n", "lambda", "lambda"},
		{"a default of a lambda binds nothing", "y = lambda a=x: a\n", "lambda", "module"},
		{"match", "def f(y):\n    match y:\n        case [a, x]:\n            pass\n", "f", "f"},
		{"match as", "def f(y):\n    match y:\n        case [1] as x:\n            pass\n", "f", "f"},
		{"a constant of a match", "def f(y):\n    match y:\n        case E.x:\n            pass\n", "f", "module"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := parse(t, "", tt.src)
			assert.Equal(t, tt.want, describe(m, scopeCalled(t, m, tt.from).Lookup("x")), tt.src)
		})
	}
}

func TestScopesKnowHowTheyRun(t *testing.T) {
	m := parse(t, "", `
def plain():
    def inner():
        yield 1
    return inner

def generator():
    for x in y:
        yield x

def delegating():
    yield from generator()

async def coroutine():
    await generator()

class C:
    async def stream(self):
        yield 1
`)
	type runs struct{ generator, async, class bool }
	want := map[string]runs{
		"plain": {}, "inner": {generator: true}, "generator": {generator: true}, "delegating": {generator: true},
		"coroutine": {async: true}, "C": {class: true}, "stream": {generator: true, async: true}, "module": {},
	}
	for name, w := range want {
		s := scopeCalled(t, m, name)
		assert.Equal(t, w, runs{s.Generator, s.Async, s.Class}, name)
	}
	assert.Len(t, m.scopes, len(want), "each block opens one scope")
}

func TestOnlyBlocksOpenScopes(t *testing.T) {
	m := parse(t, "", "if a:\n    for x in y:\n        with z:\n            pass\n")
	for n := m.Tree.Root() + 1; int(n) < m.Tree.Len(); n++ {
		assert.Nil(t, m.Scope(n))
	}
	assert.NotNil(t, m.Scope(m.Tree.Root()))
}
