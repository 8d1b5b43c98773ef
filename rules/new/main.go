// Command new makes the folder of a new rule and lists it among the others:
//
//	go run ./rules/new GL207 thing-kept
//
// What it writes compiles and passes the tests of the pages' structure, but says
// nothing yet. The other tests of rules/leaks then name what is missing: examples
// that report, and fixtures.
//
// Without arguments it lists the folders that there are, as after a merge or when
// a rule was renamed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	dir := flag.String("C", ".", "root of the repository")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./rules/new [-C DIR] [CODE NAME]")
		flag.PrintDefaults()
	}
	flag.Parse()
	written, err := run(*dir, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "new:", err)
		os.Exit(2)
	}
	for _, path := range written {
		fmt.Println(path)
	}
}

var (
	codeForm = regexp.MustCompile(`^GL\d{3}$`)
	nameForm = regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
)

// run makes a rule, if arguments name one, and lists all of them. It returns the
// paths that it wrote.
func run(root string, args []string) ([]string, error) {
	leaks := filepath.Join(root, "rules", "leaks")
	rules, err := find(leaks)
	if err != nil {
		return nil, err
	}
	var written []string
	if len(args) > 0 {
		if len(args) != 2 {
			return nil, errors.New("give a code and a name: go run ./rules/new GL207 thing-kept")
		}
		rule, err := chosen(rules, args[0], args[1])
		if err != nil {
			return nil, err
		}
		if written, err = rule.write(leaks); err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	list := filepath.Join(leaks, "leaks.go")
	text, err := listing(rules)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(list, text, 0o644); err != nil {
		return nil, fmt.Errorf("list the rules: %w", err)
	}
	return append(written, list), nil
}

// chosen is the rule of a code and a name that no other has.
func chosen(rules []rule, code, name string) (rule, error) {
	switch {
	case !codeForm.MatchString(code):
		return rule{}, fmt.Errorf("%q is no code: it is GL and three digits, the first of which says the kind of leak", code)
	case !nameForm.MatchString(name):
		return rule{}, fmt.Errorf("%q is no name: it is words in small letters, joined by hyphens", name)
	}
	r := newRule(code, name)
	for _, other := range rules {
		switch {
		case other.Code == code:
			return rule{}, fmt.Errorf("%s is %s already", code, other.Name)
		case other.Name == name:
			return rule{}, fmt.Errorf("%s is %s already", name, other.Code)
		case other.Package == r.Package:
			return rule{}, fmt.Errorf("package %s is that of %s already: choose other words", r.Package, other.Name)
		}
	}
	return r, nil
}
