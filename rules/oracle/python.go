package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

//go:embed python
var pythonFiles embed.FS

var errNoTorch = errors.New("no Python with PyTorch was found (Debian: apt-get install python3-torch); the environment variable PYTHON names another one")

// findPython finds a Python that has PyTorch, and says which one.
func findPython(ctx context.Context) (python, version string, err error) {
	for _, python := range []string{os.Getenv("PYTHON"), "python3", "/usr/bin/python3"} {
		if python == "" {
			continue
		}
		said, err := exec.CommandContext(ctx, python, "-c", "import torch; print(*torch.__version__.split('.')[:2], sep='.')").Output()
		if err == nil {
			return python, strings.TrimSpace(string(said)), nil
		}
	}
	return "", "", errNoTorch
}

// execute runs programs in as many Pythons as there are processors; the answers
// are in the order of the programs. done is told of each program as it ends.
func execute(ctx context.Context, python string, programs []program, done func(program, answer)) ([]answer, error) {
	dir, err := os.MkdirTemp("", "graphleak-oracle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, mustSub(pythonFiles, "python")); err != nil {
		return nil, err
	}
	environment := append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONMALLOC=malloc", preload(ctx, dir))

	answers := make([]answer, len(programs))
	var telling sync.Mutex
	next := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	for range min(len(programs), runtime.GOMAXPROCS(0)) {
		group.Go(func() error {
			cmd := exec.CommandContext(ctx, python, filepath.Join(dir, "drive.py"))
			cmd.Env, cmd.Stderr = environment, os.Stderr
			cmd.Dir = dir // programs may write files
			return worker(cmd, programs, next, func(i int, a answer) {
				telling.Lock()
				defer telling.Unlock()
				answers[i] = a
				done(programs[i], a)
			})
		})
	}
	group.Go(func() error {
		defer close(next)
		for i := range programs {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return answers, group.Wait()
}

// worker hands programs to one Python, one at a time.
func worker(cmd *exec.Cmd, programs []program, next <-chan int, done func(int, answer)) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	encoder, decoder := json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	for i := range next {
		if err := encoder.Encode(programs[i]); err != nil {
			return fmt.Errorf("%s: %w", programs[i].Name, err)
		}
		var a answer
		if err := decoder.Decode(&a); err != nil {
			return fmt.Errorf("%s: %w", programs[i].Name, err)
		}
		done(i, a)
	}
	if err := in.Close(); err != nil {
		return err
	}
	return cmd.Wait()
}

// preload keeps PyTorch from writing the stack into each exception of its own,
// which takes longer than all else: a count meets one for each freed node. Without
// a C compiler the run is slower.
func preload(ctx context.Context, dir string) string {
	library := filepath.Join(dir, "nostack.so")
	build := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-o", library, filepath.Join(dir, "nostack.c"))
	if runtime.GOOS != "linux" || build.Run() != nil {
		return "LD_PRELOAD="
	}
	return "LD_PRELOAD=" + library
}

func mustSub(files embed.FS, dir string) fs.FS {
	sub, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // the name is a constant
	}
	return sub
}
