package crash

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// quantity is what an amount of memory is of.
type quantity string

// Allocated memory is that of live tensors, reserved memory also has what the
// allocator keeps for later. Device memory is what a driver shows of all
// processes, or what a program prints without saying what it is.
const (
	allocatedMemory quantity = "allocated"
	reservedMemory  quantity = "reserved"
	maxAllocated    quantity = "max allocated"
	maxReserved     quantity = "max reserved"
	deviceMemory    quantity = "device"
	maxDevice       quantity = "max device"
	freeMemory      quantity = "device free"
	hostMemory      quantity = "host"
	maxHost         quantity = "max host"
	hostUsed        quantity = "host used"
)

// words are the quantity in a sentence.
func (q quantity) words() string {
	switch q {
	case deviceMemory:
		return "memory in use on the device"
	case maxDevice:
		return "highest memory in use on the device so far"
	case freeMemory:
		return "free memory of the device"
	case hostMemory:
		return "memory of the process on the host"
	case maxHost:
		return "highest memory of the process on the host so far"
	case hostUsed:
		return "memory in use on the host"
	case maxAllocated:
		return "highest allocated memory so far"
	case maxReserved:
		return "highest reserved memory so far"
	}
	return string(q) + " memory"
}

// runningMax reports whether a quantity never falls.
func (q quantity) runningMax() bool { return strings.HasPrefix(string(q), "max ") }

// onHost reports whether a quantity is of the machine's own memory.
func (q quantity) onHost() bool { return q == hostMemory || q == maxHost || q == hostUsed }

// reading is one amount of memory that a line of output shows.
type reading struct {
	of       quantity
	size     Size
	quantum  Size   // of its last digit
	capacity Size   // of what it is a part of, unsaid if the line does not tell
	device   int    // -1 if the line does not tell
	phase    string // of the step, if the line tells
}

// memoryWords begin what a line that prints memory must contain; those that are
// too short for the search by literals are looked for one by one.
var (
	memoryWords = []string{
		"memory", "Memory", "MEMORY", "allocat", "Allocat", "ALLOCAT", "alloc=", "alloc:", "alloc ", "_alloc", "reserved", "Reserved",
		"max_mem", "gpu_mem", "GPU_mem", "GPU mem", "gpu mem", "Peak mem", "peak mem", "peak_mem", " Max_MA ", "gb_free", "MiB / ", "# gpu ",
		" GB / ", "MemAlloc", "peakGPU",
	}
	shortMemoryWords = []string{"rss", "RSS", "RAM", "mem=", "mem:", "Mem:", "Mem=", "VRAM", "vram"}
)

var (
	amountPattern = regexp.MustCompile(`(\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s?((?i:bytes|[kmgt]i?b|b|gigabytes|megabytes)\b|[KMGT]\b)?(%)?`)
	unitInName    = regexp.MustCompile(`(?i)(?:[(\[_ -]|^)(bytes|[kmgt]i?b|gigabytes|megabytes)[)\]]?["' :=]*$`)
	nameWord      = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`) // of snake_case and camelCase too

	smiCell     = regexp.MustCompile(`\|\s*(\d+)MiB\s*/\s*(\d+)MiB\s*\|`)
	mmLine      = regexp.MustCompile(`(?i)\b(?:epoch|iter)\b.*?["']?\bmemory["']?: (\d+)(?:[,}\s]|$)`)
	summaryRow  = regexp.MustCompile(`^\|\s*(Allocated memory|GPU reserved memory)\s*\|\s*([\d.]+)\s*([KMGT]?i?B)\s*\|`)
	phaseOfPool = regexp.MustCompile(`^((?:Before|After) [\w ]+?)[:,] ([\d.]+) ?GB ?/ ?([\d.]+) ?GB`)
	virtualLine = regexp.MustCompile(`CPU Virtual Memory:\s+used = ([\d.]+) GB`)
)

// readMemory finds the amounts of memory in a line of output.
func readMemory(text string) []reading {
	switch {
	case len(text) > 2000, strings.Contains(text, "Tried to allocate"), strings.Contains(text, `File "`):
		return nil
	case strings.Contains(text, "anon-rss:"): // the kernel's, of a process that it ended
		return nil
	case strings.Contains(text, "MiB / ") && smiCell.MatchString(text):
		m := smiCell.FindStringSubmatch(text)
		used, _ := amount(m[1], "MiB")
		total, _ := amount(m[2], "MiB")
		return []reading{{of: deviceMemory, size: used, quantum: mib, capacity: total, device: -1}}
	case summaryRow.MatchString(text):
		m := summaryRow.FindStringSubmatch(text)
		of := allocatedMemory
		if m[1] != "Allocated memory" {
			of = reservedMemory
		}
		return one(of, m[2], m[3])
	case virtualLine.MatchString(text):
		return one(hostUsed, virtualLine.FindStringSubmatch(text)[1], "GB")
	case phaseOfPool.MatchString(text):
		m := phaseOfPool.FindStringSubmatch(text)
		list := one(deviceMemory, m[2], "GB")
		for i := range list {
			list[i].phase = m[1]
			list[i].capacity, _ = amount(m[3], "GB")
		}
		return list
	case mmLine.MatchString(text):
		// mmengine and its predecessors print the highest amount in MB.
		return one(maxAllocated, mmLine.FindStringSubmatch(text)[1], "MB")
	}
	return namedAmounts(text)
}

// one is a single reading, if the digits are an amount.
func one(of quantity, digits, unit string) []reading {
	size, ok := amount(digits, unit)
	if !ok {
		return nil
	}
	return []reading{{of: of, size: size, quantum: lastDigit(digits, size), capacity: unsaid, device: -1}}
}

// namedAmounts reads what programs print by themselves: a name, an amount and
// its unit, again and again.
func namedAmounts(text string) []reading {
	var list []reading
	inName := ""
	if strings.Contains(text, "memory (MB)") { // Megatron-LM
		inName = "MB"
	}
	end := 0
	for _, m := range amountPattern.FindAllStringSubmatchIndex(text, 64) {
		start := m[2]
		name := text[end:start]
		if start > 0 && glued(text[start-1]) {
			continue // a part of a name: "cuda:0" is not, "x86" is
		}
		end = m[5]
		if m[4] < 0 {
			end = m[3]
		}
		if m[6] >= 0 { // a share
			continue
		}
		digits, unit := text[m[2]:m[3]], ""
		if m[4] >= 0 {
			unit = text[m[4]:m[5]]
		}
		name = name[strings.LastIndexAny(name, ",|;\t{")+1:]
		if unit == "" {
			unit = inName
			if u := unitInName.FindStringSubmatch(name); u != nil {
				unit = u[1]
			}
		}
		of, phase, ok := quantityOf(name, unit != "")
		if !ok && m[4] >= 0 {
			// "12.3 MiB allocated"
			rest := text[end:]
			if stop := strings.IndexAny(rest, ",|;\t()"); stop >= 0 {
				rest = rest[:stop]
			}
			if !strings.ContainsAny(rest, "0123456789:=") {
				of, phase, ok = quantityOf(rest, true)
			}
		}
		if !ok {
			continue
		}
		size, ok := amount(digits, unit)
		if !ok || size > pib {
			continue
		}
		if phase == "" && len(list) > 0 {
			phase = list[0].phase // the label of the line
		}
		list = append(list, reading{of: of, size: size, quantum: lastDigit(digits, size), capacity: unsaid, device: -1, phase: phase})
	}
	return list
}

func glued(c byte) bool {
	return c == '_' || c == '.' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c)
}

