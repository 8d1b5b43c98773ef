package fixes

import (
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
)

// Uncache are the fixes of a cache that keeps tensors: a property is remembered
// by its object, anything else not at all.
func Uncache(c flow.Cache) []rules.Fix {
	if len(c.Tensors) == 0 {
		if c.Property {
			return cacheInObject(c)
		}
		return nil
	}
	fix := rules.Fix{
		Title:  fmt.Sprintf("Remove the cache of %s (calls with the very same tensor are computed again)", source(NameOf(c.Function))),
		Safety: rules.Unsafe,
	}
	s, ok := wholeLine(c.Decorator)
	if !ok {
		return nil
	}
	fix.Edits = []rules.FileEdit{{Path: c.Decorator.Module.Path, Edit: text.Edit{Span: s}}}
	return []rules.Fix{fix}
}

// cacheInObject turns @property and @lru_cache() into @functools.cached_property.
func cacheInObject(c flow.Cache) []rules.Fix {
	t := c.Decorator.Module.Tree
	decorator := t.First(c.Decorator.Node)
	if t.Kind(c.Decorator.Node) != syntax.Decorator {
		decorator = c.Decorator.Node
	}
	if t.Kind(decorator) == syntax.Call {
		decorator = t.Child(decorator, syntax.FieldFunction)
	}
	written, imports, ok := cachedProperty(t, t.Text(decorator))
	cached, alone := wholeLine(c.Decorator)
	if !ok || !alone {
		return nil
	}
	for n := t.First(t.Parent(c.Function.Node)); n >= 0; n = t.Next(n) {
		if t.Kind(n) == syntax.Decorator && t.Text(t.First(n)) == "property" {
			fix := rules.Fix{Title: "Remember the value in the object: `cached_property`", Safety: rules.Unsafe}
			for _, e := range append(imports, text.Edit{Span: t.Span(t.First(n)), New: written}, text.Edit{Span: cached}) {
				fix.Edits = append(fix.Edits, rules.FileEdit{Path: c.Decorator.Module.Path, Edit: e})
			}
			return []rules.Fix{fix}
		}
	}
	return nil
}

// cachedProperty is how a file that imports functools, or something of it, writes
// cached_property in the place of another decorator, with what its import needs for
// that.
func cachedProperty(t *syntax.Tree, decorator string) (written string, imports []text.Edit, ok bool) {
	const name = "cached_property"
	for n := range t.Children(t.Root()) {
		switch t.Kind(n) {
		case syntax.ImportStatement:
			if t.Text(t.First(n)) == "functools" {
				return "functools." + name, nil, true
			}
		case syntax.ImportFromStatement:
			if level, dotted := names.ImportSource(t, n); level > 0 || dotted != "functools" {
				continue
			}
			last := syntax.NoNode
			for c := range t.Children(n) {
				if t.Role(c) != syntax.FieldName {
					continue
				}
				switch t.Text(c) {
				case name:
					return name, nil, true
				case decorator:
					if countOf(t, decorator) == 2 { // here and in its place
						return name, []text.Edit{{Span: t.Span(c), New: name}}, true
					}
				}
				last = c
			}
			if last >= 0 {
				return name, []text.Edit{insertion(t.Span(last).End, ", "+name)}, true
			}
		}
	}
	return "", nil, false
}

// countOf is how often a file has a name.
func countOf(t *syntax.Tree, name string) int {
	count := 0
	for n := t.Root(); int(n) < t.Len(); n++ {
		if t.Kind(n) == syntax.Identifier && t.Text(n) == name {
			count++
		}
	}
	return count
}

// wholeLine is the line on which a decorator stands, with the end of the line.
func wholeLine(decorator flow.Location) (text.Span, bool) {
	src := string(decorator.Module.Tree.Source())
	s := decorator.Span()
	start := strings.LastIndexByte(src[:s.Start], '\n') + 1
	end := strings.IndexByte(src[s.End:], '\n')
	if end < 0 || strings.Trim(src[start:s.Start], " \t@") != "" || strings.TrimSpace(src[s.End:s.End+end]) != "" {
		return text.Span{}, false
	}
	return text.Span{Start: start, End: s.End + end + 1}, true
}

// NameOf is the name of a definition.
func NameOf(l flow.Location) flow.Location {
	return flow.Location{Module: l.Module, Node: l.Module.Tree.Child(l.Node, syntax.FieldName)}
}
