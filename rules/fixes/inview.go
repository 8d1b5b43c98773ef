package fixes

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/rules"
)

// view is the code in which the uses of a value are looked at: the files that the
// analysis has followed, and those of the programs that they are part of.
type view struct {
	pass *rules.Pass
	// own are the files that the analysis has followed. It knows of the backwards in
	// them.
	own []*names.Module
	// users are the other files that mention a word.
	users map[string][]*names.Module
	// hidden says that files may use the value that are not in view, and elsewhere
	// that programs may which install the package.
	hidden, elsewhere bool
	// given says that a caller has given the place where the value is stored.
	given bool
	// leak is the first place where the value goes to code that is not in view.
	leak flow.Location
}

func newView(p *rules.Pass, own ...*names.Module) *view {
	v := &view{pass: p, users: map[string][]*names.Module{}}
	for _, m := range own {
		if m != nil && !v.isOwn(m) {
			v.own = append(v.own, m)
		}
	}
	return v
}

// isOwn reports whether the analysis has followed a file.
func (v *view) isOwn(m *names.Module) bool {
	for _, own := range v.own {
		if own.Path == m.Path {
			return true
		}
	}
	return false
}

// mentioning are the files in view that may use what is known by a word.
func (v *view) mentioning(word string) []*names.Module {
	others, ok := v.users[word]
	if !ok {
		// Programs with the last file have all others in them too.
		users := v.pass.Using(v.own[len(v.own)-1].Path, word)
		v.hidden = v.hidden || !users.Complete
		v.elsewhere = v.elsewhere || users.Distributed && !isPrivate(word)
		for _, m := range users.Files {
			if !v.isOwn(m) {
				others = append(others, m)
			}
		}
		v.users[word] = others
	}
	return append(v.own[:len(v.own):len(v.own)], others...)
}

// isPrivate reports whether a name says that it is for the code of its own package.
func isPrivate(name string) bool {
	return strings.HasPrefix(name, "_") && !strings.HasSuffix(name, "__")
}

// loses notes that the value goes to code that is not in view.
func (v *view) loses(m *names.Module, n syntax.NodeID) {
	if v.leak.Module == nil {
		v.leak = flow.Location{Module: m, Node: n}
	}
}

// whole reports whether all that may use the value is in view.
func (v *view) whole() bool { return v.doubt("") == "" }

// doubt says what a person has to look at before the value may change: nothing if
// all that uses it is in view. What could be wrong there is a verb phrase.
func (v *view) doubt(wrong string) string {
	switch {
	case v.hidden:
		return fmt.Sprintf("other files were not looked at: check that none %s", wrong)
	case v.given:
		return fmt.Sprintf("check that no caller %s", wrong)
	case v.leak.Module != nil:
		return fmt.Sprintf("check what %s does with it", v.at(v.leak))
	case v.elsewhere:
		return fmt.Sprintf("check that no program which installs this package %s", wrong)
	}
	return ""
}

// at is where something stands, for a title.
func (v *view) at(l flow.Location) string {
	line := fmt.Sprintf("line %d", 1+strings.Count(l.Module.Tree.Source()[:l.Span().Start], "\n"))
	if l.Module == v.pass.Module {
		return line
	}
	return fmt.Sprintf("%s of %s", line, filepath.Base(l.Module.Path))
}
