package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// unpack puts the Python files of a commit into the work folder, unless they
// are there, and returns where.
func unpack(ctx context.Context, cfg config, repo, commit string) (string, error) {
	name := strings.ReplaceAll(repo, "/", "+")
	gitDir := filepath.Join(cfg.clones, name, "repo")
	if _, err := os.Stat(filepath.Join(gitDir, ".git")); err == nil {
		gitDir = filepath.Join(gitDir, ".git")
	}
	if _, err := os.Stat(gitDir); err != nil {
		return "", err
	}
	revision, err := exec.CommandContext(ctx, "git", "--git-dir", gitDir, "rev-parse", "--verify", commit+"^{commit}").Output()
	if err != nil {
		return "", fmt.Errorf("commit %s: %w", commit, withStderr(err))
	}
	id := strings.TrimSpace(string(revision))
	dir := filepath.Join(cfg.work, name, id)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	// A tree is complete when it has its final name.
	part, err := makeTemp(filepath.Dir(dir))
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if err := archive(ctx, gitDir, id, part); err != nil {
		return "", fmt.Errorf("unpack %s at %s: %w", repo, id, err)
	}
	return dir, os.Rename(part, dir)
}

func makeTemp(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, "part-")
}

// wanted are the files of a repository that an analysis reads. The rest can be
// large or, in a partial clone, absent.
var wanted = []string{".py", ".ipynb", "pyproject.toml"}

// archive writes the wanted files of a commit to dir.
func archive(ctx context.Context, gitDir, commit, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	names, err := exec.CommandContext(ctx, "git", "--git-dir", gitDir, "ls-tree", "-r", "-z", "--name-only", commit).Output()
	if err != nil {
		return withStderr(err)
	}
	args := []string{"--git-dir", gitDir, "archive", "--format=tar", commit, "--"}
	for _, suffix := range wanted { // git fails on a pattern without a match
		if strings.Contains(string(names), suffix+"\x00") {
			args = append(args, ":(glob)**/*"+suffix)
		}
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = untar(stdout, dir)
	if err != nil {
		cancel() // do not wait for git to write the rest
	}
	if failed := cmd.Wait(); err == nil && failed != nil {
		err = fmt.Errorf("git archive: %w: %s", failed, strings.TrimSpace(stderr.String()))
	}
	return err
}

// untar writes the regular files of an archive; links are left out.
func untar(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			// What pads the archive has to be read for git to end well.
			_, err := io.Copy(io.Discard, r)
			return err
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(root, filepath.FromSlash(h.Name), tr); err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// withStderr adds what a command wrote to its error.
func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
