package crash

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

// oom is what an out-of-memory message of an accelerator's allocator says.
// Amounts that it does not say are unsaid.
type oom struct {
	request     Size // as rounded up by the allocator
	total       Size // capacity of the device
	free        Size
	allocated   Size // live tensors of this process, private pools included
	unallocated Size // cached by this process and not free for this request
	allowed     Size // limit set for this process
	private     Size // of allocated, in the pools of captured graphs
	self        Size // all that this process has on the device
	others      []process
	inferred    bool // self is one of several listed processes, recognised by its size
}

type process struct {
	pid string
	has Size
}

const unsaid Size = -1

func (s Size) said() bool { return s >= 0 }

var processClause = regexp.MustCompile(`Process\s+(\d+)\s+has\s+(` + sizePattern + `)\s+memory\s+in\s+use`)

// readOOM takes the numbers from the fields of a signature.
func readOOM(fields map[string]string) oom {
	size := func(name string) Size {
		if s, ok := parseSize(fields[name]); ok {
			return s
		}
		return unsaid
	}
	m := oom{
		request: size("request"), total: size("total"), free: size("free"), allocated: size("allocated"),
		unallocated: size("unallocated"), allowed: size("allowed"), private: size("private"), self: size("self"),
	}
	if reserved := size("reserved"); reserved.said() && m.allocated.said() {
		m.unallocated = max(0, reserved-m.allocated)
	}
	if cached := size("cached"); cached.said() && m.allocated.said() {
		// The first versions print what is cached beyond what is allocated.
		m.unallocated = cached
		if m.total.said() && cached >= m.allocated && m.allocated+cached > m.total {
			m.unallocated = cached - m.allocated
		}
	}
	seen := make(map[string]bool)
	for _, c := range processClause.FindAllStringSubmatch(fields["processes"], -1) {
		has, ok := parseSize(c[2])
		// Drivers that cannot tell give absurd amounts.
		if !ok || seen[c[1]] || m.total.said() && has > 2*m.total {
			continue
		}
		seen[c[1]] = true
		m.others = append(m.others, process{c[1], has})
	}
	m.findSelf()
	return m
}

// findSelf recognises this process among the listed ones. In a container the
// driver knows it by another number than the process itself, so the message
// has no clause about "this process" and lists it as any other. What a process
// has is what its tensors and its cache have plus up to two GiB of context; and
// whoever would not fit on the device beside this process must be this process.
func (m *oom) findSelf() {
	if m.self.said() || !m.allocated.said() || !m.unallocated.said() {
		return
	}
	own := m.allocated + m.unallocated
	const slack, context = 100 * mib, 2 * gib
	best := -1
	for i, p := range m.others {
		fits := !m.total.said() || !m.free.said() || own+p.has <= m.total-m.free+slack
		if p.has < own-slack || p.has > own+context && fits {
			continue
		}
		if best < 0 || math.Abs(float64(p.has-own)) < math.Abs(float64(m.others[best].has-own)) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	m.self, m.inferred = m.others[best].has, true
	m.others = append(m.others[:best:best], m.others[best+1:]...)
}

// foreign is what the listed other processes have together.
func (m *oom) foreign() Size {
	var sum Size
	for _, p := range m.others {
		sum += p.has
	}
	return sum
}

// typicalContext is what CUDA itself, NCCL and cuBLAS take outside of PyTorch's
// allocator.
const typicalContext = gib

// outside is what neither this process nor a listed one has, and whether the
// message says enough to know.
func (m *oom) outside() (Size, bool) {
	if !m.total.said() || !m.free.said() {
		return 0, false
	}
	switch {
	case m.self.said():
		return max(0, m.total-m.free-m.self-m.foreign()), true
	case m.allocated.said() && m.unallocated.said():
		return max(0, m.total-m.free-m.allocated-m.unallocated-m.foreign()-typicalContext), true
	}
	return 0, false
}

func percent(part, whole Size) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", float64(part/whole)*100)
}

// share is a part in words that stay readable when it is larger than the whole.
func share(part, whole Size) string {
	if part > 10*whole {
		return fmt.Sprintf("%.0f times", float64(part/whole))
	}
	return percent(part, whole) + " of"
}

