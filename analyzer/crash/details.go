package crash

import "fmt"

// nearby is how many lines apart messages of one failure may be.
const nearby = 500

// details are the other messages of the same failure that say more about it:
// the GPU prints which check failed, and the exception that follows says only
// that one did; the kernel writes three lines about one process.
func (in *incident) details(e *Event) []*Event {
	var list []*Event
	for _, o := range in.events {
		if o == e || o.Page != e.Page || o.Role != e.Role && o.Role != RoleAdvice || o.Recovered != nil || o.Origin.Input != e.Origin.Input {
			continue
		}
		if o.key != e.key && !sameProcess(o, e) {
			continue
		}
		if o.Line > e.last()+nearby || o.last() < e.Line-nearby {
			continue
		}
		list = append(list, o)
	}
	return list
}

// borrowRank gives e the rank that its details name, if they name one.
func (in *incident) borrowRank(e *Event) {
	if e.rank() >= 0 || e.Role == RoleCollateral {
		return
	}
	var named *Event
	for _, o := range in.details(e) {
		switch {
		case o.rank() < 0 || o.Strength != e.Strength:
		case named != nil && named.rank() != o.rank():
			return
		default:
			named = o
		}
	}
	if named != nil {
		e.Origin.Rank, e.Origin.LocalRank = named.Origin.Rank, named.Origin.LocalRank
		if e.Origin.Host == "" {
			e.Origin.Host = named.Origin.Host
		}
	}
}

// causes are the explanations of the event, the most exact one first.
func (e *Event) causes(details []*Event) []string {
	var list []string
	for _, o := range append([]*Event{e}, details...) {
		if o.Signature != nil && o.Signature.Cause != "" {
			list = append(list, o.Signature.Cause)
		}
	}
	return append(list, e.Page.Cause)
}

// ownFixes are those for these messages in particular.
func (e *Event) ownFixes(details []*Event, fields map[string]string) []Fix {
	var list []Fix
	for _, o := range append([]*Event{e}, details...) {
		if o.Signature != nil {
			list = append(list, filled(o.Signature.Fixes, fields)...)
		}
	}
	return list
}

// amounts are fields that hold an amount of host memory in kilobytes, with what
// they are of.
var amounts = []struct{ field, of string }{
	{"used_kb", "used"},
	{"limit_kb", "limit"},
	{"anon_kb", "ordinary memory of the process (anon-rss)"},
	{"file_kb", "mapped files (file-rss)"},
	{"shmem_kb", "shared memory, /dev/shm (shmem-rss)"},
	{"total_vm_kb", "address space (total-vm), most of which may never have been used"},
}

// hostArithmetic shows the amounts of a message about host memory.
func hostArithmetic(fields map[string]string) []string {
	var lines []string
	for _, a := range amounts {
		if size, ok := parseSize(fields[a.field] + " KiB"); fields[a.field] != "" && ok {
			lines = append(lines, fmt.Sprintf("%s: %v", a.of, size))
		}
	}
	return lines
}
