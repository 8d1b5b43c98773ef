package flow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/names"
)

const edited = torchImports + `
from tools import scale

log = print


def train(data):
    model = nn.Linear(2, 2)
    total = 0
    for x in data:
        total += model(x).mean()
    log(total.item())


class Meter:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        self.sum += scale(value)


def evaluate(model, data):
    seen = []
    for x in data:
        seen.append(model(x))
    log(len(seen))


def alone(x):
    return x + 1
`

// session types versions of a file.
type session struct {
	*inMemory
	t *testing.T
}

// version is what is found out about a text, and the first lines of what had to run
// for that.
func (s session) version(src string) (facts *Facts, ran []string) {
	s.t.Helper()
	const path = "/w/train.py"
	s.files[path] = src
	module := s.disk.Module(s.t.Context(), path)
	before := s.versions[path]
	p := newProgram(s.t.Context(), s.Workspace, module)
	p.succeed(before)
	facts, err := p.analyze()
	require.NoError(s.t, err)
	for _, g := range p.all {
		if g.interpreter == nil {
			continue
		}
		for _, o := range g.done {
			text := module.Tree.Text(o.at)
			if o.kind == runsModule {
				text = "module"
			}
			line, _, _ := strings.Cut(text, "\n")
			ran = append(ran, line)
		}
	}
	_, err = s.Reanalyze(s.t.Context(), module)
	require.NoError(s.t, err)
	fresh, err := NewWorkspace(names.NewResolver(s.disk)).Analyze(s.t.Context(), module)
	require.NoError(s.t, err)
	assert.Equal(s.t, fresh, facts)
	return facts, ran
}

func newSession(t *testing.T) session {
	return session{newInMemory(map[string]string{"/w/tools.py": "def scale(x):\n    return x * 2\n"}), t}
}

// An edit has run again what rests on it, and nothing else.
func TestWhatAnEditRunsAgain(t *testing.T) {
	const train, update, evaluate, alone = "def train(data):", "def update(self, value):", "def evaluate(model, data):", "def alone(x):"
	for _, tc := range []struct {
		name, old, new string
		want           []string
	}{
		{"nothing", "", "", nil},
		{"a line in front of all", "import", "# a comment\nimport", nil},
		{"a comment between two definitions", "\nclass Meter", "\n# what\nclass Meter", nil},
		{"one function", "x + 1", "x + 2", []string{alone}},
		{"a function that tells something", "total += model(x).mean()", "total += model(x).sum()", []string{train}},
		{"a name that two refer to", "log = print", "log = str", []string{train, evaluate}},
		{"a definition more", "def alone", "def another(x):\n    return x\n\n\ndef alone", []string{"def another(x):"}},
		{"a definition less", "\n\ndef alone(x):\n    return x + 1\n", "", nil},
		{"a method", "scale(value)", "scale(value) + 1", []string{update}},
		{"a name comes to be what another function refers to", "def alone(x)", "def len(x)", []string{evaluate}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newSession(t)
			s.version(edited)
			_, ran := s.version(strings.Replace(edited, tc.old, tc.new, 1))
			ran = without(ran, "def __init__(self):")
			assert.ElementsMatch(t, tc.want, ran)
		})
	}
}

func without(lines []string, line string) []string {
	var out []string
	for _, l := range lines {
		if l != line {
			out = append(out, l)
		}
	}
	return out
}

// What an imported file says may decide, whether the name is used at the top level or
// within a function.
func TestWhatAnotherFileChangesRunsAgain(t *testing.T) {
	s := newSession(t)
	s.version(edited)
	s.files["/w/tools.py"] = "def scale(x):\n    return x.detach()\n"
	_, ran := s.version(edited)
	assert.Contains(t, ran, "def update(self, value):")
	assert.NotContains(t, ran, "def train(data):")
}

// Facts are about where the code is now.
func TestFactsMoveWithTheirCode(t *testing.T) {
	s := newSession(t)
	before, _ := s.version(edited)
	after, ran := s.version("# one\n# two\n" + edited)
	require.Empty(t, ran)
	require.Len(t, after.Growths, len(before.Growths))
	require.NotEmpty(t, after.Growths)
	for i, g := range after.Growths {
		assert.Equal(t, before.Growths[i].Kept.Text(), g.Kept.Text())
		assert.Equal(t, before.Growths[i].Kept.Span().Start+len("# one\n# two\n"), g.Kept.Span().Start)
		assert.Equal(t, "/w/train.py", g.Kept.Module.Path)
	}
}

// Of a file that is not edited, or forgotten, nothing is kept.
func TestVersionsAreForgotten(t *testing.T) {
	s := newSession(t)
	s.version(edited)
	require.Contains(t, s.versions, "/w/train.py")
	s.Forget("/w/train.py")
	assert.Empty(t, s.versions)
	assert.Equal(t, 1, s.growths(t, "/w/train.py"))
	assert.Empty(t, s.versions)
}
