// Command oracle holds findings against PyTorch itself.
//
//	go run ./rules/oracle [flags] [PREFIX...]
//
// It runs the fixtures of the rules and the examples of their pages, measures
// what stays alive, and asks of each finding: does what it says is kept grow, and
// does the growth end when the very expression that the finding names is cut from
// it? Of each function without a finding it asks that nothing grows. And it runs
// what the fixes leave: the numbers must be the same, and the growth gone.
//
// Programs are run by the Python package beside this file, with stand-ins for what
// a fixture leaves to its caller; see its scenes.py. PyTorch is not a dependency of
// this project: where no Python with PyTorch is found, oracle says so and ends.
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
	"strings"
	"time"

	"golang.org/x/term"
)

type config struct {
	rules    string // folder with a folder for each rule
	programs string // folder with snippets whose memory was measured before
	counts   string // file with what the table of rules says is proven
	update   bool
	only     []string
	verbose  bool
}

// Exit codes: 1 says that something is not as it is claimed, 2 that it could not
// be found out.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	refuted, err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errNoTorch):
		fmt.Println("oracle: nothing was run:", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	case refuted > 0:
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (refuted int, err error) {
	cfg, err := parse(args)
	if err != nil {
		return 0, err
	}
	python, version, err := findPython(ctx)
	if err != nil {
		return 0, err
	}
	programs, err := collect(ctx, cfg)
	if err != nil {
		return 0, err
	}
	start, watched, done := time.Now(), term.IsTerminal(int(os.Stderr.Fd())), 0
	answers, err := execute(ctx, python, programs, func(p program, a answer) {
		done++
		switch {
		case cfg.verbose:
			fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(start).Seconds(), p.Name)
			list(os.Stderr, "", summarize([]verdict{judge(p, a)}).refuted)
		case watched:
			fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d programs: %s", done, len(programs), p.Name)
		}
	})
	if watched && !cfg.verbose {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	if err != nil {
		return 0, err
	}
	verdicts := make([]verdict, len(programs))
	for i, p := range programs {
		verdicts[i] = judge(p, answers[i])
	}
	report := summarize(verdicts)
	report.print(out, cfg.verbose)
	if len(cfg.only) > 0 {
		return len(report.refuted), nil
	}
	now := record{PyTorch: version, Rules: report.shown}
	if cfg.update {
		return len(report.refuted), now.write(cfg.counts)
	}
	less, err := hold(out, cfg.counts, now)
	if report.late == 0 {
		return len(report.refuted) + less, err
	}
	fmt.Fprintf(out, "%d claims had no time to be shown, as on a busy machine\n", report.late)
	return len(report.refuted), err
}

// hold says where what was shown is not what the table of rules says, and in how many
// places it is less.
func hold(out io.Writer, counts string, now record) (int, error) {
	before, err := readRecord(counts)
	if err != nil {
		return 0, err
	}
	if before.PyTorch != now.PyTorch {
		fmt.Fprintf(out, "docs/rules.md says what PyTorch %s shows; this one is %s\n", before.PyTorch, now.PyTorch)
		return 0, nil
	}
	less, more := before.compare(now)
	list(out, "less than docs/rules.md says:", less)
	if more {
		fmt.Fprintln(out, "docs/rules.md does not know all of this yet: go run ./rules/oracle -update && go test ./rules/leaks -run TestTheTableOfRules -update")
	}
	return len(less), nil
}

func parse(args []string) (config, error) {
	var cfg config
	flags := flag.NewFlagSet("oracle", flag.ContinueOnError)
	flags.StringVar(&cfg.rules, "rules", filepath.Join("rules", "leaks"), "folder of the rules")
	flags.StringVar(&cfg.programs, "programs", filepath.Join("..", "shared", "facts", "autograd"), "folder with snippets/*.py, left out where it is not there")
	flags.StringVar(&cfg.counts, "counts", filepath.Join("rules", "oracle", "proven.json"), "file with the counts that the table of rules is written from")
	flags.BoolVar(&cfg.update, "update", false, "write that file; without it, less than it says is an error")
	flags.BoolVar(&cfg.verbose, "v", false, "list what could not be run, and why")
	if err := flags.Parse(args); err != nil {
		return config{}, err
	}
	for _, prefix := range flags.Args() {
		cfg.only = append(cfg.only, strings.TrimPrefix(filepath.ToSlash(prefix), "./"))
	}
	if cfg.update && len(cfg.only) > 0 {
		return config{}, errors.New("-update needs a run of everything")
	}
	return cfg, nil
}
