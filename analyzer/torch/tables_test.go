package torch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wordGroups reads the names that a source file gives to each table: the last
// argument of words(table, contract, names) and add(class, names).
func wordGroups(t *testing.T, file string) map[string][]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	groups := map[string][]string{}
	for _, d := range parsed.Decls {
		variable, ok := d.(*ast.GenDecl)
		if !ok || variable.Tok != token.VAR {
			continue
		}
		for _, spec := range variable.Specs {
			table := spec.(*ast.ValueSpec).Names[0].Name
			ast.Inspect(spec, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				f, ok := call.Fun.(*ast.Ident)
				if !ok || f.Name != "words" && f.Name != "add" {
					return true
				}
				words, ok := call.Args[len(call.Args)-1].(*ast.BasicLit)
				require.True(t, ok, "%s: names that are no literal", table)
				text, err := strconv.Unquote(words.Value)
				require.NoError(t, err)
				groups[table] = append(groups[table], strings.Fields(text)...)
				return true
			})
		}
	}
	require.NotEmpty(t, groups)
	return groups
}
