package main

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// rule is one folder of rules/leaks.
type rule struct {
	Code, Name string
	Package    string
}

// newRule is a rule whose package is called like it, without hyphens.
func newRule(code, name string) rule {
	return rule{Code: code, Name: name, Package: strings.ReplaceAll(name, "-", "")}
}

// find reads which rules there are from their folders.
func find(leaks string) ([]rule, error) {
	paths, err := filepath.Glob(filepath.Join(leaks, "*", "rule.go"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("there are no rules in %s: run this in the root of the repository", leaks)
	}
	var out []rule
	for _, path := range paths {
		r, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// read takes the code, the name and the package of a rule from its source.
func read(path string) (rule, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return rule{}, err
	}
	r := rule{Package: file.Name.Name}
	constants := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, value := range n.Values {
				constants[n.Names[i].Name] = textOf(value, constants)
			}
		case *ast.KeyValueExpr:
			switch key, _ := n.Key.(*ast.Ident); {
			case key == nil:
			case key.Name == "Code" && r.Code == "":
				r.Code = textOf(n.Value, constants)
			case key.Name == "Name" && r.Name == "":
				r.Name = textOf(n.Value, constants)
			}
		}
		return true
	})
	switch {
	case r.Code == "" || r.Name == "":
		return rule{}, errors.New("it has no Rule with a Code and a Name")
	case r.Name != filepath.Base(filepath.Dir(path)):
		return rule{}, fmt.Errorf("the rule is called %s, its folder is not", r.Name)
	}
	return r, nil
}

// textOf is the text that an expression is, empty if that is not plain.
func textOf(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.Ident:
		return constants[e.Name]
	}
	return ""
}

//go:embed skeleton
var skeleton embed.FS

// render fills in a file of the skeleton: one of a new rule, or the list of all
// of them. Its marks are not those of Go templates, since braces are Go and Python.
func render(name string, data any) ([]byte, error) {
	text, err := skeleton.ReadFile("skeleton/" + name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Delims("«", "»").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// write makes the folder of a rule in leaks and returns what it wrote.
func (r rule) write(leaks string) ([]string, error) {
	folder := filepath.Join(leaks, r.Name)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is there already", folder)
	}
	if err := os.MkdirAll(filepath.Join(folder, "testdata"), 0o755); err != nil {
		return nil, fmt.Errorf("make the rule's folder: %w", err)
	}
	var out []string
	for _, file := range []struct{ from, to string }{
		{"rule.go.txt", "rule.go"},
		{"doc.md", "doc.md"},
		{"programs.py", filepath.Join("testdata", "programs.py")},
		{"silent_programs.py", filepath.Join("testdata", "silent_programs.py")},
	} {
		text, err := render(file.from, r)
		if err != nil {
			return out, err
		}
		path := filepath.Join(folder, file.to)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return out, fmt.Errorf("write the rule: %w", err)
		}
		out = append(out, path)
	}
	return out, nil
}

// listing is the file that lists rules.
func listing(rules []rule) ([]byte, error) {
	byName := slices.SortedFunc(slices.Values(rules), func(a, b rule) int { return cmp.Compare(a.Name, b.Name) })
	byCode := slices.SortedFunc(slices.Values(rules), func(a, b rule) int { return cmp.Compare(a.Code, b.Code) })
	text, err := render("leaks.go.txt", map[string][]rule{"ByName": byName, "ByCode": byCode})
	if err != nil {
		return nil, err
	}
	return format.Source(text)
}
