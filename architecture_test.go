package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/graphleak/graphleak"

// layers are the packages from the bottom up, each with the layers that it may
// import besides itself. A package belongs to the longest name that it starts
// with. See docs/architecture.md.
var layers = map[string][]string{
	"analyzer/text":     {},
	"analyzer/syntax":   {"analyzer/text"},
	"analyzer/notebook": {"analyzer/text", "analyzer/syntax"},
	"analyzer/sources":  {"analyzer/syntax", "analyzer/notebook"},
	"analyzer/names":    {"analyzer/text", "analyzer/syntax"},
	"analyzer/torch":    {"analyzer/text", "analyzer/syntax", "analyzer/names"},
	"analyzer/flow":     {"analyzer/text", "analyzer/syntax", "analyzer/names", "analyzer/torch"},
	"analyzer/usage":    {"analyzer/syntax", "analyzer/sources", "analyzer/names"},
	"rules":             {"analyzer/text", "analyzer/syntax", "analyzer/names", "analyzer/usage", "analyzer/torch", "analyzer/flow"},
	"rules/config":      {"analyzer/names", "analyzer/sources", "analyzer/torch", "rules"},
	"rules/failures":    {"analyzer/text", "analyzer/syntax", "analyzer/sources", "analyzer/crash", "rules", "rules/config", "rules/search"},
	"rules/search":      {},
	"rules/pages":       {"rules", "rules/failures"},
	"rules/new":         {},
	"rules/eval":        {"analyzer/sources", "analyzer/text", "rules"},
	"rules/oracle":      {"rules"},
	"report":            {"analyzer/notebook", "analyzer/sources", "analyzer/text", "rules"},
	"analyzer/crash":    {"analyzer/text"},
	"server":            {"analyzer/text", "analyzer/syntax", "analyzer/names", "analyzer/usage", "analyzer/notebook", "analyzer/sources", "analyzer/crash", "rules", "rules/config", "rules/failures", "rules/pages"},
	"":                  {"analyzer/text", "analyzer/syntax", "analyzer/names", "analyzer/usage", "analyzer/sources", "analyzer/crash", "rules", "rules/config", "rules/failures", "rules/pages", "report", "server"},
}

// reserved are the packages from outside that only one layer may import, so
// that it can be replaced in one place. An empty layer means none may.
var reserved = map[string]string{
	"github.com/smacker/go-tree-sitter": "analyzer/syntax",
	"go.lsp.dev/protocol":               "server",
	"go.lsp.dev/jsonrpc2":               "server",
	"go.lsp.dev/uri":                    "server",
	"github.com/alecthomas/kong":        "",
	"github.com/pelletier/go-toml/v2":   "rules/config",
	"net":                               "none",
	"net/http":                          "none",
}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// layerOf is the layer of a package of this module.
func layerOf(importPath string) string {
	path := strings.TrimPrefix(strings.TrimPrefix(importPath, modulePath), "/")
	best := ""
	for layer := range layers {
		if isWithin(path, layer) && len(layer) > len(best) {
			best = layer
		}
	}
	return best
}

func isWithin(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}

func TestDependenciesPointDown(t *testing.T) {
	packages := listPackages(t)
	require.NotEmpty(t, packages)
	for _, p := range packages {
		from := layerOf(p.ImportPath)
		if from == "" {
			assert.Equal(t, modulePath, p.ImportPath, "the package belongs to no layer")
		}
		// Tests may look around more freely in our own code, not outside of it.
		for _, imported := range p.Imports {
			if !isWithin(imported, modulePath) {
				continue
			}
			to := layerOf(imported)
			assert.True(t, from == to || slices.Contains(layers[from], to), "%s imports %s", p.ImportPath, imported)
		}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for outside, layer := range reserved {
				if imported == outside || isWithin(imported, outside) && outside != "net" {
					assert.Equal(t, layer, from, "%s imports %s", p.ImportPath, imported)
				}
			}
		}
	}
}

func TestLayersHaveNoCycle(t *testing.T) {
	var reaches func(from, to string, depth int) bool
	reaches = func(from, to string, depth int) bool {
		require.Less(t, depth, len(layers)+1, "layers form a cycle")
		return slices.ContainsFunc(layers[from], func(next string) bool { return next == to || reaches(next, to, depth+1) })
	}
	for layer := range layers {
		assert.False(t, reaches(layer, layer, 0), "%q depends on itself", layer)
	}
}

// backQuoted are the names in back quotes of a page.
var backQuoted = regexp.MustCompile("`([^`]+)`")

func TestEveryDependencyHasItsReason(t *testing.T) {
	page := readFile(t, filepath.Join("docs", "dependencies.md"))
	var named []string
	for _, m := range backQuoted.FindAllStringSubmatch(page, -1) {
		named = append(named, m[1])
	}
	for _, p := range listPackages(t) {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			host, _, _ := strings.Cut(imported, "/")
			if !strings.Contains(host, ".") || isWithin(imported, modulePath) {
				continue
			}
			assert.True(t, slices.ContainsFunc(named, func(module string) bool { return isWithin(imported, module) }), "%s is not in docs/dependencies.md", imported)
		}
	}
	for _, manifest := range []string{"package.json", "extension/test/e2e/vscode/package.json"} {
		var npm struct{ Dependencies, DevDependencies, OptionalDependencies map[string]string }
		require.NoError(t, json.Unmarshal([]byte(readFile(t, manifest)), &npm))
		for _, packages := range []map[string]string{npm.Dependencies, npm.DevDependencies, npm.OptionalDependencies} {
			for name := range packages {
				assert.Contains(t, named, name, "of %s", manifest)
			}
		}
	}
}
