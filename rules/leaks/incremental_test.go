package leaks

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
)

// An editor's session checks files in any order with one checker, while they
// change. What it finds is what a checker finds that starts from scratch.

// overlay is the text of files that differ from what is on disk, by absolute
// path.
type overlay map[string][]byte

func (o overlay) open(path string) ([]byte, bool) {
	src, ok := o[path]
	return src, ok
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	return abs
}

// source is a fixture as the overlay has it.
func (o overlay) source(t *testing.T, path string) rules.Source {
	t.Helper()
	if src, ok := o[absolute(t, path)]; ok {
		return rules.Source{Path: path, Text: src}
	}
	return read(t, path)
}

// TestOrderOfFilesDoesNotMatter checks all fixtures in several orders with one
// checker and compares with a fresh checker for each.
func TestOrderOfFilesDoesNotMatter(t *testing.T) {
	t.Parallel()
	shared := rules.NewChecker(All()...)
	paths := fixtures(t)
	alone := map[string]rules.Report{}
	for _, path := range paths {
		alone[path] = check(t, rules.NewChecker(All()...), read(t, path))
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		for _, path := range paths {
			assert.Equal(t, alone[path], check(t, shared, read(t, path)), path)
		}
		draw.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	}
}

// programs are the fixtures of several files, by the folder that holds them.
func programs(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, path := range fixtures(t) {
		rule, rest, _ := strings.Cut(filepath.ToSlash(path), "/testdata/")
		if folder, _, ok := strings.Cut(rest, "/"); ok {
			folder = rule + "/" + folder
			out[folder] = append(out[folder], path)
		}
	}
	require.NotEmpty(t, out)
	return out
}

// edits are what a file may become while someone works on it.
var edits = map[string]func(t *testing.T, src string) string{
	"nothing is left": func(*testing.T, string) string { return "" },
	"lines are added": func(_ *testing.T, src string) string { return "# one\n\n\ndef added(x):\n    return x\n\n\n" + src },
	"half a function": func(_ *testing.T, src string) string { return src + "\n\ndef half(x, y\n" },
	"all is guarded":  guarded,
	"split functions": withFirstHalvesApart,
}

func TestEditsInBetween(t *testing.T) {
	t.Parallel()
	open := overlay{}
	shared := rules.NewChecker(All()...).With(rules.Files{Open: open.open})
	for folder, paths := range programs(t) {
		original := map[string]rules.Report{}
		for _, path := range paths {
			original[path] = check(t, rules.NewChecker(All()...), read(t, path))
		}
		for _, edited := range paths {
			for _, name := range slices.Sorted(maps.Keys(edits)) {
				t.Run(folder+"/"+filepath.Base(edited)+"/"+name, func(t *testing.T) {
					open[absolute(t, edited)] = []byte(edits[name](t, string(read(t, edited).Text)))
					for _, path := range paths {
						fresh := rules.NewChecker(All()...).With(rules.Files{Open: maps.Clone(open).open})
						src := open.source(t, path)
						want := check(t, fresh, src)
						src.Edited = true
						assert.Equal(t, want, check(t, shared, src), "%s after the edit", path)
					}
					delete(open, absolute(t, edited))
					for _, path := range paths {
						src := read(t, path)
						src.Edited = true
						assert.Equal(t, original[path], check(t, shared, src), "%s after the edit was undone", path)
					}
				})
			}
		}
	}
}

// TestVersions edits each fixture a few times. What is taken over from one version to
// the next is what a checker finds that sees the text for the first time.
func TestVersions(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(5, 6))
	paths := fixtures(t)
	shared := rules.NewChecker(All()...)
	for i, path := range paths {
		src := read(t, path)
		other := strings.Split(string(read(t, paths[(i+7)%len(paths)]).Text), "\n")
		src.Edited = true
		check(t, shared, src)
		for range 5 {
			if draw.IntN(4) == 0 {
				src.Text = read(t, path).Text
			}
			lines := strings.Split(string(src.Text), "\n")
			src.Text = []byte(mutate(draw, lines, other))
			got := check(t, shared, src)
			fresh := src
			fresh.Edited = false
			require.Equal(t, check(t, rules.NewChecker(All()...), fresh), got, "%s:\n%s", path, src.Text)
		}
	}
}
