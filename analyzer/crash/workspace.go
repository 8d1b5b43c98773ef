package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds on the size of a file that is read for suspects, as the analysis itself
// has them; most of a notebook is what its code has put out.
const (
	maxSource   = 1 << 20
	maxNotebook = 64 << 20
)

// maxIndexed bounds how many directory entries are looked at to find files.
const maxIndexed = 50_000

// File is a Python file of the workspace that a traceback names.
type File struct {
	Root string // the workspace folder
	Path string // within it, with slashes
	Text []byte
}

// Name is the file's path on this machine.
func (f File) Name() string { return filepath.Join(f.Root, filepath.FromSlash(f.Path)) }

// workspace looks up the files that tracebacks name. All access goes through
// os.Root: neither a name nor a symbolic link leads out of the folders.
type workspace struct {
	folders []folder
}

type folder struct {
	root *os.Root
	abs  []string // its absolute path, as given and with links resolved; with slashes
	// names are the Python files in it by their base name, and notebooks the
	// notebooks, once they are needed.
	names     map[string][]string
	notebooks []string
}

// openWorkspace opens the folders; those that cannot be opened hold no files.
func openWorkspace(roots []string) *workspace {
	w := &workspace{}
	for _, r := range roots {
		root, err := os.OpenRoot(r)
		if err != nil {
			continue
		}
		f := folder{root: root}
		if abs, err := filepath.Abs(r); err == nil {
			f.abs = append(f.abs, filepath.ToSlash(abs))
			if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
				f.abs = append(f.abs, filepath.ToSlash(real))
			}
		}
		w.folders = append(w.folders, f)
	}
	return w
}

func (w *workspace) close() {
	for _, f := range w.folders {
		f.root.Close()
	}
}

var (
	libraryPath = regexp.MustCompile(`(?i)(?:^|/)(?:site-packages|dist-packages|node_modules)/|/lib(?:64)?/python\d|/lib/python/|^/usr/lib/|/(?:anaconda|miniconda|conda)\d*/|^/opt/(?:conda|pytorch)/|(?:^|/)python\d[^/]*/lib/|^<|^(?:/usr/local|/usr|/opt/\w+|.*/(?:\.?venv|env))/bin/|/torch/(?:nn|utils|distributed|optim|autograd|cuda|_dynamo)/|/torchinductor_[^/]+/|/transformers_modules/|^/databricks/`)
	cellPath    = regexp.MustCompile(`^(?:Cell In ?\[|Input In ?\[|In ?\[\d+\]|<ipython-input-|<command-\d|/tmp/ipykernel_\d+/|.*/ipykernel_\d+[/\\])`)
	drive       = regexp.MustCompile(`^[A-Za-z]:`)
)

