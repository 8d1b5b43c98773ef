// Package sources finds the Python files and notebooks of a project and reads them.
//
// It never fails on what it meets on the way: a directory that cannot be
// listed, a loop of symbolic links or a file that cannot be read becomes one
// line for the user, and the rest is done. Only a path that the user named and
// that does not exist is an error.
package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-pkgs/gitignore"
)

// Listing is what Find found.
type Listing struct {
	Files   []string // Python files and notebooks, sorted; relative where the given path was
	Skipped []Skipped
}

// Skipped is a file or directory that was left out although it was asked for,
// and why, as one line for a person.
type Skipped struct{ Path, Reason string }

// IsPython reports whether name is that of a file with Python code: a source file
// or a notebook.
func IsPython(name string) bool { return filepath.Ext(name) == ".py" || IsNotebook(name) }

// IsNotebook reports whether name is that of a notebook.
func IsNotebook(name string) bool { return filepath.Ext(name) == ".ipynb" }

// Find lists the Python files and notebooks under the given files and directories, each one
// once however many paths and links lead to it.
//
// Below a directory it leaves out what .gitignore files name and what is not
// the user's own code: hidden directories, virtual environments, installed
// packages, caches. What exclude says of a file or directory, by its real path,
// is left out too; it may be nil. A path that is given by name is always taken.
func Find(ctx context.Context, paths []string, exclude func(path string, isDir bool) bool) (Listing, error) {
	f := finder{seen: make(map[string]bool), exclude: exclude}
	if exclude == nil {
		f.exclude = func(string, bool) bool { return false }
	}
	for _, path := range paths {
		if err := f.add(ctx, path); err != nil {
			return Listing{}, err
		}
	}
	// Links come last so that a file is listed under its real path where both
	// are in the project.
	for len(f.links) > 0 {
		l := f.links[0]
		f.links = f.links[1:]
		if err := f.follow(ctx, l); err != nil {
			return Listing{}, err
		}
	}
	slices.Sort(f.found.Files)
	slices.SortFunc(f.found.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return f.found, nil
}

// finder is one run of Find.
type finder struct {
	found Listing
	seen  map[string]bool // real paths of the files and directories already taken
	links []link          // symbolic links met on the way, still to follow

	exclude func(path string, isDir bool) bool
}

// link is a symbolic link in a directory.
type link struct {
	path string
	// via are the real directories that lead to the link, its own last: a link
	// to one of them or above would be followed for ever.
	via []string
}

// add takes a path that the user named.
func (f *finder) add(ctx context.Context, path string) error {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	real, err := realPath(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	switch {
	case info.IsDir():
		return f.walk(ctx, path, real, nil, newIgnores(real))
	case !info.Mode().IsRegular():
		f.skip(path, "not a regular file")
	case !IsPython(path):
		f.skip(path, "not a Python file")
	default:
		f.take(path, real)
	}
	return nil
}

// take lists a Python file unless it is listed already.
func (f *finder) take(path, real string) {
	if !f.seen[real] {
		f.seen[real] = true
		f.found.Files = append(f.found.Files, path)
	}
}

func (f *finder) skip(path, reason string) {
	f.found.Skipped = append(f.found.Skipped, Skipped{Path: path, Reason: reason})
}

// walk lists what lies under the directory path, whose real path is real. It
// fails only when the context ends.
func (f *finder) walk(ctx context.Context, path, real string, via []string, ignored *ignores) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.seen[real] {
		return nil
	}
	f.seen[real] = true
	entries, err := os.ReadDir(path)
	if err != nil {
		f.skip(path, cause(err).Error())
		return nil
	}
	if isEnvironment(entries) && len(via) > 0 {
		return nil
	}
	via = append(slices.Clip(via), real)
	ignored.load(real)
	for _, entry := range entries {
		name := entry.Name()
		child, realChild := filepath.Join(path, name), filepath.Join(real, name)
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			if !ignored.match(realChild, true) && !ignored.match(realChild, false) && !f.exclude(realChild, true) && !f.exclude(realChild, false) {
				f.links = append(f.links, link{path: child, via: via})
			}
		case entry.IsDir():
			if isForeign(name) || ignored.match(realChild, true) || f.exclude(realChild, true) {
				continue
			}
			if err := f.walk(ctx, child, realChild, via, ignored); err != nil {
				return err
			}
		case !IsPython(name) || ignored.match(realChild, false) || f.exclude(realChild, false):
			continue
		case !entry.Type().IsRegular():
			f.skip(child, "not a regular file")
		default:
			f.take(child, realChild)
		}
	}
	return nil
}

