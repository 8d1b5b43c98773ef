package server

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/graphleak/graphleak/analyzer/names"
	"github.com/graphleak/graphleak/analyzer/sources"
	"github.com/graphleak/graphleak/rules"
)

// Most files of a large workspace have nothing to do with PyTorch. To read them
// costs little, to parse them a hundred times more. So the files to check are
// told by their texts: those that mention PyTorch, and those that import one of
// these.

// importDepth is how many imports lead at most from a file that is checked to
// one that mentions PyTorch. It is no less than that of the checker.
const importDepth = 3

// relevant are those of files in which a check may find something: first what open
// programs import, directly and then through others, and the rest in the order of
// files.
func (c *scanner) relevant(ctx context.Context, view *snapshot, files []string) ([]string, error) {
	var mu sync.Mutex
	keep := make(map[string]bool)
	index := names.NewIndex()
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(maxChecks())
	for _, path := range files {
		group.Go(func() error {
			if err := c.server.foreground.wait(reading); err != nil {
				return err
			}
			source, err := sources.Load(path)
			index.Add(path, source.Code, view.checker.Resolver(path))
			if err != nil || rules.MentionsTorch(source.Code) || view.loader.For(path).ClaimsAny(index.Asks(path)) {
				mu.Lock()
				keep[path] = true // if it cannot be read the check says why
				mu.Unlock()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	latest := slices.Collect(maps.Keys(keep))
	for range importDepth {
		var next []string
		for _, path := range latest {
			for _, importer := range index.Importers(path) {
				if !keep[importer] {
					keep[importer] = true
					next = append(next, importer)
				}
			}
		}
		latest = next
	}
	out := slices.DeleteFunc(slices.Clone(files), func(path string) bool { return !keep[path] })
	distance := fromOpen(view, index)
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	return out, nil
}

// fromOpen is how many imports lead from open programs to a file.
func fromOpen(view *snapshot, index *names.Index) func(path string) int {
	distance := make(map[string]int)
	var latest []string
	for _, p := range view.programs {
		if p.path != "" && p.python() {
			index.Add(p.path, p.code, view.checker.Resolver(p.path))
			distance[p.path] = 0
			latest = append(latest, p.path)
		}
	}
	for at := 1; len(latest) > 0; at++ {
		var next []string
		for _, importer := range latest {
			for _, path := range index.Imports(importer) {
				if _, known := distance[path]; !known {
					distance[path] = at
					next = append(next, path)
				}
			}
		}
		latest = next
	}
	return func(path string) int {
		if at, ok := distance[path]; ok {
			return at
		}
		return math.MaxInt
	}
}
