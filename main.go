// Command graphleak finds the places in PyTorch programs that keep tensors or
// autograd graphs alive longer than they are needed, and explains failed runs
// from their logs.
//
// It is a command line tool and a language server in one binary; see
// docs/architecture.md for how it is built.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// Exit codes, part of the command line's contract.
const (
	exitClean    = 0 // nothing at or above the bar
	exitFindings = 1
	exitFailure  = 2 // wrong usage, or an error of ours
)

// command is the command line: one field per subcommand.
type command struct {
	Check    checkCmd    `cmd:"" help:"Find leaks in Python files."`
	Diagnose diagnoseCmd `cmd:"" help:"Find out from its log why a run failed."`
	Explain  explainCmd  `cmd:"" help:"Print what there is to know about a rule or a failure."`
	Serve    serveCmd    `cmd:"" help:"Be a language server on standard input and output."`
	Version  versionCmd  `cmd:"" help:"Print the version of this program."`

	ShowVersion kong.VersionFlag `name:"version" help:"The same."`
}

// console is where a subcommand reads and writes.
type console struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Color          bool // Stdout is a terminal that shows colours
}

// exitError ends the program with Code. The subcommand has already told the
// user all there is to say.
type exitError struct{ Code int }

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// heapRoom is how many bytes the heap may grow, however small it is, before the
// collector runs.
const heapRoom = 24 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default action is back: a second one ends the
	// program at once.
	context.AfterFunc(ctx, stop)
	// The collector runs when the heap has doubled. Most of the time there is
	// little to keep: room that is never touched has it run less often, for a
	// fifth of the time.
	room := make([]byte, heapRoom)
	out := &console{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Color: showsColor(os.Stdout)}
	code := run(ctx, out, os.Args[1:])
	runtime.KeepAlive(room)
	os.Exit(code)
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, out *console, args []string) int {
	exited := false // by --help, which kong ends with an exit
	exitCode := exitClean
	parser, err := kong.New(&command{},
		kong.Name("graphleak"),
		kong.Description("Find PyTorch memory leaks in Python code, and diagnose failed runs from their logs."),
		kong.Writers(out.Stdout, out.Stderr),
		kong.Exit(func(code int) { exited, exitCode = true, code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": versionLine()},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(out),
	)
	if err != nil {
		panic(err) // the command struct above is wrong
	}
	cli, err := parser.Parse(args)
	if exited {
		return exitCode
	}
	if err != nil {
		fmt.Fprintf(out.Stderr, "graphleak: %v\n", err)
		return exitFailure
	}

	err = cli.Run()
	var exit exitError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &exit):
		return exit.Code
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(out.Stderr, "graphleak: interrupted")
		return exitFailure
	default:
		fmt.Fprintf(out.Stderr, "graphleak: %v\n", err)
		return exitFailure
	}
}

// showsColor reports whether f is a terminal whose user wants colours, by the
// NO_COLOR convention.
func showsColor(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
