package sources

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree writes files below a new directory, makes it the working directory and
// returns it. A name that ends in a slash is a directory; content that starts
// with "->" is the target of a symbolic link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range files {
		path := filepath.FromSlash(name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, isLink := bytes.CutPrefix([]byte(content), []byte("->"))
		switch {
		case name[len(name)-1] == '/':
			require.NoError(t, os.MkdirAll(path, 0o755))
		case isLink:
			require.NoError(t, os.Symlink(string(target), path))
		default:
			require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	tests := []struct {
		name    string
		files   map[string]string
		paths   []string
		want    []string
		skipped []Skipped
	}{
		{
			name:  "Python files of all directories in order",
			files: map[string]string{"z.py": "", "a/b/c.py": "", "a/notes.txt": "", "a/stub.pyi": "", "a.py": ""},
			paths: []string{"."},
			want:  []string{"a.py", "a/b/c.py", "z.py"},
		},
		{
			name: "what is not the user's code",
			files: map[string]string{
				"train.py": "", ".hidden/x.py": "", "node_modules/x/x.py": "", "__pycache__/x.py": "",
				"my-env/pyvenv.cfg": "", "my-env/lib/x.py": "", "conda/conda-meta/history": "", "conda/x.py": "",
				"lib/site-packages/x.py": "",
			},
			paths: []string{"."},
			want:  []string{"train.py"},
		},
		{
			name: "gitignore files of the repository and of each directory",
			files: map[string]string{
				".git/info/exclude": "private.py\n", ".gitignore": "/build/\n*_pb2.py\n!kept_pb2.py\n",
				"src/.gitignore": "gen/**/*.py\n",
				"build/x.py":     "", "src/build/x.py": "", "src/msg_pb2.py": "", "src/kept_pb2.py": "",
				"src/gen/deep/x.py": "", "gen/x.py": "", "src/private.py": "",
			},
			paths: []string{"."},
			want:  []string{"gen/x.py", "src/build/x.py", "src/kept_pb2.py"},
		},
		{
			name:  "gitignore files above the given directory",
			files: map[string]string{".git/HEAD": "", ".gitignore": "out/\n", "src/out/x.py": "", "src/a.py": ""},
			paths: []string{"src"},
			want:  []string{"src/a.py"},
		},
		{
			name:  "ignored paths that are given by name",
			files: map[string]string{".git/HEAD": "", ".gitignore": "out/\nx.py\n", "out/a.py": "", "out/.gitignore": "b.py\n", "out/b.py": "", "x.py": ""},
			paths: []string{"out", "x.py"},
			want:  []string{"out/a.py", "x.py"},
		},
		{
			name:  "overlapping paths once",
			files: map[string]string{"src/a.py": "", "src/b.py": ""},
			paths: []string{"src/a.py", "src", "./src/b.py", "."},
			want:  []string{"src/a.py", "src/b.py"},
		},
		{
			name:    "a loop of directory links",
			files:   map[string]string{"src/a.py": "", "src/deep/up": "->../../src"},
			paths:   []string{"."},
			want:    []string{"src/a.py"},
			skipped: []Skipped{{"src/deep/up", "directory loop"}},
		},
		{
			name:    "a loop that leaves the project and comes back",
			files:   map[string]string{"src/a.py": "", "src/out": "->../other", "other/b.py": "", "other/back": "->../src"},
			paths:   []string{"src"},
			want:    []string{"src/a.py", "src/out/b.py"},
			skipped: []Skipped{{"src/out/back", "directory loop"}},
		},
		{
			name:    "links to themselves and to nothing",
			files:   map[string]string{"a.py": "->b.py", "b.py": "->a.py", "gone.py": "->nowhere.py", "gone": "->nowhere", "c.py": ""},
			paths:   []string{"."},
			want:    []string{"c.py"},
			skipped: []Skipped{{"a.py", "too many links"}, {"b.py", "too many links"}, {"gone.py", "no such file or directory"}},
		},
		{
			name:  "linked files under their real path",
			files: map[string]string{"a_link.py": "->src/real.py", "src/real.py": "", "linked": "->src"},
			paths: []string{"."},
			want:  []string{"src/real.py"},
		},
		{
			name:    "what was named but is not Python",
			files:   map[string]string{"README.md": "", "a.py": ""},
			paths:   []string{"README.md", "a.py", os.DevNull},
			want:    []string{"a.py"},
			skipped: []Skipped{{os.DevNull, "not a regular file"}, {"README.md", "not a Python file"}},
		},
		{
			name:  "a project without Python",
			files: map[string]string{"README.md": ""},
			paths: []string{"."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree(t, tt.files)
			got, err := Find(t.Context(), tt.paths, nil)
			require.NoError(t, err)
			for i := range got.Files {
				got.Files[i] = filepath.ToSlash(got.Files[i])
			}
			assert.Equal(t, tt.want, got.Files)
			require.Len(t, got.Skipped, len(tt.skipped))
			for i, want := range tt.skipped {
				assert.Equal(t, want.Path, filepath.ToSlash(got.Skipped[i].Path))
				assert.Contains(t, got.Skipped[i].Reason, want.Reason)
			}
		})
	}
}

func TestFindOfAMissingPathIsAnError(t *testing.T) {
	tree(t, map[string]string{"a.py": ""})
	_, err := Find(t.Context(), []string{"a.py", "no/such.py"}, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Contains(t, err.Error(), filepath.Join("no", "such.py"))
}

func TestFindStopsWithItsContext(t *testing.T) {
	tree(t, map[string]string{"src/a.py": ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Find(ctx, []string{"."}, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestRead(t *testing.T) {
	dir := tree(t, map[string]string{"small.py": "1234", "large.py": "12345"})
	content, err := Read("small.py", 4)
	require.NoError(t, err)
	assert.Equal(t, "1234", string(content))

	_, err = Read("large.py", 4)
	assert.ErrorContains(t, err, "larger than 4 bytes")
	_, err = Read("gone.py", 4)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.NotContains(t, err.Error(), "gone.py")
	_, err = Read(dir, 4)
	assert.Error(t, err)
}