// phaseWords tell at which point of a step a program looks at its memory.
var phaseWords = []string{"before", "after", "start", "end", "begin", "forward", "backward", "optimizer", "eval", "evaluation", "train", "val", "validation", "test", "init", "load"}

// quantityOf says what an amount is of by the words of its name.
func quantityOf(name string, hasUnit bool) (of quantity, phase string, ok bool) {
	if len(name) > 100 {
		name = name[len(name)-100:]
	}
	var memory, alloc, reserved, free, host, device, peak, used bool
	for _, word := range nameWord.FindAllString(name, -1) {
		word = strings.ToLower(word)
		switch {
		case word == "mem" || word == "memory":
			memory = true
		case word == "vram":
			memory, device = true, true
		case word == "ma": // DeepSpeed
			memory, alloc = true, true
		case word == "ca":
			memory, reserved = true, true
		case strings.HasPrefix(word, "alloc") && word != "allocator" && word != "allocations":
			alloc = true
		case word == "reserved" || word == "cached":
			reserved = true
		case word == "free" || word == "available":
			free = true
		case strings.HasSuffix(word, "rss") || word == "ram" || word == "host" || word == "cpu" || word == "uss":
			host = true
		case word == "gpu" || word == "cuda" || word == "device":
			device = true
		case word == "max" || word == "peak" || word == "maximum" || word == "highest":
			peak = true
		case word == "used" || word == "usage" || word == "use":
			used = true
		case word == "total" || word == "limit" || word == "capacity" || word == "allowed" || word == "threshold" || word == "delta" || word == "params" ||
			word == "parameters" || word == "requested" || word == "size" || word == "percent" || word == "util":
			return "", "", false
		default:
			for _, p := range phaseWords {
				if word == p {
					phase += " " + p
				}
			}
		}
	}
	phase = strings.TrimSpace(phase)
	switch {
	case host && !device && (hasUnit || memory || used):
		of = hostMemory
		if peak {
			of = maxHost
		}
	case host:
		return "", "", false
	case alloc && peak:
		of = maxAllocated
	case alloc:
		of = allocatedMemory
	case reserved && peak && (memory || device || hasUnit):
		of = maxReserved
	case reserved && (memory || device || hasUnit):
		of = reservedMemory
	case free && (memory || device || strings.Contains(name, "gb_free")):
		of = freeMemory
	case memory && peak && used && (hasUnit || device):
		of = maxDevice
	case memory && peak && (hasUnit || device):
		of = maxAllocated // the counter that PyTorch and MLX have
	case device && peak && hasUnit:
		of = maxAllocated
	case memory && (hasUnit || device), device && used && hasUnit:
		of = deviceMemory
	default:
		return "", "", false
	}
	return of, phase, true
}

// amount is a number with its unit. Without one, its size tells bytes from
// mebibytes and gibibytes.
func amount(digits, unit string) (Size, bool) {
	switch strings.ToLower(unit) {
	case "gigabytes", "g":
		unit = "GiB"
	case "megabytes", "m":
		unit = "MiB"
	case "k", "t":
		unit += "iB"
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, false
	}
	switch {
	case unit != "":
		return parseSize(strconv.FormatFloat(n, 'f', -1, 64) + " " + unit)
	case n > 1e6:
		return Size(n), true
	case n > 200:
		return Size(n) * mib, true
	}
	return Size(n) * gib, true
}

// lastDigit is the amount that one in the last place of digits stands for.
func lastDigit(digits string, size Size) Size {
	n, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil || n == 0 {
		return 0
	}
	decimals := 0
	if at := strings.IndexByte(digits, '.'); at >= 0 {
		decimals = len(digits) - at - 1
	}
	return size / Size(n) * Size(math.Pow10(-decimals))
}
