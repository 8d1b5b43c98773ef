// Package failures is the knowledge about how runs fail, as pages: one Markdown
// file for each failure id. Its front matter is what the diagnosis runs on
// (signatures, role, fixes, verification, missing facts), its text is what
// people read.
//
// To teach the diagnosis a new failure, add a page and logs that show it under
// testdata/logs.
package failures

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/graphleak/graphleak/analyzer/crash"
)

//go:embed *.md
var files embed.FS

// load parses the embedded pages once.
var load = sync.OnceValues(func() ([]crash.Page, *crash.Knowledge) {
	pages, err := parseAll(files)
	if err != nil {
		panic(err) // the pages are part of the program, like its code
	}
	knowledge, err := crash.NewKnowledge(pages)
	if err != nil {
		panic(err)
	}
	return pages, knowledge
})

// Pages returns all pages, in the order of their ids.
func Pages() []crash.Page {
	pages, _ := load()
	return append([]crash.Page(nil), pages...)
}

// Lookup returns the page of a failure id.
func Lookup(id string) (crash.Page, bool) {
	pages, _ := load()
	for _, p := range pages {
		if p.ID == id {
			return p, true
		}
	}
	return crash.Page{}, false
}

func parseAll(fsys fs.FS) ([]crash.Page, error) {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, err
	}
	var pages []crash.Page
	var wrong []error
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		page, err := parse(name, src)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			continue
		}
		pages = append(pages, page)
	}
	return pages, errors.Join(wrong...)
}

// Known are the ids of the pages that know a message of the text, whether it is
// given with or without the type of its exception.
func Known(text string) []string {
	_, knowledge := load()
	var ids []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, message := range []string{line, "RuntimeError: " + line} {
			for _, scope := range []crash.Scope{crash.InException, crash.InLine} {
				if id, _ := knowledge.Recognise(message, scope); id != "" && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}
