package torch

import "strings"

// Cleaning is what a call frees.
type Cleaning uint8

// None of them frees what something refers to.
const (
	CleansNothing Cleaning = iota
	CleansGarbage          // cycles of objects that nothing refers to
	CleansCache            // memory of a device that PyTorch keeps for later
)

// Cleans is what a function of a dotted name frees.
func Cleans(dotted string) Cleaning {
	switch {
	case dotted == "gc.collect":
		return CleansGarbage
	case strings.HasPrefix(dotted, "torch.") && strings.HasSuffix(dotted, ".empty_cache"):
		return CleansCache
	}
	return CleansNothing
}
