// Package config reads what a project says about the checks, the table
// [tool.graphleak] of its pyproject.toml, and gives each file a checker that does
// as it says.
//
// For a file counts the nearest pyproject.toml above it that has the table, and
// that one alone: tables are not merged, so what holds for a file can be read in
// one place. What the user says elsewhere, on the command line or in the editor's
// settings, is a [Layer] on top. docs/configuration.md is the reference.
package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/torch"
	"github.com/graphleak/graphleak/rules"
)

// FileName is the name of the file that holds the configuration.
const FileName = "pyproject.toml"

// Config is what one file says. The zero value is what holds without one.
type Config struct {
	Path    string // of the file, absolute; empty for none
	options options

	excluded patterns
	ignored  []fileIgnores
	claims   []torch.Claim
	sources  []string // absolute
}

// options are the keys of the table. A test holds docs/configuration.md to them.
type options struct {
	Layer
	PerFileIgnores map[string][]Selector `toml:"per-file-ignores,omitempty"`
	Exclude        []string              `toml:"exclude,omitempty"`
	Src            []string              `toml:"src,omitempty"`
	Contracts      contracts             `toml:"contracts,omitempty"`
}

// fileIgnores are rules that do not run on some files.
type fileIgnores struct {
	files patterns
	rules []Selector
}

// contracts say what functions do, by their dotted names. Each is a list of
// functions and methods.
type contracts struct {
	Detaches       []string `toml:"detaches,omitempty"`
	PassesGraph    []string `toml:"passes-graph,omitempty"`
	RunsBackward   []string `toml:"runs-backward,omitempty"`
	Trains         []string `toml:"trains,omitempty"`
	Logs           []string `toml:"logs,omitempty"`
	StoresArgument []string `toml:"stores-argument,omitempty"`
	Clears         []string `toml:"clears,omitempty"`
	ReturnsModel   []string `toml:"returns-model,omitempty"`
	ReturnsLoss    []string `toml:"returns-loss,omitempty"`
	CalledEachStep []string `toml:"called-each-step,omitempty"`
	TrainingStep   []string `toml:"training-step,omitempty"`
}

// claims are the contracts as the analysis takes them.
func (c *contracts) claims(fault func(why error, path ...any)) []torch.Claim {
	var list []torch.Claim
	for _, group := range []struct {
		key   string
		names []string
		claim torch.Claim
	}{
		{"detaches", c.Detaches, torch.Claim{Role: torch.Cuts}},
		{"passes-graph", c.PassesGraph, torch.Claim{Role: torch.Passes}},
		{"runs-backward", c.RunsBackward, torch.Claim{Role: torch.Backwards}},
		{"trains", c.Trains, torch.Claim{Role: torch.Trains}},
		{"logs", c.Logs, torch.Claim{Role: torch.Shows}},
		{"stores-argument", c.StoresArgument, torch.Claim{Role: torch.Collects}},
		{"clears", c.Clears, torch.Claim{Role: torch.Resets}},
		{"returns-model", c.ReturnsModel, torch.Claim{Role: torch.MakesModel}},
		{"returns-loss", c.ReturnsLoss, torch.Claim{Role: torch.MakesLoss}},
		{"called-each-step", c.CalledEachStep, torch.Claim{Called: torch.EachStep}},
		{"training-step", c.TrainingStep, torch.Claim{Called: torch.TrainingStep}},
	} {
		for i, name := range group.names {
			claim := group.claim
			claim.Name = name
			if err := claim.Check(); err != nil {
				fault(err, "contracts", group.key, i)
				continue
			}
			list = append(list, claim)
		}
	}
	return list
}

// complete makes c of its options, if there are these rules. It reports what is wrong with them.
func (c *Config) complete(all []*rules.Rule, fault func(why error, path ...any)) {
	dir := filepath.Dir(c.Path)
	c.options.check(all, fault)
	var err error
	if c.excluded, err = newPatterns(dir, c.options.Exclude...); err != nil {
		fault(err, "exclude")
	}
	for _, glob := range slices.Sorted(maps.Keys(c.options.PerFileIgnores)) {
		ignores := fileIgnores{rules: c.options.PerFileIgnores[glob]}
		if ignores.files, err = newPatterns(dir, glob); err != nil {
			fault(err, "per-file-ignores", glob)
		}
		for i, s := range ignores.rules {
			if err := s.Check(all); err != nil {
				fault(err, "per-file-ignores", glob, i)
			}
		}
		c.ignored = append(c.ignored, ignores)
	}
	for i, root := range c.options.Src {
		if filepath.IsAbs(root) || strings.HasPrefix(root, "~") {
			fault(fmt.Errorf("%q is not relative to the directory of this file", root), "src", i)
		}
		c.sources = append(c.sources, filepath.Join(dir, filepath.FromSlash(root)))
	}
	c.claims = c.options.Contracts.claims(fault)
}

// String is the table as it could stand in the file, without what it does not
// say.
func (c *Config) String() string {
	var file struct {
		Tool struct {
			Graphleak options `toml:"graphleak"`
		} `toml:"tool,omitempty"`
	}
	file.Tool.Graphleak = c.options
	out, err := toml.Marshal(file)
	if err != nil {
		return err.Error() + "\n"
	}
	return strings.TrimPrefix(string(out), "[tool]\n")
}

// Equal reports whether two configurations say the same.
func (c *Config) Equal(other *Config) bool {
	return c.Path == other.Path && reflect.DeepEqual(c.options, other.options)
}

// ClaimsAny reports whether there is a contract for something in a package that is
// imported.
func (c *Config) ClaimsAny(imports []names.ImportedName) bool {
	return slices.ContainsFunc(c.claims, func(claim torch.Claim) bool {
		first, _, _ := strings.Cut(claim.Name, ".")
		return slices.ContainsFunc(imports, func(name names.ImportedName) bool {
			return name.Level == 0 && (name.Dotted == first || strings.HasPrefix(name.Dotted, first+"."))
		})
	})
}

// Excludes reports whether the file or directory at an absolute path is not to
// be checked.
func (c *Config) Excludes(path string, isDir bool) bool { return c.excluded.match(path, isDir) }

// ignoredIn are the rules that do not run on the file at an absolute path.
func (c *Config) ignoredIn(path string) []Selector {
	var out []Selector
	for _, i := range c.ignored {
		if i.files.match(path, false) {
			out = append(out, i.rules...)
		}
	}
	return out
}
