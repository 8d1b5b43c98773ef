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

// Recognise names the page and the signature that know a message, if any do.
func Recognise(message string, scope crash.Scope) (id, signature string) {
	_, knowledge := load()
	return knowledge.Recognise(message, scope)
}
