package crash

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is an amount of memory in bytes.
type Size float64

const (
	kib Size = 1 << 10
	mib Size = 1 << 20
	gib Size = 1 << 30
	tib Size = 1 << 40
	pib Size = 1 << 50
)

// sizePattern matches a size as PyTorch and its relatives print it.
const sizePattern = `\d[\d,]*(?:\.\d+)?\s*(?:[bB]ytes|[KMGTPE]i?B|B)`

// parseSize reads a size as an allocator prints it: "20.00 MiB", "0 bytes".
// The decimal units of older Metal builds are binary amounts too.
func parseSize(s string) (Size, bool) {
	s = strings.TrimSpace(s)
	end := strings.LastIndexAny(s, "0123456789") + 1
	n, err := strconv.ParseFloat(strings.Join(strings.Fields(strings.ReplaceAll(s[:end], ",", "")), ""), 64)
	if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, false
	}
	unit := strings.ToLower(strings.TrimSpace(s[end:]))
	switch unit {
	case "bytes", "byte", "b", "":
		return Size(n), true
	}
	exponent := strings.IndexByte("kmgtpe", unit[0])
	if exponent < 0 || unit[1:] != "b" && unit[1:] != "ib" {
		return 0, false
	}
	return Size(n * math.Pow(1024, float64(exponent+1))), true
}

// String prints s the way PyTorch does, so that the numbers of a report can be
// found in the log.
func (s Size) String() string {
	switch abs := Size(math.Abs(float64(s))); {
	case abs < kib:
		return fmt.Sprintf("%.0f bytes", float64(s))
	case abs < mib:
		return fmt.Sprintf("%.2f KiB", float64(s/kib))
	case abs < gib:
		return fmt.Sprintf("%.2f MiB", float64(s/mib))
	case abs < 10*tib:
		return fmt.Sprintf("%.2f GiB", float64(s/gib))
	case abs < 10*pib:
		return fmt.Sprintf("%.2f TiB", float64(s/tib))
	default:
		return fmt.Sprintf("%.2f PiB", float64(s/pib))
	}
}
