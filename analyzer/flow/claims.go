package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// What a project claims about functions takes the place of what they do: a call
// is not looked into, and a function that unseen code calls runs as the body of a
// loop that is not in the text.

// claimed is a call of something of which a project says what it does: a function
// or class of a library of a dotted name, or a function of the program. id is the
// object whose method it is, 0 for others.
func (in *interpreter) claimed(n syntax.NodeID, name string, id ObjectID, role torch.Role, args arguments) *Value {
	if role == torch.MakesModel {
		return in.newModule(n, name, torch.ModuleClass{Trainable: true, Saves: true}, args)
	}
	if id == 0 {
		return in.libraryCall(n, name, role, args)
	}
	return in.playRole(n, n, id, role, args)
}

// roleOfOwn is the role that a project claims for a function of the program.
func (in *interpreter) roleOfOwn(c *code) (torch.Role, bool) {
	if in.workspace.claims == nil {
		return 0, false
	}
	return in.workspace.claims.ClaimedIn(c.module.Path, qualifiedName(c))
}

// receiverOf is the object that a method is called on, 0 for a function.
func (in *interpreter) receiverOf(v *Value) ObjectID {
	if v == nil || len(v.objects) == 0 {
		return 0
	}
	return v.objects[0]
}

// qualifiedName is the name of a function, a method's with that of its class.
func qualifiedName(c *code) string {
	t := c.module.Tree
	name := t.Text(t.Child(c.node, syntax.FieldName))
	for p := t.Parent(c.node); p >= 0; p = t.Parent(p) {
		if t.Kind(p) == syntax.ClassDefinition {
			return t.Text(t.Child(p, syntax.FieldName)) + "." + name
		}
		if t.Kind(p) == syntax.FunctionDefinition {
			return ""
		}
	}
	return name
}

// calledEachStep is how unseen code calls a function that no known code calls, as
// claimed for it, for the method that it overrides, or for that of a library class
// that its class derives from.
func (in *interpreter) calledEachStep(r *root) torch.Called {
	claims := in.workspace.claims
	if claims == nil {
		return torch.NotCalled
	}
	if called := claims.CalledIn(r.code.module.Path, qualifiedName(r.code)); called != torch.NotCalled || r.class == 0 {
		return called
	}
	for _, id := range in.lineage(r.class) {
		info := in.objects[id]
		called := torch.NotCalled
		switch info.kind {
		case objectLibrary:
			called = claims.CalledOf(info.name, r.name)
		case objectClass:
			t := info.at.module.Tree
			called = claims.CalledIn(info.at.module.Path, t.Text(t.Child(info.at.node, syntax.FieldName))+"."+r.name)
		}
		if called != torch.NotCalled {
			return called
		}
	}
	return torch.NotCalled
}
