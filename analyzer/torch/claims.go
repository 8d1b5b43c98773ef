package torch

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Claim is what a project says about one function, of its own or of a library:
// something that the tables do not know and the analysis cannot see.
type Claim struct {
	// Name is the dotted name under which it is imported, for a method with its
	// class: "lab.metrics.Meter.update".
	Name string
	// Role is what a call does with the values it is given, if that is claimed.
	Role Role
	// Called says that code which is not seen calls the function.
	Called Called
}

// Called says how unseen code calls a function of the program.
type Called uint8

// How unseen code calls a function.
const (
	// NotCalled: nothing is known of it.
	NotCalled Called = iota
	// EachStep: once in each step of a training.
	EachStep
	// TrainingStep: the same, and a backward pass runs on what it returns.
	TrainingStep
)

var dottedName = regexp.MustCompile(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)+$`)

// Check fails if the name is none of a function in a module.
func (c Claim) Check() error {
	if !dottedName.MatchString(c.Name) {
		return fmt.Errorf("%q is no dotted name of a function: it begins with the module, as in \"lab.losses.total\" or \"lab.metrics.Meter.update\"", c.Name)
	}
	return nil
}

// Claims is what a project says about functions. It comes before the tables. A
// nil *Claims says nothing.
//
// Packages hand on names from where they are defined, so a claim counts wherever
// one of the modules, that of the claim and that of the import, is part of the
// path to the other.
type Claims struct {
	byName map[string][]placed // by "function" or "Class.method"
	// classes are those with a method that has a claim.
	classes map[string][]placed
	// packages are the first parts of the names.
	packages map[string]bool
}

// placed is a claim about something in a module.
type placed struct {
	module string
	Claim
}

// NewClaims collects claims, nil if there are none.
func NewClaims(list []Claim) *Claims {
	if len(list) == 0 {
		return nil
	}
	c := &Claims{byName: map[string][]placed{}, classes: map[string][]placed{}, packages: map[string]bool{}}
	for _, claim := range list {
		module, name, class := partsOf(claim.Name)
		first, _, _ := strings.Cut(module, ".")
		c.packages[first] = true
		c.byName[name] = append(c.byName[name], placed{module, claim})
		if class != "" {
			c.classes[class] = append(c.classes[class], placed{module, Claim{Role: MakesHelper}})
		}
	}
	return c
}

// partsOf are the module, the name in it, and the class if it is a method, of a
// dotted name.
func partsOf(dotted string) (module, name, class string) {
	module, name = cutLast(dotted)
	before, last := cutLast(module)
	if before != "" && last[0] >= 'A' && last[0] <= 'Z' {
		return before, last + "." + name, last
	}
	return module, name, ""
}

// Within reports whether there is a claim about something in a package.
func (c *Claims) Within(pkg string) bool { return c != nil && c.packages[pkg] }

// RoleOf is what the function, class or method of a dotted name does.
func (c *Claims) RoleOf(dotted string) (Role, bool) {
	if role, ok := c.Claimed(dotted); ok {
		return role, true
	}
	return RoleOf(dotted)
}

// Claimed is like RoleOf, but does not look into the tables.
func (c *Claims) Claimed(dotted string) (Role, bool) {
	if c == nil {
		return 0, false
	}
	module, name, _ := partsOf(dotted)
	in := func(of placed) bool { return of.Role != 0 && onePath(of.module, module) }
	for _, known := range [][]placed{c.byName[name], c.classes[name]} {
		if i := slices.IndexFunc(known, in); i >= 0 {
			return known[i].Role, true
		}
	}
	return 0, false
}

// ClaimedIn is what a function of the program does, or a method if name has a
// class in front, which is defined in the file at path.
func (c *Claims) ClaimedIn(path, name string) (Role, bool) {
	known := c.in(path, name, func(of placed) bool { return of.Role != 0 })
	return known.Role, known.Role != 0
}

// CalledIn is how unseen code calls such a function.
func (c *Claims) CalledIn(path, name string) Called {
	return c.in(path, name, func(of placed) bool { return of.Called != NotCalled }).Called
}

// CalledOf is how a library calls the methods of a name of classes that derive
// from its class of a dotted name.
func (c *Claims) CalledOf(class, method string) Called {
	if c == nil {
		return NotCalled
	}
	module, name := cutLast(class)
	for _, of := range c.byName[name+"."+method] {
		if of.Called != NotCalled && onePath(of.module, module) {
			return of.Called
		}
	}
	return NotCalled
}

// in is the first claim about something in the file at path of which is is true.
func (c *Claims) in(path, name string, is func(placed) bool) Claim {
	if c == nil {
		return Claim{}
	}
	for _, of := range c.byName[name] {
		if is(of) && isModule(path, of.module) {
			return of.Claim
		}
	}
	return Claim{}
}

// isModule reports whether the file at path may be imported as module, or as a
// part of it.
func isModule(path, module string) bool {
	parts := strings.Split(strings.TrimSuffix(filepath.ToSlash(path), filepath.Ext(path)), "/")
	if parts[len(parts)-1] == "__init__" {
		parts = parts[:len(parts)-1]
	}
	want := strings.Split(module, ".")
	for i := range len(parts) - len(want) + 1 {
		if slices.Equal(parts[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// onePath reports whether one dotted name leads to the other.
func onePath(a, b string) bool {
	return strings.HasPrefix(a+".", b+".") || strings.HasPrefix(b+".", a+".")
}