// arithmetic derives what the message does not print, as lines to check.
func (m *oom) arithmetic() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if m.request.said() {
		switch {
		case m.request == 2*mib:
			add("requested: 2.00 MiB, the size that every request up to 1 MiB is rounded up to")
		case m.request == 20*mib:
			add("requested: 20.00 MiB, the size that every request from 1 to 10 MiB is rounded up to")
		case m.total.said():
			add("requested: %v = %s the capacity %v", m.request, share(m.request, m.total), m.total)
		default:
			add("requested: %v", m.request)
		}
	}
	if m.allocated.said() && m.total.said() {
		add("live tensors: %v of %v = %s", m.allocated, m.total, percent(m.allocated, m.total))
	}
	if m.private.said() {
		add("of these, in private pools of captured graphs: %v", m.private)
	}
	if m.unallocated.said() {
		add("cached but not usable for this request: %v", m.unallocated)
	}
	if m.free.said() {
		add("free on the device: %v", m.free)
	}
	if m.allowed.said() && m.allocated.said() && m.unallocated.said() && m.request.said() {
		sum := m.allocated + m.unallocated + m.request
		add("limit of this process: %v; live + cached + requested = %v + %v + %v = %v", m.allowed, m.allocated, m.unallocated, m.request, sum)
	}
	if m.self.said() {
		if m.inferred {
			add("this process has %v (listed by another process id, recognised by its size: live + cached = %v)", m.self, m.allocated+m.unallocated)
		} else {
			add("this process has %v with its CUDA context", m.self)
		}
	}
	for _, p := range m.others {
		add("process %s has %v", p.pid, p.has)
	}
	if outside, ok := m.outside(); ok {
		title := "held outside PyTorch"
		terms := []term{{"total", m.total}, {"free", m.free}}
		if m.self.said() {
			title = "unaccounted for"
			terms = append(terms, term{"this process", m.self})
		} else {
			terms = append(terms, term{"live", m.allocated}, term{"cached", m.unallocated})
		}
		if len(m.others) > 0 {
			terms = append(terms, term{"others", m.foreign()})
		}
		if !m.self.said() {
			terms = append(terms, term{"usual context", typicalContext})
		}
		add("%s: %s", title, difference(terms, outside))
	}
	return lines
}

// term is one amount of a sum.
type term struct {
	name string
	size Size
}

// difference writes out a subtraction, in words and in numbers.
func difference(terms []term, result Size) string {
	var names, sizes []string
	for _, t := range terms {
		names = append(names, t.name)
		sizes = append(sizes, t.size.String())
	}
	about := "="
	if result == 0 {
		about = "≤"
	}
	return fmt.Sprintf("%s = %s %s %v", strings.Join(names, " - "), strings.Join(sizes, " - "), about, result)
}

func (m *oom) listOthers() string {
	var parts []string
	for i, p := range m.others {
		if i == 4 {
			parts = append(parts, fmt.Sprintf("and %d more", len(m.others)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("process %s: %v", p.pid, p.has))
	}
	return strings.Join(parts, ", ")
}

// largestOther is the process id of the largest other process.
func (m *oom) largestOther() string {
	var most Size
	pid := ""
	for _, p := range m.others {
		if p.has > most {
			most, pid = p.has, p.pid
		}
	}
	return pid
}

// lastStraw says what the number in the message is not.
func (m *oom) lastStraw() string {
	switch {
	case !m.request.said():
		return "The request that failed is only the last straw"
	case m.request <= 2*mib:
		return fmt.Sprintf("The %v requested is only the last straw (all requests up to 1 MiB are rounded up to 2 MiB), not what fills the GPU", m.request)
	case m.request <= 20*mib:
		return fmt.Sprintf("The %v requested is only the last straw (requests from 1 to 10 MiB are rounded up to 20 MiB), not what fills the GPU", m.request)
	case m.total.said() && m.request < m.total/50:
		return fmt.Sprintf("The %v requested is only the last straw, not what fills the GPU", m.request)
	}
	return fmt.Sprintf("The %v requested is only the request that no longer fitted", m.request)
}
