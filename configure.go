package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/usage"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
	"github.com/graphleak/graphleak/rules/leaks"
)

// configFlags say where the configuration is.
type configFlags struct {
	Config   string `type:"existingfile" placeholder:"FILE" xor:"config" help:"Take the configuration of all files from this one, instead of the pyproject.toml nearest to each."`
	NoConfig bool   `xor:"config" help:"Read no configuration."`
}

// loader reads the configuration.
func (f configFlags) loader() (*config.Loader, error) {
	switch {
	case f.NoConfig:
		return config.None(), nil
	case f.Config != "":
		return config.Only(f.Config, leaks.All())
	}
	return config.NewLoader(leaks.All()), nil
}

// checker checks files as they are configured, with what the command line says
// on top.
func (c *checkCmd) checker(loader *config.Loader, open func(path string) ([]byte, bool)) *config.Checker {
	layer := config.Layer{Select: selectors(c.Select), Ignore: selectors(c.Ignore)}
	var checker *config.Checker
	files := rules.Files{None: c.NoCrossFile, Open: open}
	if dirs := c.directories(); !c.NoCrossFile && len(dirs) > 0 {
		files.Project = usage.New(dirs, open, func(path string) *names.Resolver { return checker.Resolver(path) })
	}
	checker = config.NewChecker(rules.NewChecker(leaks.All()...), files, loader, layer)
	return checker
}

// directories are those that the command line names: all files in them are known.
func (c *checkCmd) directories() []string {
	if c.readsStdin() {
		return nil
	}
	paths := c.Paths
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var dirs []string
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		if abs, err := filepath.Abs(path); err == nil {
			dirs = append(dirs, abs)
		}
	}
	return dirs
}

// configured fails if the configuration of an input is wrong. The user would
// otherwise learn of it after the check, or not at all.
func configured(loader *config.Loader, inputs []input) error {
	for _, in := range inputs {
		if abs, err := filepath.Abs(in.path); err == nil {
			loader.For(abs)
		}
	}
	var problems config.Problems
	if err := loader.Err(); errors.As(err, &problems) {
		for i := range problems {
			problems[i].Path = relative(problems[i].Path)
		}
		return problems
	}
	return nil
}

// showConfig prints what holds for the files that the command line names: for
// each configuration the first of them.
func showConfig(out *console, checker *config.Checker, inputs []input) error {
	shown := make(map[*config.Config]bool)
	for _, in := range inputs {
		found := checker.Config(in.path)
		if shown[found] {
			continue
		}
		shown[found] = true
		from := "no pyproject.toml has a table [tool.graphleak]"
		if found.Path != "" {
			from = relative(found.Path)
		}
		on, off := checker.Chosen(in.path)
		fmt.Fprintf(out.Stdout, "# %s: %s\n%s# on: %s\n# off: %s\n\n", in.path, from, found, strings.Join(on, " "), orNone(off))
	}
	if len(shown) == 0 {
		fmt.Fprintln(out.Stdout, "No Python files found.")
	}
	return nil
}

func orNone(codes []string) string {
	if len(codes) == 0 {
		return "none"
	}
	return strings.Join(codes, " ")
}
