package fixes

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

// keyword is the edit that gives a keyword argument of a call a value: a new one
// stands on a line of its own where the last argument does.
func keyword(call flow.Location, name, value string) text.Edit {
	t := call.Module.Tree
	src := t.Source()
	list := t.Child(call.Node, syntax.FieldArguments)
	last := syntax.NoNode
	for a := range t.Children(list) {
		if t.Kind(a) == syntax.KeywordArgument && t.Text(t.Child(a, syntax.FieldName)) == name {
			return text.Edit{Span: t.Span(t.Child(a, syntax.FieldValue)), New: value}
		}
		last = a
	}
	argument := name + "=" + value
	if last < 0 {
		return insertion(t.Span(list).Start+1, argument)
	}
	end := t.Span(last).End
	separator, indent := ", ", ""
	if before, ok := indentation(t, last); ok {
		separator, indent = ",\n", before
	}
	rest := src[end : t.Span(list).End-1]
	if comma := strings.IndexByte(rest, ','); comma >= 0 && strings.TrimSpace(rest[:comma]) == "" {
		if separator == ", " {
			return insertion(end, separator+argument)
		}
		return insertion(end+comma+1, "\n"+indent+argument+",")
	}
	return insertion(end, separator+indent+argument)
}
