package crash

import "fmt"

// Memory is what an out-of-memory message says about a device, in bytes and in
// parts that add up, for those who draw it. Amounts that the message does not
// say are nil.
type Memory struct {
	Requested *float64     `json:"requested"`
	Capacity  *float64     `json:"capacity"`
	Limit     *float64     `json:"limit"` // of this process
	Parts     []MemoryPart `json:"parts"` // used ones first, what is free last
}

// MemoryPart is one part of a device's memory.
type MemoryPart struct {
	// Kind is live, cached, own (of this process, but not PyTorch's), other (of
	// another process), unknown or free.
	Kind  string  `json:"kind"`
	Label string  `json:"label"`
	Bytes float64 `json:"bytes"`
}

// maxProcesses bounds the other processes that are told one by one.
const maxProcesses = 8

// parts are the amounts of the message as parts of the device. There are none if
// it says too little, or if they do not add up: some drivers count in memory of
// the host.
func (m *oom) parts() *Memory {
	if !m.allocated.said() {
		return nil
	}
	memory := &Memory{Requested: m.request.amount(), Capacity: m.total.amount(), Limit: m.allowed.amount()}
	var sum Size
	add := func(kind, label string, size Size) {
		if size > 0 {
			memory.Parts = append(memory.Parts, MemoryPart{kind, label, float64(size)})
			sum += size
		}
	}
	add("live", "live tensors", m.allocated)
	add("cached", "cached by PyTorch, not in use", m.unallocated)
	if m.self.said() {
		add("own", "this process outside PyTorch: CUDA context, libraries", m.self-m.allocated-max(0, m.unallocated))
	}
	for i, p := range m.others {
		if i < maxProcesses {
			add("other", "process "+p.pid, p.has)
		}
	}
	if rest := len(m.others) - maxProcesses; rest > 0 {
		var has Size
		for _, p := range m.others[maxProcesses:] {
			has += p.has
		}
		add("other", fmt.Sprintf("%d more processes", rest), has)
	}
	if m.total.said() && m.free.said() {
		label := "outside PyTorch: CUDA context, other processes"
		if m.self.said() {
			label = "not accounted for"
		}
		add("unknown", label, m.total-m.free-sum)
		add("free", "free", m.free)
		if sum > m.total+m.total/50 {
			return nil
		}
	}
	return memory
}

// amount is s for JSON.
func (s Size) amount() *float64 {
	if !s.said() {
		return nil
	}
	n := float64(s)
	return &n
}
