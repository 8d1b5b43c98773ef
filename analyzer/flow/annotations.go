package flow

import (
	"strings"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// annotated is v with what a type annotation says of it.
func (in *interpreter) annotated(v *Value, typ syntax.NodeID) *Value {
	if v == nil || !v.only(KindUnknown) {
		return v
	}
	class := in.annotation(typ)
	c := *v
	for _, id := range class.objects {
		switch info := in.objects[id]; info.kind {
		case objectClass:
			return in.instantiate(typ, id, arguments{})
		case objectLibrary:
			if nn, ok := torch.Module(info.name); ok && info.name != "torch.nn.Module" {
				return in.newModule(typ, info.name, nn, arguments{})
			}
		}
	}
	name := strings.Trim(in.tree().Text(typ), `"' `)
	switch name = name[strings.LastIndexByte(name, '.')+1:]; name {
	case "float", "int", "str", "bool", "ndarray", "Path":
		c.kinds, c.atoms, c.objects = KindPlain, nil, nil
		return &c
	case "Tensor", "FloatTensor", "LongTensor":
		c.kinds, c.objects = KindTensor, nil
		return &c
	case "Module":
		for _, id := range c.objects {
			in.objects[id].model = true
		}
	}
	return &c
}

// annotation is the class that a type annotation names, through quotes,
// Optional and unions with None.
func (in *interpreter) annotation(typ syntax.NodeID) *Value {
	t := in.tree()
	n := typ
	for {
		switch t.Kind(n) {
		case syntax.Type, syntax.ParenthesizedExpression:
			n = t.First(n)
			continue
		case syntax.Identifier, syntax.Attribute:
			return in.expression(n)
		case syntax.String:
			name, _ := stringLiteral(t, n).(string)
			return orPlain(in.global(in.frame.module, in.symbol(name)))
		case syntax.GenericType, syntax.Subscript:
			if head := t.First(n); strings.HasSuffix(t.Text(head), "Optional") {
				if n = t.Next(head); t.Kind(n) != syntax.Type {
					n = t.First(n)
				}
				continue
			}
		case syntax.BinaryOperator, syntax.UnionType:
			for c := range t.Children(n) {
				if t.Kind(c) != syntax.Operator && t.Text(c) != "None" {
					n = c
					break
				}
			}
			continue
		}
		return plain
	}
}
