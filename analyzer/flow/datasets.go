package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// WorkerCopies is a loader with worker processes over a data set that holds its
// samples as Python objects. To read one writes its count of references, so that
// each worker comes to have a copy of all of them.
type WorkerCopies struct {
	// Loader is the call that makes the loader, Workers its argument that says how
	// many processes there are, and Count their number if that is a literal, else
	// 0.
	Loader, Workers Location
	Count           int
	// Name is the attribute that holds the samples, Filled where it gets them,
	// Read where a sample is taken of it.
	Name         string
	Filled, Read Location
}

// newLoader notes a loader made at n if its workers will copy its samples.
func (in *interpreter) newLoader(n syntax.NodeID, args arguments) {
	workers, dataset := args.at(5, "num_workers"), args.at(0, "dataset")
	if workers == nil || dataset == nil || in.frame.module != in.main || args.star != nil {
		return
	}
	count, literal := workers.literal.(int)
	if literal && count <= 0 {
		return
	}
	copies := WorkerCopies{Loader: Location{in.main, n}, Workers: Location{in.main, args.source(5, "num_workers", n)}, Count: count}
	for _, id := range dataset.objects {
		info := in.objects[id]
		if info.kind == objectInstance && in.derives(info.class, torch.DatasetClass) && in.samplesOf(info.class, &copies) {
			in.loaders[codeKey{in.main, n}] = copies
			return
		}
	}
}

// samplesOf finds the attribute in which a class keeps its samples as Python
// objects, and reports whether there is one.
func (in *interpreter) samplesOf(class ObjectID, copies *WorkerCopies) bool {
	var texts []classText
	for _, part := range in.lineage(class) {
		if info := in.objects[part]; info.kind == objectClass {
			texts = append(texts, classText{info.at.module, info.at.node})
		}
	}
	for _, text := range texts {
		for name, read := range text.samplesRead() {
			for _, other := range texts {
				if filled, ok := other.fills(name); ok {
					copies.Name, copies.Filled, copies.Read = name, filled, read
					return true
				}
			}
		}
	}
	return false
}

// partsOfData is what takes its samples from other data sets: it is taken for one
// of those.
func (in *interpreter) partsOfData(n syntax.NodeID, name string, args arguments) *Value {
	whole := args.at(0, "dataset")
	if name == "torch.utils.data.ConcatDataset" {
		if whole = args.at(0, "datasets"); whole != nil {
			whole = in.elementOf(args.expr(0, n), whole)
		}
	}
	switch {
	case whole == nil || !in.anyIs(whole, objectInstance):
		return in.callUnknown(n, noValue, args)
	case name == "torch.utils.data.random_split":
		return &Value{kinds: KindObject, elements: []*Value{whole}, variadic: true, structural: true}
	}
	return whole
}

// workerCopies are the loaders that were noted, by position.
func (in *interpreter) workerCopies() []WorkerCopies {
	var out []WorkerCopies
	for _, c := range in.loaders {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b WorkerCopies) int { return cmp.Compare(a.Loader.Node, b.Loader.Node) })
	return out
}

// classText is the text of a class. What a data set holds is read from it: files
// give values of which nothing is known, but that they are Python objects.
type classText struct {
	module *names.Module
	node   syntax.NodeID
}

// methods are the functions in the body of a class, by name.
func (c classText) methods(yield func(name string, function syntax.NodeID) bool) {
	t := c.module.Tree
	for n := range t.Children(t.Child(c.node, syntax.FieldBody)) {
		if t.Kind(n) == syntax.DecoratedDefinition {
			n = t.Child(n, syntax.FieldDefinition)
		}
		if t.Kind(n) == syntax.FunctionDefinition && !yield(t.Text(t.Child(n, syntax.FieldName)), n) {
			return
		}
	}
}

// ownAttribute is the name of the attribute of its receiver that an expression of
// a method is, empty for others.
func (c classText) ownAttribute(method, n syntax.NodeID) string {
	t := c.module.Tree
	self := t.First(t.Child(method, syntax.FieldParameters))
	if t.Kind(n) != syntax.Attribute || self < 0 || t.Text(t.Child(n, syntax.FieldObject)) != t.Text(self) {
		return ""
	}
	return t.Text(t.Child(n, syntax.FieldAttribute))
}

// samplesRead are the attributes of which a worker takes single samples, each
// with a place where it does, in the order of the text.
func (c classText) samplesRead() func(yield func(string, Location) bool) {
	return func(yield func(string, Location) bool) {
		t := c.module.Tree
		for name, method := range c.methods {
			if name != "__getitem__" && name != "__iter__" {
				continue
			}
			for n := method; n < t.End(method); n++ {
				taken := syntax.NoNode
				switch t.Kind(n) {
				case syntax.Subscript:
					taken = t.Child(n, syntax.FieldValue)
				case syntax.ForStatement:
					taken = t.Child(n, syntax.FieldRight)
				}
				if taken < 0 {
					continue
				}
				if attribute := c.ownAttribute(method, taken); attribute != "" && !yield(attribute, Location{c.module, n}) {
					return
				}
			}
		}
	}
}

// fills finds where a method gives an attribute many Python objects.
func (c classText) fills(attribute string) (Location, bool) {
	t := c.module.Tree
	for name, method := range c.methods {
		if name == "__getitem__" || name == "__iter__" {
			continue
		}
		records := recordText{t, method}
		for n := method; n < t.End(method); n++ {
			switch t.Kind(n) {
			case syntax.Assignment:
				left := t.Child(n, syntax.FieldLeft)
				if t.Kind(left) == syntax.Subscript && c.ownAttribute(method, t.Child(left, syntax.FieldValue)) == attribute {
					if records.inLoop(n) && records.isRecord(t.Child(n, syntax.FieldRight), 0) {
						return Location{c.module, n}, true
					}
				}
				if c.ownAttribute(method, left) == attribute && records.areMany(t.Child(n, syntax.FieldRight), 0) {
					return Location{c.module, n}, true
				}
			case syntax.Call:
				f := t.Child(n, syntax.FieldFunction)
				if t.Kind(f) == syntax.Attribute && c.ownAttribute(method, t.Child(f, syntax.FieldObject)) == attribute && records.isAdded(n) {
					return Location{c.module, n}, true
				}
			}
		}
	}
	return Location{}, false
}
