package flow

import "slices"

// maxBases bounds how many classes within each other are looked at.
const maxBases = 8

// maxLineage bounds how many classes one class is looked for in.
const maxLineage = 32

// lineage is a class with all it derives from, in the order in which Python
// looks for attributes: a class before its bases, and bases in their order.
// Classes of libraries are in it by their names.
func (a *analysis) lineage(class ObjectID) []ObjectID {
	if info := a.objects[class]; info.lineage != nil {
		return info.lineage
	}
	return a.linearised(class, 0)
}

// linearised is the lineage of a class that many levels below the first.
func (a *analysis) linearised(class ObjectID, depth int) []ObjectID {
	info := a.objects[class]
	if depth > maxBases || info.kind != objectClass {
		return []ObjectID{class}
	}
	var bases []ObjectID
	var lines [][]ObjectID
	for _, base := range info.bases {
		for _, id := range base.objects {
			if k := a.objects[id].kind; (k == objectClass || k == objectLibrary) && id != class && !slices.Contains(bases, id) {
				bases = append(bases, id)
				lines = append(lines, a.linearised(id, depth+1))
			}
		}
	}
	return append([]ObjectID{class}, merged(append(lines, bases))...)
}

// merged puts lines of classes together: a class comes before those that follow
// it in any line. Where the lines contradict each other, which Python would not
// accept, the first one counts.
func merged(lines [][]ObjectID) []ObjectID {
	var out []ObjectID
	for len(out) < maxLineage {
		lines = slices.DeleteFunc(lines, func(l []ObjectID) bool { return len(l) == 0 })
		if len(lines) == 0 {
			break
		}
		next := lines[0][0]
		for _, l := range lines {
			if !slices.ContainsFunc(lines, func(o []ObjectID) bool { return slices.Contains(o[1:], l[0]) }) {
				next = l[0]
				break
			}
		}
		out = append(out, next)
		for i, l := range lines {
			lines[i] = slices.DeleteFunc(slices.Clone(l), func(id ObjectID) bool { return id == next })
		}
	}
	return out
}

// classAttribute looks an attribute up in a class and its bases. owner is the
// class that has it.
func (in *interpreter) classAttribute(class ObjectID, f Symbol) (v *Value, owner ObjectID) {
	return in.attributeIn(in.lineage(class), f)
}

// attributeIn is the first attribute of a name in a row of classes.
func (in *interpreter) attributeIn(classes []ObjectID, f Symbol) (v *Value, owner ObjectID) {
	for _, id := range classes {
		if in.objects[id].kind != objectClass {
			continue
		}
		if v := in.state.get(Place{id, f}); v != nil {
			return v, id
		}
	}
	return nil, 0
}

// superLineage is where super() in a method of a class looks for attributes: in
// what comes after the class in the lineage of the receiver's class.
func (a *analysis) superLineage(receiver, class ObjectID) []ObjectID {
	of := class
	switch info := a.objects[receiver]; info.kind {
	case objectInstance:
		of = info.class
	case objectClass:
		of = receiver
	}
	line := a.lineage(of)
	i := slices.Index(line, class)
	if i < 0 {
		line, i = a.lineage(class), 0
	}
	return line[i+1:]
}

// libraryBases are the dotted names of the library classes that a class derives
// from.
func (a *analysis) libraryBases(class ObjectID) []string {
	var out []string
	for _, id := range a.lineage(class) {
		if info := a.objects[id]; info.kind == objectLibrary {
			out = append(out, info.name)
		}
	}
	return out
}

// derives reports whether a class derives from a library class that is one.
func (a *analysis) derives(class ObjectID, is func(string) bool) bool {
	return slices.ContainsFunc(a.libraryBases(class), is)
}
