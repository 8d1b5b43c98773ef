// Command eval measures the checker against code whose truth is known.
//
//	go run ./rules/eval [flags]            programs and labelled lines
//	go run ./rules/eval -scan DIR|OWNER/NAME...   whole repositories
//
// Programs are small training scripts whose memory was measured while they
// ran: a table gives what really grew with each iteration, and the checker's
// verdict is held against it. Labels are lines of public repositories that
// somebody read and judged. A scan has no truth to compare with; it lists what
// a user of that repository would see, to be read by a person.
//
// The data lies outside the checkout, in folders beside it. Where one is
// missing, eval says so and does the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
)

type config struct {
	programs string // folder with truth.tsv and the programs it names
	labels   string // table of labelled lines
	clones   string // folder with a git repository per owner+name
	work     string // where trees of commits are unpacked, to be used again
	only     string // prefix of program ids or of "owner/name:path"
	scan     bool
	verbose  bool
	profile  string // file for a CPU profile
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "eval:", err)
		}
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	cfg, dirs, err := parse(args)
	if err != nil {
		return err
	}
	if cfg.profile != "" {
		stop, err := profile(cfg.profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	c := newChecked()
	if cfg.scan {
		return scan(ctx, c, cfg, dirs, out)
	}
	if err := evalPrograms(ctx, c, cfg, out); err != nil {
		return err
	}
	return evalLabels(ctx, c, cfg, out)
}

// profile starts a CPU profile that ends when stop is called.
func profile(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "eval:", err)
		}
	}, nil
}

func parse(args []string) (config, []string, error) {
	var cfg config
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	shared := flags.String("shared", filepath.Join("..", "shared"), "folder with the measured programs and the labels")
	flags.StringVar(&cfg.programs, "programs", "", "folder with truth.tsv and programs (default SHARED/facts/autograd)")
	flags.StringVar(&cfg.labels, "labels", "", "table of labelled lines (default SHARED/eval/labels.dev.tsv)")
	flags.StringVar(&cfg.clones, "clones", filepath.Join("..", "clones"), "folder with git repositories, as owner+name/repo")
	flags.StringVar(&cfg.work, "work", "", "folder for unpacked trees (default: the user's cache)")
	flags.StringVar(&cfg.only, "only", "", "only the programs, or the owner/name:path of labels, with this prefix")
	flags.BoolVar(&cfg.scan, "scan", false, "list every error and warning in the given folders or OWNER/NAME repositories")
	flags.BoolVar(&cfg.verbose, "v", false, "list every miss")
	flags.StringVar(&cfg.profile, "cpuprofile", "", "write a CPU profile to this file")
	if err := flags.Parse(args); err != nil {
		return config{}, nil, err
	}
	if cfg.scan == (flags.NArg() == 0) {
		return config{}, nil, errors.New("folders are given with -scan, and only with it")
	}
	if cfg.programs == "" {
		cfg.programs = filepath.Join(*shared, "facts", "autograd")
	}
	if cfg.labels == "" {
		cfg.labels = filepath.Join(*shared, "eval", "labels.dev.tsv")
	}
	if cfg.work == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return config{}, nil, fmt.Errorf("no place for unpacked trees, give -work: %w", err)
		}
		cfg.work = filepath.Join(cache, "graphleak-eval")
	}
	return cfg, flags.Args(), nil
}