// follow lists what a symbolic link points at.
func (f *finder) follow(ctx context.Context, l link) error {
	real, err := realPath(l.path)
	if err != nil {
		if IsPython(l.path) {
			f.skip(l.path, cause(err).Error())
		}
		return nil
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		f.skip(l.path, cause(err).Error())
	case info.IsDir() && isForeign(filepath.Base(l.path)):
		return nil
	case info.IsDir():
		for _, dir := range l.via {
			if dir == real || strings.HasPrefix(dir, strings.TrimSuffix(real, sep)+sep) {
				f.skip(l.path, "directory loop: links back to "+real)
				return nil
			}
		}
		return f.walk(ctx, l.path, real, l.via, newIgnores(real))
	case !IsPython(l.path):
		return nil
	case !info.Mode().IsRegular():
		f.skip(l.path, "not a regular file")
	default:
		f.take(l.path, real)
	}
	return nil
}

const sep = string(filepath.Separator)

// isForeign reports whether a directory of this name never holds the user's
// own sources.
func isForeign(name string) bool {
	switch name {
	case "__pycache__", "__pypackages__", "node_modules", "site-packages":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// isEnvironment reports whether a directory with these entries is a virtual
// environment (venv, virtualenv) or a conda environment.
func isEnvironment(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == "pyvenv.cfg" || e.Name() == "conda-meta"
	})
}

// ignores are the .gitignore rules in force below a directory.
type ignores struct {
	base    string // real path of the repository, or of the walk outside of one
	matcher *gitignore.Matcher
}

// newIgnores prepares for a walk of the real directory dir: it loads the rules
// of the directories above it in the same repository.
func newIgnores(dir string) *ignores {
	base := repository(dir)
	if base == "" {
		return &ignores{base: dir, matcher: new(gitignore.Matcher)}
	}
	ig := &ignores{base: base, matcher: new(gitignore.Matcher)}
	ig.matcher.AddFromFile(filepath.Join(base, ".git", "info", "exclude"), "")
	for _, above := range between(base, dir) {
		if above != base && ig.match(above, true) {
			// The user asks for a directory inside an ignored one: the rules that
			// ignore it say nothing about its files.
			return &ignores{base: dir, matcher: new(gitignore.Matcher)}
		}
		if above != dir {
			ig.load(above)
		}
	}
	return ig
}

// repository is the nearest directory at or above dir that holds a .git, or
// empty.
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// between lists the directories from base down to dir, both included.
func between(base, dir string) []string {
	dirs := []string{dir}
	for dir != base {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// load adds the rules of dir's own .gitignore, if it has one.
func (ig *ignores) load(dir string) {
	scope := ig.relative(dir)
	if scope == "." {
		scope = ""
	}
	ig.matcher.AddFromFile(filepath.Join(dir, ".gitignore"), scope)
}

func (ig *ignores) match(path string, isDir bool) bool {
	return ig.matcher.MatchPath(ig.relative(path), isDir)
}

// relative is path, which lies below the base, as .gitignore files write it.
func (ig *ignores) relative(path string) string {
	rel, err := filepath.Rel(ig.base, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// Read returns the content of a file of at most limit bytes. The text of its
// error is one line for a person, without the path.
func Read(path string, limit int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	// One byte more than allowed shows that the file is too large, however
	// large it is and whatever its size claims to be.
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(content) > limit {
		return nil, fmt.Errorf("larger than %s", size(limit))
	}
	return content, nil
}

// size is a number of bytes in words.
func size(n int) string {
	const mib = 1 << 20
	if n >= mib && n%mib == 0 {
		return fmt.Sprintf("%d MiB", n/mib)
	}
	return fmt.Sprintf("%d bytes", n)
}

// realPath is the absolute path of a file without symbolic links.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// cause is a file system error without its operation and path.
func cause(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
