package crash

import (
	"regexp"
	"slices"
	"strings"
)

// memoryTable reads tables whose rows do not say what they are: of nvidia-smi
// (--query-gpu as CSV, and dmon), of YOLO's training, and of loggers that write
// metrics as CSV. The header tells, and
// as long as the rows fit to it every line is looked at.
type memoryTable struct {
	kind    tableKind
	columns int
	used    int // column of the memory in use
	total   int // of the capacity, -1 if there is none
	device  int // of the number of the GPU, likewise
	time    int // likewise
	misses  int // lines in a row that are none
	at      string
	row     int // of those with the same time
	names   []string
	step    int // of the step in metrics
}

type tableKind int

const (
	noTable tableKind = iota
	csvTable
	dmonTable
	yoloTable
	metricTable
)

var (
	yoloHeader = regexp.MustCompile(`(?i)^\s*epoch\s+gpu_mem\s`)
	yoloRow    = regexp.MustCompile(`^\s*(\d+)/(\d+)\s+([\d.]+)(G|M)\b`)
	// of Lightning's CSVLogger and others: nothing but names
	metricHeader = regexp.MustCompile(`^(?:[\w./ -]+,)*(?:global_)?step,[\w./, -]+$|^[\w./, -]+,(?:global_)?step(?:,[\w./, -]+)?$`)
	csvAmount    = regexp.MustCompile(`^(\d+)(?: MiB)?$`)
	smiName      = regexp.MustCompile(`^\|\s+(\d+)\s+\S`)
)

// open reports whether rows are expected.
func (t *memoryTable) open() bool { return t.kind != noTable }

// read reads a header or a row, and reports whether text is one.
func (t *memoryTable) read(text string) (step Step, readings []reading, ok bool) {
	step = Step{Number: -1, Epoch: -1}
	if t.header(text) {
		return step, nil, true
	}
	if t.kind == noTable {
		return step, nil, false
	}
	switch t.kind {
	case yoloTable:
		if m := yoloRow.FindStringSubmatch(text); m != nil {
			step.Epoch = float64(number(m[1]))
			readings = one(reservedMemory, m[3], m[4])
		}
	case csvTable:
		readings = t.fields(splitTrimmed(text, ","))
	case metricTable:
		readings, step.Number = t.metrics(splitTrimmed(text, ","))
	case dmonTable:
		if strings.HasPrefix(text, "#") {
			t.misses = 0
			return step, nil, true // the units
		}
		readings = t.fields(strings.Fields(text))
	}
	if readings == nil {
		const patience = 3
		if t.misses++; t.misses > patience {
			t.kind = noTable
		}
		return step, nil, false
	}
	t.misses = 0
	return step, readings, true
}

func (t *memoryTable) header(text string) bool {
	switch {
	case strings.Contains(text, "memory.used") && strings.Contains(text, ","):
		names := splitTrimmed(text, ",")
		find := func(name string) int {
			return slices.IndexFunc(names, func(n string) bool { return n == name || strings.HasPrefix(n, name+" ") })
		}
		*t = memoryTable{kind: csvTable, columns: len(names), used: find("memory.used"), total: find("memory.total"), device: find("index"), time: find("timestamp")}
		return t.used >= 0
	case strings.HasPrefix(text, "# gpu "):
		names := strings.Fields(text)[1:]
		*t = memoryTable{kind: dmonTable, columns: len(names), used: slices.Index(names, "fb"), total: -1, device: 0, time: -1}
		if t.used < 0 {
			t.kind = noTable
		}
		return t.used >= 0
	case yoloHeader.MatchString(text):
		*t = memoryTable{kind: yoloTable}
		return true
	case metricHeader.MatchString(text):
		names := splitTrimmed(text, ",")
		step := slices.IndexFunc(names, func(n string) bool { return n == "step" || n == "global_step" })
		if step < 0 || !slices.ContainsFunc(names, func(n string) bool { return isMemory(n) }) {
			return false
		}
		*t = memoryTable{kind: metricTable, columns: len(names), names: names, step: step}
		return true
	}
	return false
}

// isMemory reports whether a column of metrics is an amount of memory.
func isMemory(name string) bool {
	_, _, ok := quantityOf(name, false)
	return ok
}

// metrics reads a row of metrics: a logger leaves empty what was not measured at
// that step.
func (t *memoryTable) metrics(fields []string) (list []reading, step int) {
	if len(fields) != t.columns {
		return nil, -1
	}
	list = []reading{}
	for i, name := range t.names {
		if of, phase, ok := quantityOf(name, false); ok && fields[i] != "" {
			for _, r := range one(of, fields[i], "") {
				r.phase = phase
				list = append(list, r)
			}
		}
	}
	return list, number(fields[t.step])
}

// fields reads a row of a table with columns, nil if it is none.
func (t *memoryTable) fields(fields []string) []reading {
	if len(fields) != t.columns {
		return nil
	}
	m := csvAmount.FindStringSubmatch(fields[t.used])
	if m == nil {
		return nil
	}
	list := one(deviceMemory, m[1], "MiB")
	for i := range list {
		if t.total >= 0 {
			if total := csvAmount.FindStringSubmatch(fields[t.total]); total != nil {
				list[i].capacity, _ = amount(total[1], "MiB")
			}
		}
		switch {
		case t.device >= 0:
			list[i].device = number(fields[t.device])
		case t.time >= 0:
			// Rows of the same time are of the GPUs in their order.
			if t.row++; fields[t.time] != t.at {
				t.at, t.row = fields[t.time], 0
			}
			list[i].device = t.row
		}
	}
	return list
}

func splitTrimmed(text, sep string) []string {
	parts := strings.Split(text, sep)
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// smiDevice is the number of the GPU in the line of nvidia-smi's table before
// the one with its memory, -1 if that is not there.
func smiDevice(before func(func(Line) bool)) int {
	device := -1
	before(func(earlier Line) bool {
		if m := smiName.FindStringSubmatch(earlier.Text); m != nil {
			device = number(m[1])
		}
		return false
	})
	return device
}
