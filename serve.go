package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
	"github.com/graphleak/graphleak/server"
)

type serveCmd struct {
	// Editors name the transport by habit; this one is all there is.
	Stdio bool `hidden:""`
}

// Run speaks LSP on the standard streams until the client ends the session.
// The exit code is the protocol's: 1 if the client left without a shutdown.
func (*serveCmd) Run(ctx context.Context, out *console) error {
	err := server.Serve(ctx, out.Stdin, out.Stdout, server.Options{Version: currentVersion(), Checker: rules.NewChecker(leaks.All()...)})
	if errors.Is(err, server.ErrNoShutdown) || errors.Is(err, server.ErrParentExited) {
		fmt.Fprintf(out.Stderr, "graphleak: %v\n", err)
		return exitError{1}
	}
	return err
}
