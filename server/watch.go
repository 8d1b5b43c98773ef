package server

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/analyzer/sources"
)

// projectFile is where a project is configured.
const projectFile = "pyproject.toml"

// watched are the files whose changes outside of the editor concern us.
var watched = []string{"**/*.py", "**/*.ipynb", "**/" + projectFile}

// register asks the client to tell of what it tells only on request.
func (s *server) register(view *snapshot) {
	var wanted []protocol.Registration
	add := func(method string, options any) {
		raw, err := protocol.Marshal(options)
		if err == nil {
			wanted = append(wanted, protocol.Registration{ID: section + "/" + method, Method: method, RegisterOptions: raw})
		}
	}
	if view.client.watchesFiles {
		options := protocol.DidChangeWatchedFilesRegistrationOptions{}
		for _, glob := range watched {
			options.Watchers = append(options.Watchers, protocol.FileSystemWatcher{GlobPattern: protocol.Pattern(glob)})
		}
		add(protocol.MethodWorkspaceDidChangeWatchedFiles, options)
	}
	if view.client.registersConfiguration {
		add(protocol.MethodWorkspaceDidChangeConfiguration, protocol.DidChangeConfigurationRegistrationOptions{Section: protocol.String(section)})
	}
	if len(wanted) == 0 {
		return
	}
	if err := s.client.RegisterCapability(s.ctx, &protocol.RegistrationParams{Registrations: wanted}); err != nil && s.ctx.Err() == nil {
		s.log.warnf("registering for changes: %v", err)
	}
}

// fileOperations announces that we want to hear of files that are created,
// renamed and deleted in the client: some clients watch no files.
func fileOperations() *protocol.FileOperationOptions {
	of := protocol.FileOperationRegistrationOptions{}
	for _, glob := range []string{"**/*.py", "**/*.ipynb"} {
		of.Filters = append(of.Filters, protocol.FileOperationFilter{Pattern: protocol.FileOperationPattern{Glob: glob}})
	}
	folder := protocol.FileOperationPatternKindFolder // all that is in it comes and goes with it
	of.Filters = append(of.Filters, protocol.FileOperationFilter{Pattern: protocol.FileOperationPattern{Glob: "**", Matches: folder}})
	return &protocol.FileOperationOptions{DidCreate: of, DidRename: of, DidDelete: of}
}

// didChangeWatchedFiles is told of files that have changed on disk.
func (s *server) didChangeWatchedFiles(params *protocol.DidChangeWatchedFilesParams) error {
	var changed []string
	moved := false
	for _, change := range params.Changes {
		if change.URI.IsFile() {
			changed = append(changed, change.URI.FsPath())
			moved = moved || change.Type != protocol.FileChangeTypeChanged
		}
	}
	s.filesChanged(changed, moved)
	return nil
}

func (s *server) didCreateFiles(params *protocol.CreateFilesParams) error {
	var names []string
	for _, file := range params.Files {
		names = append(names, file.URI)
	}
	return s.filesMoved(names)
}

func (s *server) didRenameFiles(params *protocol.RenameFilesParams) error {
	var names []string
	for _, file := range params.Files {
		names = append(names, file.OldURI, file.NewURI)
	}
	return s.filesMoved(names)
}

func (s *server) didDeleteFiles(params *protocol.DeleteFilesParams) error {
	var names []string
	for _, file := range params.Files {
		names = append(names, file.URI)
	}
	return s.filesMoved(names)
}

// filesMoved is told of files and folders that are there now and were not, or
// the other way round.
func (s *server) filesMoved(names []string) error {
	var paths []string
	for _, name := range names {
		id, err := uri.Parse(name)
		if err != nil {
			return err
		}
		if id.IsFile() {
			paths = append(paths, id.FsPath())
		}
	}
	s.filesChanged(paths, true)
	return nil
}

// fileDelay is how long changes of files are collected.
const fileDelay = 100 * time.Millisecond

// filesChanged has what depends on changed files checked again. If files have
// come or gone, imports may lead elsewhere now.
func (s *server) filesChanged(paths []string, moved bool) {
	if len(paths) == 0 {
		return
	}
	view := s.session.snapshot()
	folders := slices.ContainsFunc(paths, func(path string) bool { return !sources.IsPython(path) })
	configured := slices.ContainsFunc(paths, func(path string) bool { return filepath.Base(path) == projectFile })
	switch {
	case configured || moved && folders: // there may be such a file in a folder
		view = s.anew(view)
	case moved:
		view.checker.Moved()
		view.project.Moved()
		s.scan.moved()
	}
	view.project.Changed(paths...)
	again := view.affected(paths)
	if configured || moved && folders {
		again = view.files(func(*program) bool { return true })
	}
	s.checkAgain(view, again, fileDelay)
	if configured || moved && folders {
		s.scan.anew()
	} else {
		s.scan.touched(view, paths)
	}
}

// within reports whether path lies in one of the directories.
func within(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	})
}
