package crash

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLogs bounds the files of one directory.
const maxLogs = 4096

// Files are the inputs that names of files and directories stand for. Of a
// directory these are the logs in it and below, in the order of their names. A
// file is opened when it is read and closed at its end, so there may be many.
func Files(names ...string) ([]Input, error) {
	var inputs []Input
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		logs := []string{name}
		if info.IsDir() {
			if logs, err = logsIn(name); err != nil {
				return nil, err
			}
		}
		for _, log := range logs {
			inputs = append(inputs, Input{Name: log, Reader: &logFile{name: log}})
		}
	}
	return inputs, nil
}

// logsIn lists the logs below a directory. What cannot be read is none.
func logsIn(dir string) ([]string, error) {
	var logs []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == dir:
			return err
		case err != nil:
			return nil
		case name != dir && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && isLog(d.Name()):
			f, err := os.Open(name)
			if err != nil {
				return nil
			}
			f.Close()
			if logs = append(logs, name); len(logs) == maxLogs {
				return fs.SkipAll
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(logs) == 0 {
		return nil, &fs.PathError{Op: "diagnose", Path: dir, Err: errors.New("no logs in this directory: no .log, .txt, .out or .err file, no file without an extension")}
	}
	return logs, nil
}

// isLog reports whether a file is output by its name: launchers and schedulers
// write files with these extensions, with a number, or with none.
func isLog(name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	ext := strings.ToLower(filepath.Ext(name))
	return ext == "" || name == "error.json" || number(ext[1:]) >= 0 ||
		slices.Contains([]string{".log", ".logs", ".txt", ".out", ".err", ".stdout", ".stderr", ".output"}, ext)
}

// logFile is a file that is open only while it is read.
type logFile struct {
	name string
	file *os.File
	done bool
}

func (l *logFile) Read(p []byte) (int, error) {
	if l.done {
		return 0, io.EOF
	}
	if l.file == nil {
		f, err := os.Open(l.name)
		if err != nil {
			return 0, err
		}
		l.file = f
	}
	n, err := l.file.Read(p)
	if err != nil {
		l.Close()
	}
	return n, err
}

// Close ends the reading.
func (l *logFile) Close() error {
	l.done = true
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close log: %w", err)
	}
	return nil
}
