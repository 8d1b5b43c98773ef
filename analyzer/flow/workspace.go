package flow

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Workspace analyses the modules of a workspace. It keeps what functions of
// imported modules do, once for all modules that call them. Many goroutines may
// use one workspace.
type Workspace struct {
	resolver *names.Resolver
	claims   *torch.Claims

	mu        sync.Mutex
	summaries map[summaryKey]*summary
	// newest is the module of each file that was summarised last; about, the
	// summaries whose key names a module.
	newest map[string]*names.Module
	about  map[*names.Module][]summaryKey
	bytes  int // of the sources of the modules
	// versions are what was found out about files that are being edited, by path.
	versions map[string]*version
}

// NewWorkspace returns a workspace that follows imports with resolver, and takes
// what is claimed about functions for true.
func NewWorkspace(resolver *names.Resolver, claims ...torch.Claim) *Workspace {
	return &Workspace{resolver: resolver, claims: torch.NewClaims(claims), summaries: map[summaryKey]*summary{}, newest: map[string]*names.Module{}, about: map[*names.Module][]summaryKey{}, versions: map[string]*version{}}
}

// Module is a Python file of the given text as a module: the one that imports of
// the file lead to, if that has the same text.
func (w *Workspace) Module(ctx context.Context, path string, text []byte) (*names.Module, error) {
	if m := w.resolver.Module(ctx, path); m != nil && m.Tree.Source() == string(text) {
		return m, nil
	}
	tree, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	return names.NewModule(path, tree), nil
}

// known is the summary that was kept for a key, nil when there is none.
func (w *Workspace) known(key summaryKey) *summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.summaries[key]
}

// What a long session keeps is bounded: beyond these everything is forgotten, and
// what is still in use is made again.
const (
	maxSummaries = 50_000
	maxSources   = 16 << 20
)

// keep keeps a summary. With each keystroke a file becomes another module: what
// was known of the one before is forgotten.
func (w *Workspace) keep(key summaryKey, s *summary) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.summaries) >= maxSummaries || w.bytes >= maxSources {
		clear(w.summaries)
		clear(w.newest)
		clear(w.about)
		w.bytes = 0
	}
	if _, noted := w.summaries[key]; !noted {
		w.note(key.module, key)
		for _, r := range s.refers {
			if m, ok := r.(*names.Module); ok && m != key.module {
				w.note(m, key)
			}
		}
	}
	w.summaries[key] = s
}

// note notes that the key of a summary names a module.
func (w *Workspace) note(m *names.Module, key summaryKey) {
	if m == nil {
		return
	}
	if w.newest[m.Path] != m {
		w.drop(m.Path)
		w.newest[m.Path] = m
		w.bytes += len(m.Tree.Source())
	}
	w.about[m] = append(w.about[m], key)
}

// drop forgets all that was kept about the file at path.
func (w *Workspace) drop(path string) {
	old := w.newest[path]
	if old == nil {
		return
	}
	for _, key := range w.about[old] {
		delete(w.summaries, key)
	}
	delete(w.about, old)
	delete(w.newest, path)
	w.bytes -= len(old.Tree.Source())
}

// Forget drops what was found out about the file at path. It is found out again
// when it is needed.
func (w *Workspace) Forget(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.versions, path)
	w.drop(path)
}

// importKey is a question to the resolver.
type importKey struct {
	from   *names.Module
	level  int
	dotted string
}

// resolve asks what an import of a module refers to, and notes that what is
// being found out rests on the answer.
func (in *interpreter) resolve(from *names.Module, level int, dotted string) names.Import {
	key := importKey{from, level, dotted}
	answer := in.answer(key)
	if in.making.asked != nil {
		in.making.asked[key] = answer.Module
	}
	return answer
}

// answer asks the resolver, and notes that the analysis rests on the answer.
func (in *interpreter) answer(key importKey) names.Import {
	answer, ok := in.imports[key]
	if !ok {
		answer = in.answers.to(key)
		in.imports[key] = answer
	}
	return answer
}

// answers are what the resolver says, asked once in the analysis of a program: all
// parts of it see the same files.
type answers struct {
	ctx       context.Context
	workspace *Workspace
	known     map[importKey]names.Import
}

func newAnswers(ctx context.Context, w *Workspace) *answers {
	return &answers{ctx, w, map[importKey]names.Import{}}
}

func (a *answers) to(key importKey) names.Import {
	answer, ok := a.known[key]
	if !ok {
		answer = a.workspace.resolver.Resolve(a.ctx, key.from, key.level, key.dotted)
		a.known[key] = answer
	}
	return answer
}

// dependencies are the files that some answers of the resolver rest on.
func dependencies(imports map[importKey]names.Import) names.Dependencies {
	keys := slices.SortedFunc(maps.Keys(imports), func(a, b importKey) int {
		return cmp.Or(strings.Compare(a.from.Path, b.from.Path), cmp.Compare(a.level, b.level), strings.Compare(a.dotted, b.dotted))
	})
	var d names.Dependencies
	for _, key := range keys {
		d.Add(key.from.Path, key.level, key.dotted, imports[key])
	}
	return d
}
