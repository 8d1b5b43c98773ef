package names

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/syntax"
)

func TestImportsInAText(t *testing.T) {
	for src, want := range map[string][]ImportedName{
		"import a":                         {{0, "a"}},
		"import a.b as c, d":               {{0, "a.b"}, {0, "d"}},
		"import a . b":                     {{0, "a.b"}},
		"from a.b import c":                {{0, "a.b"}, {0, "a.b.c"}},
		"from .a import b as c, d":         {{1, "a"}, {1, "a.b"}, {1, "a.d"}},
		"from .. import a":                 {{2, ""}, {2, "a"}},
		"from.a import(b)":                 {{1, "a"}, {1, "a.b"}},
		"from . a import b":                {{1, "a"}, {1, "a.b"}},
		"from a import *":                  {{0, "a"}},
		"from a import (b,\n  c, # d\n e)": {{0, "a"}, {0, "a.b"}, {0, "a.c"}, {0, "a.e"}},
		"from a import b, \\\n  c\nd":      {{0, "a"}, {0, "a.b"}, {0, "a.c"}},
		"from a \\\n  import b":            {{0, "a"}, {0, "a.b"}},
		"from a \\\r\n  import b\r\nc":     {{0, "a"}, {0, "a.b"}},
		"try: import a; import b":          {{0, "a"}, {0, "b"}},
		"    import a  # b, c\nd":          {{0, "a"}},
		"import a\nimport b":               {{0, "a"}, {0, "b"}},
		">>> import a":                     nil,
		"important = reimport = import_":   nil,
		"fromage = 1; x.import y":          nil,
		"import":                           nil,
		"from a import":                    {{0, "a"}},
		"from a import (b":                 {{0, "a"}, {0, "a.b"}},
		"":                                 nil,
	} {
		assert.Equal(t, want, ImportsIn([]byte(src)), "%q", src)
	}
}

// What is found in a text is what is found by parsing it, and perhaps more.
func TestNoImportOfAFileIsMissed(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../rules/leaks/*/testdata/*.py", "../../testdata/*/*.py", "../flow/testdata/*.py"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.Greater(t, len(files), 100)
	for _, path := range files {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		tree, err := syntax.Parse(src)
		require.NoError(t, err)
		assert.Subset(t, ImportsIn(src), NewModule(path, tree).Imports(), path)
	}
}