// libraryFrame reports whether a frame is code of an installed package, of
// Python itself or of no file, rather than of the user.
func libraryFrame(p string) bool {
	return !cellPath.MatchString(p) && libraryPath.MatchString(strings.ReplaceAll(p, `\`, "/"))
}

// userFrame is the opposite, for frames of files and of notebook cells.
func userFrame(f Frame) bool { return !libraryFrame(f.Path) }

// locate finds the file of the workspace that calls of a traceback mean by a
// path: the file itself where the path lies in the workspace, else the only one
// whose path ends in the most components of it, since a container or another
// machine has the project elsewhere. Where the directories differ, a file of
// that name is only believed if it has the source lines that the traceback shows.
func (w *workspace) locate(ctx context.Context, name string, calls []Frame) (File, error) {
	name = strings.ReplaceAll(name, `\`, "/")
	if drive.MatchString(name) {
		name = name[2:]
	}
	clean := path.Clean(name)
	if path.Ext(clean) != ".py" {
		return File{}, fmt.Errorf("%s is not a Python file: %w", name, fs.ErrNotExist)
	}
	for i := range w.folders {
		f := &w.folders[i]
		if rel, inside := f.relative(clean); inside {
			if file, err := f.read(rel); !errors.Is(err, fs.ErrNotExist) {
				return file, err
			}
		}
	}
	type match struct {
		folder *folder
		rel    string
	}
	var best []match
	most := 0
	for i := range w.folders {
		f := &w.folders[i]
		if err := f.index(ctx); err != nil {
			return File{}, err
		}
		for _, rel := range f.names[path.Base(clean)] {
			switch n := commonEnd(rel, clean); {
			case n > most:
				best, most = []match{{f, rel}}, n
			case n == most:
				best = append(best, match{f, rel})
			}
		}
	}
	if len(best) == 0 {
		return File{}, fmt.Errorf("%s is not in the workspace: %w", name, fs.ErrNotExist)
	}
	if len(best) == 1 {
		file, err := best[0].folder.read(best[0].rel)
		whole := most == strings.Count(best[0].rel, "/")+1 || most == strings.Count(clean, "/")+1
		if err == nil && !whole && !file.agrees(calls) {
			return File{}, fmt.Errorf("%s is not in the workspace, and %s is another file: %w", name, best[0].rel, fs.ErrNotExist)
		}
		return file, err
	}
	// Of several the one counts that has the source lines of the traceback.
	var agreeing []File
	for _, m := range best[:min(len(best), maxNamesakes)] {
		if file, err := m.folder.read(m.rel); err == nil && file.agrees(calls) {
			agreeing = append(agreeing, file)
		}
	}
	if len(agreeing) == 1 {
		return agreeing[0], nil
	}
	return File{}, fmt.Errorf("%s could be %s or %s: %w", name, best[0].rel, best[1].rel, errAmbiguous)
}

// maxNamesakes bounds the files of one name that are read to tell them apart.
const maxNamesakes = 24

// installed is the part of a path within site-packages, which a project that was
// installed shares with its source.
var installed = regexp.MustCompile(`(?:site|dist)-packages/([\w.-]+/.+\.py)$`)

// locateInstalled finds the file of the workspace that was installed as the
// given file of a library: one with the same path from its package on, and the
// same source lines.
func (w *workspace) locateInstalled(ctx context.Context, name string, calls []Frame) (File, error) {
	m := installed.FindStringSubmatch(strings.ReplaceAll(name, `\`, "/"))
	if m == nil {
		return File{}, fs.ErrNotExist
	}
	for i := range w.folders {
		f := &w.folders[i]
		if err := f.index(ctx); err != nil {
			return File{}, err
		}
		for _, rel := range f.names[path.Base(m[1])] {
			if rel != m[1] && !strings.HasSuffix(rel, "/"+m[1]) {
				continue
			}
			if file, err := f.read(rel); err == nil && file.agrees(calls) {
				return file, nil
			}
		}
	}
	return File{}, fs.ErrNotExist
}

// agrees reports whether the file has all source lines that calls show, of
// which there must be one, and the functions that they name.
func (f File) agrees(calls []Frame) bool {
	lines := make(map[string]bool)
	for line := range bytes.Lines(f.Text) {
		lines[string(bytes.TrimSpace(line))] = true
	}
	shown := 0
	for _, c := range calls {
		if name := c.function(); name != "" && !bytes.Contains(f.Text, []byte("def "+name+"(")) {
			return false
		}
		if c.Code == "" {
			continue
		}
		if !lines[c.Code] {
			return false
		}
		shown++
	}
	return shown > 0
}

// function is the name that the function of the call has in its def statement;
// empty at module level and for what has no def.
func (f Frame) function() string {
	name := f.Func[strings.LastIndexByte(f.Func, '.')+1:]
	if strings.HasPrefix(name, "<") {
		return ""
	}
	return name
}

var errAmbiguous = errors.New("several files of the workspace match")

// relative is p within the folder, if it lies there by name.
func (f *folder) relative(p string) (string, bool) {
	if !path.IsAbs(p) {
		if _, err := f.root.Stat(filepath.FromSlash(p)); err == nil {
			return p, true
		}
		return "", false
	}
	for _, abs := range f.abs {
		abs = strings.TrimSuffix(drive.ReplaceAllString(abs, ""), "/")
		if rel, ok := strings.CutPrefix(p, abs+"/"); ok {
			return rel, true
		}
	}
	return "", false
}

// read opens a file of the folder, if it is one and of a sensible size.
func (f *folder) read(rel string) (File, error) {
	// Looked at before it is opened: opening a pipe would wait for its writer.
	info, err := f.root.Stat(filepath.FromSlash(rel))
	switch {
	case err != nil:
		return File{}, err
	case !info.Mode().IsRegular():
		return File{}, fmt.Errorf("%s is not a file: %w", rel, fs.ErrInvalid)
	}
	limit := int64(maxSource)
	if path.Ext(rel) == ".ipynb" {
		limit = maxNotebook
	}
	if info.Size() > limit {
		return File{}, fmt.Errorf("%s is larger than %v", rel, Size(limit))
	}
	file, err := f.root.Open(filepath.FromSlash(rel))
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil {
		return File{}, fmt.Errorf("read %s: %w", rel, err)
	}
	return File{Root: f.root.Name(), Path: rel, Text: text}, nil
}

// index lists the Python files of the folder. Links are not followed to
// directories.
func (f *folder) index(ctx context.Context) error {
	if f.names != nil {
		return nil
	}
	f.names = make(map[string][]string)
	entries := 0
	return fs.WalkDir(f.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		entries++
		switch {
		case entries > maxIndexed:
			return fs.SkipAll
		case err != nil:
			return nil // what cannot be listed holds no files
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(notProject, d.Name())):
			return fs.SkipDir
		case !d.IsDir() && path.Ext(p) == ".py":
			f.names[d.Name()] = append(f.names[d.Name()], p)
		case !d.IsDir() && path.Ext(p) == ".ipynb":
			f.notebooks = append(f.notebooks, p)
		}
		return nil
	})
}

// notProject are directories whose code is not the user's.
var notProject = []string{"node_modules", "site-packages", "dist-packages", "__pycache__", "venv"}

// commonEnd counts the path components that a and b share at their ends.
func commonEnd(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}
