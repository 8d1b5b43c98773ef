package torch

import "strings"

// AllocationError reports whether a name, dotted or not, is that of the error
// which PyTorch raises when it cannot allocate memory of a device.
func AllocationError(name string) bool {
	return name == "OutOfMemoryError" || strings.HasSuffix(name, ".OutOfMemoryError")
}
