package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker for releases (-X main.version=1.2.3).
var version string

type versionCmd struct{}

// Run prints one line: name, version, and what the binary was built with.
func (versionCmd) Run(_ context.Context, out *console) error {
	_, err := fmt.Fprintln(out.Stdout, versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("graphleak %s (%s, %s/%s)", currentVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// currentVersion is the release's version, or what the Go toolchain knows
// about the source that was built.
func currentVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return cmp.Or(info.Main.Version, "devel")
}
