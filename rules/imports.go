package rules

import (
	"context"
	"path/filepath"
)

// Imports lists the files of the workspace that a source imports, in the order
// of its import statements. Its error is why the source cannot be read as
// Python.
func (c *Checker) Imports(ctx context.Context, src Source) ([]string, error) {
	path := src.Path
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	module, err := c.module(ctx, path, src)
	if err != nil {
		return nil, err
	}
	var files []string
	seen := map[string]bool{path: true}
	for _, name := range module.Imports() {
		imported := c.resolver.Resolve(ctx, module, name.Level, name.Dotted)
		if imported.Module == nil || seen[imported.Module.Path] {
			continue
		}
		seen[imported.Module.Path] = true
		files = append(files, imported.Module.Path)
	}
	return files, ctx.Err()
}
