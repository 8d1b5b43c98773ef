package failures

import (
	"context"
	"fmt"
	"strings"

	"github.com/graphleak/graphleak/analyzer/crash"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/text"
)

// inplaceID is the page about tensors that are changed although backward needs
// them. Where they are is found by the syntax of a function alone: no rule of the
// static analysis is about it, so suspects have the page's id for a code.
const inplaceID = "autograd.inplace"

// mutations finds where a file changes in place what an operation returned, given
// its name in the graph, such as SigmoidBackward0.
func (p *project) mutations(_ context.Context, file crash.File, operation string) ([]crash.Suspect, error) {
	want := resultOf(operation)
	if want == "" {
		return nil, nil
	}
	source, code, err := p.source(file)
	if err != nil {
		return nil, err
	}
	tree, err := parseSource(code)
	if err != nil {
		return nil, err
	}
	var list []crash.Suspect
	within := functions{tree}
	report := func(span text.Span, message string) {
		s := crash.Suspect{
			Path: file.Path, File: file.Name(), Code: inplaceID, Message: message, Severity: crash.SeverityWarning, Function: within.enclosing(span.Start),
		}
		s.Cell, s.Range = place(source, span)
		list = append(list, s)
	}
	r := results{tree: tree, want: want, where: func(span text.Span) string {
		cell, at := place(source, span)
		if cell > 0 {
			return fmt.Sprintf("cell %d, line %d", cell, at.Start.Line)
		}
		return fmt.Sprintf("line %d", at.Start.Line)
	}}
	r.block(tree.Root(), make(map[string]syntax.NodeID), report)
	return list, nil
}

// resultOf is the call, in lower case, or the operator that a node of the graph
// stands for. It is empty for views and for what is known by no such name.
func resultOf(operation string) string {
	name, _, found := strings.Cut(operation, "Backward")
	if !found {
		return ""
	}
	switch name = strings.ToLower(strings.TrimPrefix(name, "_")); name {
	case "add", "sub", "mul", "div", "pow":
		return map[string]string{"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}[name]
	case "mm", "addmm", "bmm", "matmul":
		return "@"
	case "logsoftmax":
		return "log_softmax"
	case "asstrided", "view", "slice", "select", "t", "transpose", "permute", "expand", "unbind", "index":
		return "" // of a view the base may be changed anywhere
	}
	return name
}

// results follows, through the statements of functions, which places hold what a
// call or an operator returned.
type results struct {
	tree  *syntax.Tree
	want  string
	where func(text.Span) string // how people name a place of the file
}

// block goes over the statements below n in the order of the text. made are the
// places (a name, or an attribute) and the expressions that they hold.
func (r *results) block(n syntax.NodeID, made map[string]syntax.NodeID, report func(text.Span, string)) {
	t := r.tree
	for c := range t.Children(n) {
		switch t.Kind(c) {
		case syntax.FunctionDefinition:
			r.block(c, make(map[string]syntax.NodeID), report)
			continue
		case syntax.AugmentedAssignment:
			left := t.Child(c, syntax.FieldLeft)
			r.changed(left, c, made, report, fmt.Sprintf("Write `%s = %s %s …` instead.", t.Text(left), t.Text(left), strings.TrimSuffix(t.Text(t.Child(c, syntax.FieldOperator)), "=")))
		case syntax.Assignment:
			r.block(c, made, report) // calls within the value
			r.assigned(c, made, report)
			continue
		case syntax.Call:
			r.called(c, made, report)
		}
		r.block(c, made, report)
	}
}

// assigned takes note of what an assignment stores, or reports that it stores
// into a tensor.
func (r *results) assigned(n syntax.NodeID, made map[string]syntax.NodeID, report func(text.Span, string)) {
	t := r.tree
	left, right := t.Child(n, syntax.FieldLeft), t.Child(n, syntax.FieldRight)
	switch t.Kind(left) {
	case syntax.Subscript:
		object := t.First(left)
		r.changed(object, n, made, report, fmt.Sprintf("Assign to a copy: `%s = %[1]s.clone()` first.", t.Text(object)))
	case syntax.Identifier, syntax.Attribute:
		if r.isResult(right) {
			made[t.Text(left)] = right
		} else {
			delete(made, t.Text(left))
		}
	}
}

// called reports a method that changes its tensor, and inplace=True.
func (r *results) called(n syntax.NodeID, made map[string]syntax.NodeID, report func(text.Span, string)) {
	t := r.tree
	function, arguments := t.Child(n, syntax.FieldFunction), t.Child(n, syntax.FieldArguments)
	if t.Kind(function) == syntax.Attribute {
		method := t.Text(t.Child(function, syntax.FieldAttribute))
		if strings.HasSuffix(method, "_") && !strings.HasSuffix(method, "__") {
			r.changed(t.Child(function, syntax.FieldObject), n, made, report, fmt.Sprintf("Use `%s`, which returns a new tensor.", strings.TrimSuffix(method, "_")))
		}
	}
	first := t.First(arguments)
	for a := range t.Children(arguments) {
		if t.Kind(a) == syntax.KeywordArgument && strings.ReplaceAll(t.Text(a), " ", "") == "inplace=True" {
			r.changed(first, n, made, report, "Leave `inplace=True` out.")
		}
	}
}

// changed reports a change of what a place holds, if that is such a result.
func (r *results) changed(target, at syntax.NodeID, made map[string]syntax.NodeID, report func(text.Span, string), advice string) {
	t := r.tree
	from, ok := made[t.Text(target)]
	if !ok {
		return
	}
	report(t.Span(at), fmt.Sprintf("`%s` is changed in place here, but backward needs it as `%s` (%s) returned it. %s", t.Text(target), firstLine(t.Text(from)), r.where(t.Span(from)), advice))
}

// isResult reports whether an expression as a whole is a call of the function or
// an operation with the operator.
func (r *results) isResult(n syntax.NodeID) bool {
	t := r.tree
	switch t.Kind(n) {
	case syntax.ParenthesizedExpression:
		return r.isResult(t.First(n))
	case syntax.BinaryOperator:
		return t.Text(t.Child(n, syntax.FieldOperator)) == r.want
	case syntax.Call:
		name := t.Text(t.Child(n, syntax.FieldFunction))
		return strings.TrimSuffix(strings.ToLower(name[strings.LastIndexByte(name, '.')+1:]), "_") == r.want
	}
	return false
}

// firstLine is s as a message can show it.
func firstLine(s string) string {
	line, _, more := strings.Cut(s, "\n")
	if more {
		line += " …"
	}
	return line
}
