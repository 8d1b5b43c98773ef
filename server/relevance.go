package server

import (
	"context"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
)

// Most files of a large workspace have nothing to do with PyTorch. To read them
// costs little, to parse them a hundred times more. So the files to check are
// told by their texts: those that mention PyTorch, and those that may import one
// of these. Which file an import may read is told by the names in it, as for open
// documents, but here by the last part of a path alone: what matters is that no
// file is left out that the checker would not skip.

// importDepth is how many imports lead at most from a file that is checked to
// one that mentions PyTorch. It is no less than that of the checker.
const importDepth = 3

var relativeImport = regexp.MustCompile(`(?m)^\s*from\s*\.`)

// relevant are those of files in which a check may find something, in the same
// order.
func (c *scanner) relevant(ctx context.Context, loader *config.Loader, files []string) ([]string, error) {
	var mu sync.Mutex
	keep := make([]bool, len(files))
	importers := make(map[string][]int) // the files that have a word in an import
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(maxChecks())
	for i, path := range files {
		group.Go(func() error {
			if err := c.server.foreground.wait(reading); err != nil {
				return err
			}
			source, err := sources.Load(path)
			mentions := err != nil || rules.MentionsTorch(source.Code) // the check says what is wrong
			words := importedNames(source.Code)
			mentions = mentions || loader.For(path).ClaimsAny(words)
			if relativeImport.Match(source.Code) {
				words = maps.Clone(words)
				for dir, up := filepath.Dir(path), 0; up < importDepth; dir, up = filepath.Dir(dir), up+1 {
					words[filepath.Base(dir)] = true
				}
			}
			mu.Lock()
			defer mu.Unlock()
			keep[i] = mentions
			for word := range words {
				word = strings.Clone(word) // not the text that it is from
				importers[word] = append(importers[word], i)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var latest []int
	for i := range files {
		if keep[i] {
			latest = append(latest, i)
		}
	}
	for range importDepth {
		var next []int
		for _, i := range latest {
			if sources.IsNotebook(files[i]) {
				continue // nothing imports it
			}
			for _, importer := range importers[importName(files[i])] {
				if !keep[importer] {
					keep[importer] = true
					next = append(next, importer)
				}
			}
		}
		latest = next
	}
	var out []string
	for i, path := range files {
		if keep[i] {
			out = append(out, path)
		}
	}
	return out, nil
}

// importName is the word by which an import names the file at path.
func importName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if name == "__init__" {
		return filepath.Base(filepath.Dir(path))
	}
	return name
}
