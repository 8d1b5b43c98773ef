package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/graphleak/graphleak/rules"
)

// Problem is one thing that is wrong with a configuration file.
type Problem struct {
	Path         string
	Line, Column int // from 1, the column in bytes
	Message      string
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.Path, p.Line, p.Column, p.Message)
}

// Problems are all that is wrong with a configuration file; a file with any of
// them is not used.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// table is where the options stand in the file.
var table = []string{"tool", "graphleak"}

// parse reads the file at path with the given content, if there are these rules.
// Without the table it returns nil.
func parse(path string, src []byte, all []*rules.Rule) (*Config, error) {
	// Most files have no such table, and what else is wrong with them is none of
	// our business.
	if !bytes.Contains(src, []byte(table[1])) {
		return nil, nil
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	var file struct {
		Tool struct {
			Graphleak *options `toml:"graphleak"`
		} `toml:"tool"`
	}
	decoder := toml.NewDecoder(bytes.NewReader(src)).DisallowUnknownFields()
	var problems Problems
	switch err := decoder.Decode(&file); err := err.(type) {
	case nil:
	case *toml.StrictMissingError:
		for _, unknown := range err.Errors {
			if key := unknown.Key(); len(key) > len(table) && slices.Equal(key[:len(table)], table) {
				line, column := unknown.Position()
				problems = append(problems, Problem{path, line, column, unknownKey(key[len(table):])})
			}
		}
	default:
		return nil, Problems{syntaxProblem(path, err)}
	}
	if file.Tool.Graphleak == nil {
		return nil, nil
	}
	c := &Config{Path: path, options: *file.Tool.Graphleak}
	c.complete(all, func(why error, at ...any) {
		line, column := locate(src, at)
		problems = append(problems, Problem{path, line, column, why.Error()})
	})
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
		return nil, problems
	}
	return c, nil
}

// Check is what is wrong with the file at path if it has the given content, and
// configurations may name the given rules.
func Check(path string, src []byte, all []*rules.Rule) Problems {
	_, err := parse(path, src, all)
	var problems Problems
	errors.As(err, &problems)
	return problems
}

// syntaxProblem is an error of the decoder: the file is no TOML, or a value is
// of the wrong type.
func syntaxProblem(path string, err error) Problem {
	p := Problem{Path: path, Line: 1, Column: 1, Message: strings.TrimPrefix(err.Error(), "toml: ")}
	at := (*toml.DecodeError)(nil)
	if !errors.As(err, &at) {
		return p
	}
	p.Line, p.Column = at.Position()
	if key := []string(at.Key()); len(key) >= len(table) && slices.Equal(key[:len(table)], table) {
		p.Message = wrongType(key[len(table):])
	}
	return p
}

// wrongType says what the value of a key below the table has to be.
func wrongType(key []string) string {
	t := reflect.TypeFor[options]()
	for _, part := range key {
		switch t.Kind() {
		case reflect.Struct:
			f, ok := t.FieldByNameFunc(func(name string) bool {
				f, _ := t.FieldByName(name)
				return keyOf(f) == part
			})
			if !ok {
				return "the value of " + strings.Join(key, ".") + " is not understood"
			}
			t = f.Type
		case reflect.Map:
			t = t.Elem()
		}
	}
	want := "a string"
	switch t.Kind() {
	case reflect.Slice:
		want = "a list of strings"
	case reflect.Struct, reflect.Map:
		want = "a table"
	}
	return fmt.Sprintf("%s has to be %s", strings.Join(append(table[1:len(table):len(table)], key...), "."), want)
}

// keyOf is the name of a field in TOML.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	return name
}

// unknownKey says that a key below the table is not known.
func unknownKey(key []string) string {
	known := keys(reflect.TypeFor[options]())
	in := strings.Join(table, ".")
	if len(key) > 1 {
		in += "." + key[0]
		known = keys(reflect.TypeFor[contracts]())
	}
	return fmt.Sprintf("unknown key %q in [%s]%s", key[len(key)-1], in, didYouMean(key[len(key)-1], known))
}

// keys are the names of the fields of a struct in TOML.
func keys(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous {
			out = append(out, keys(f.Type)...)
		} else {
			out = append(out, keyOf(f))
		}
	}
	return out
}

// locate is the line and column of what stands under a path of keys and indices
// in the table; of the nearest thing above it that can be found.
func locate(src []byte, path []any) (line, column int) {
	want := []any{table[0], table[1]}
	want = append(want, path...)
	parser := unstable.Parser{}
	parser.Reset(src)
	best, offset := 0, 0
	found := func(depth int, node *unstable.Node) {
		if depth > best {
			best, offset = depth, int(node.Raw.Offset)
		}
	}
	var in []any
	for parser.NextExpression() {
		n := parser.Expression()
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			var head *unstable.Node
			if in, head = keysOf(n, nil); isPrefix(in, want) {
				found(len(in), head)
			}
		case unstable.KeyValue:
			locateValue(n, in, want, found)
		}
	}
	before := src[:offset]
	return 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n')
}

// locateValue looks for want in a key with its value, which stand in a table.
func locateValue(n *unstable.Node, in, want []any, found func(depth int, node *unstable.Node)) {
	at, head := keysOf(n, in)
	if !isPrefix(at, want) {
		return
	}
	found(len(at), head)
	if len(at) == len(want) {
		return
	}
	children, i := n.Value().Children(), 0
	for ; children.Next(); i++ {
		switch child := children.Node(); {
		case child.Kind == unstable.KeyValue:
			locateValue(child, at, want, found)
		case want[len(at)] == i:
			found(len(at)+1, child)
		}
	}
}

// keysOf is in with the keys of a node, and the last of their nodes.
func keysOf(n *unstable.Node, in []any) (path []any, last *unstable.Node) {
	path = append(path, in...)
	for it := n.Key(); it.Next(); {
		last = it.Node()
		path = append(path, string(last.Data))
	}
	return path, last
}

func isPrefix(prefix, of []any) bool {
	return len(prefix) <= len(of) && reflect.DeepEqual(prefix, of[:len(prefix)])
}
