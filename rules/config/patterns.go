package config

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/git-pkgs/gitignore"
)

// patterns match files below a directory, in the language of .gitignore files.
type patterns struct {
	dir     string
	matcher *gitignore.Matcher
}

// newPatterns reads patterns, one a line.
func newPatterns(dir string, lines ...string) (patterns, error) {
	p := patterns{dir, new(gitignore.Matcher)}
	p.matcher.AddPatterns([]byte(strings.Join(lines, "\n")), "")
	for _, err := range p.matcher.Errors() {
		return p, errors.New(err.Message)
	}
	return p, nil
}

// match reports whether the file at path, or a directory that it is in, is meant.
func (p patterns) match(path string, isDir bool) bool {
	rel, err := filepath.Rel(p.dir, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return false
	}
	rel = filepath.ToSlash(rel)
	for i, c := range rel {
		if c == '/' && p.matcher.MatchPath(rel[:i], true) {
			return true
		}
	}
	return p.matcher.MatchPath(rel, isDir)
}
