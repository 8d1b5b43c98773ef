package config

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/rules"
)

// Checker checks each file as its configuration says. Many goroutines may use
// one Checker.
type Checker struct {
	loader *Loader
	layers func(path string) []Layer
	rules  *rules.Checker
	home   string // where sources without a path count as being
	files  rules.Files

	mu      sync.Mutex
	engines map[*Config]*rules.Checker
	plain   *rules.Checker // for what analyses files as without a configuration
}

// NewChecker returns a checker of the rules of another one, which reads imports
// from files. The layers come on top of what the loader finds.
func NewChecker(of *rules.Checker, files rules.Files, loader *Loader, layers ...Layer) *Checker {
	return (&Checker{loader: loader, rules: of, files: files, engines: map[*Config]*rules.Checker{}}).
		Layered(func(string) []Layer { return layers })
}

// Layered has other layers on top for each file, told by its path. It is to be
// called before the checker is used.
func (c *Checker) Layered(layers func(path string) []Layer) *Checker {
	c.layers = layers
	return c
}

// At has sources without a path, such as documents that were never saved, count as
// files in a directory. It is to be called before the checker is used.
func (c *Checker) At(dir string) *Checker {
	c.home = dir
	return c
}

// Rules are all rules, of which a configuration chooses some.
func (c *Checker) Rules() []*rules.Rule { return c.rules.Rules() }

// Config is the configuration of the file at path.
func (c *Checker) Config(path string) *Config {
	if path == "" && c.home != "" {
		return c.loader.For(filepath.Join(c.home, FileName))
	}
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		return c.loader.For(abs)
	}
	return &Config{}
}

// Check analyses one source as the configuration of its file says. It returns an
// error only when ctx ends first.
func (c *Checker) Check(ctx context.Context, src rules.Source) (rules.Report, error) {
	config := c.Config(src.Path)
	src.Preferences = c.preferences(config, src.Path)
	return c.engine(config).Check(ctx, src)
}

// Imports lists the files that a source imports, as [rules.Checker.Imports] does.
func (c *Checker) Imports(ctx context.Context, src rules.Source) ([]string, error) {
	return c.engine(c.Config(src.Path)).Imports(ctx, src)
}

// Resolver finds where the imports of the file at path lead.
func (c *Checker) Resolver(path string) *names.Resolver {
	return c.engine(c.Config(path)).Resolver(path)
}

// Forget drops what is kept of the file at path, as [rules.Checker.Forget] does.
func (c *Checker) Forget(path string) {
	c.each(func(engine *rules.Checker) { engine.Forget(path) })
}

// Moved tells c that files have come or gone, as [rules.Checker.Moved] does. What
// was read of the configuration stays.
func (c *Checker) Moved() { c.each((*rules.Checker).Moved) }

func (c *Checker) each(do func(*rules.Checker)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plain != nil {
		do(c.plain)
	}
	for _, engine := range c.engines {
		do(engine)
	}
}

// Chosen are the codes of the rules that run on the file at path, and of those
// that do not.
func (c *Checker) Chosen(path string) (on, off []string) {
	p := c.preferences(c.Config(path), path)
	for _, r := range c.Rules() {
		if p.Off[r.Code] {
			off = append(off, r.Code)
		} else {
			on = append(on, r.Code)
		}
	}
	return on, off
}

// preferences are what the user wants to hear about the file at path.
func (c *Checker) preferences(config *Config, path string) rules.Preferences {
	layers := append([]Layer{config.options.Layer}, c.layers(path)...)
	var ignored []Selector
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		ignored = config.ignoredIn(abs)
	}
	return preferences(c.Rules(), layers, ignored)
}

// engine is the checker that analyses files as a configuration says. Most say
// nothing about that: those have one in common, and what it has read.
func (c *Checker) engine(config *Config) *rules.Checker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(config.sources) == 0 && len(config.claims) == 0 {
		if c.plain == nil {
			c.plain = c.rules.With(c.files)
		}
		return c.plain
	}
	engine := c.engines[config]
	if engine == nil {
		files := c.files
		files.Roots, files.Claims = config.sources, config.claims
		engine = c.rules.With(files)
		c.engines[config] = engine
	}
	return engine
}
