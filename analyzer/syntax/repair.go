package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphleak/graphleak/analyzer/text"
)

// repair reads a text with errors again so that each error stays within the
// logical line that it is on: a bracket that somebody has just opened in one
// function takes neither the rest of that function nor the next one with it.
//
// It goes through the text by lines and indentation, which half-typed code
// still has. What the first tree has read without an error is taken as it
// stands; of the rest every logical line is tried alone. One that is no Python
// is replaced by a statement or a header that is, and the text is parsed a
// second time. In that tree the replaced statements are Error nodes, what was
// added to headers is Missing, and everything has the offsets of the text as it
// was.
//
// Where before, the tree of an earlier text, has no error, the second parse takes
// from it what it can: the replaced text differs from that one in a few lines.
func repair(first *Tree, p *parser, before *Tree) (*Tree, error) {
	r := &repairer{
		tree: first, src: first.src, parser: p,
		levels:  []level{{}},
		lexing:  64<<10 + 16*len(first.src),
		parsing: 64<<10 + len(first.src),
	}
	r.run()
	if len(r.edits) == 0 {
		return first, nil
	}
	patched, err := text.Apply([]byte(first.src), r.edits)
	if err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	second, ok := p.grammar.spliceWhole(before, string(patched))
	if !ok {
		second, err = p.parse(string(patched))
		if err != nil {
			return first, nil // it took too long, but this one is there
		}
		second.markJoined()
	}
	second.src = first.src
	r.restore(second)
	return second, nil
}

// repairer goes through the text from left to right.
type repairer struct {
	tree   *Tree
	src    string
	parser *parser

	levels []level
	// behind is the offset of the end of the physical line that was looked at
	// last.
	behind int
	// header says that the next line may open a block, that of the last line.
	header bool

	edits []text.Edit // in order

	before state // what held before the current line

	// What may still be read, in bytes: texts that are all errors must not
	// take many times longer than others.
	lexing, parsing int
}

// state is what a line changes.
type state struct {
	levels []level
	edits  int
}

// level is a block that is open.
type level struct {
	width  int    // columns of indentation
	indent string // the text of the indentation
	owner  string // the keyword whose block it is
	last   string // the keyword of the last statement in it
}

func (r *repairer) top() *level { return &r.levels[len(r.levels)-1] }

func (r *repairer) run() {
	at := 0
	for r.lexing > 0 && r.parsing > 0 {
		l, ok := nextLine(r.src, at)
		if !ok {
			break
		}
		r.lexing -= l.next - l.begin + l.cost
		r.before = state{slices.Clone(r.levels), len(r.edits)}
		fits := r.enter(&l)
		if next, ok := r.keep(&l, fits); ok {
			at = next
		} else {
			at = r.statement(&l)
		}
		r.behind = len(strings.TrimRight(r.src[:at], "\r\n"))
	}
	for len(r.levels) > 0 {
		r.settle("")
		r.levels = r.levels[:len(r.levels)-1]
	}
}

// enter finds the block that l belongs to. It reports whether the indentation
// of l is that of the block; if not, it is corrected.
func (r *repairer) enter(l *line) bool {
	indent := r.src[l.begin:l.start]
	if r.header && l.width > r.top().width {
		r.levels = append(r.levels, level{width: l.width, indent: indent, owner: r.top().last})
		r.header = false
		return true
	}
	r.header = false
	for len(r.levels) > 1 && r.top().width > l.width {
		outer := r.levels[len(r.levels)-2]
		if outer.width < l.width {
			break // between two levels: the inner one
		}
		r.settle("")
		r.levels = r.levels[:len(r.levels)-1]
	}
	r.settle(l.word)
	if r.top().width == l.width {
		return true
	}
	r.edit(l.begin, l.start, r.top().indent)
	return false
}

// reenter moves l, a single line to be replaced, into the block before it if the
// line at next goes on with that block: what is typed too far left does not end
// it.
func (r *repairer) reenter(l *line, next int) {
	_, _, width, ok := firstToken(r.src, next)
	if !ok || width <= r.top().width {
		return
	}
	for i, level := range r.before.levels {
		if level.width == width {
			r.levels, r.edits = r.before.levels[:i+1], r.edits[:r.before.edits]
			r.edit(l.begin, l.start, level.indent)
			return
		}
	}
}

// settle completes the last statement of the innermost block before one that
// starts with word: a try needs a handler.
func (r *repairer) settle(word string) {
	top := r.top()
	if top.last == "try" && word != "except" && word != "finally" {
		r.edit(r.behind, r.behind, "\n"+top.indent+"finally: pass")
		top.last = ""
	}
}

// keep takes the statement of the first tree that starts with l as it is, if it
// has no error and ends where a statement can end.
func (r *repairer) keep(l *line, fits bool) (next int, ok bool) {
	n := r.tree.statementAt(l.start)
	if n < 0 || r.tree.Damaged(n) {
		return 0, false
	}
	compound := shapes[r.tree.Kind(n)] == compoundStatement
	end := r.tree.Span(n).End
	if compound && (!fits || l.colon && end == l.end) {
		return 0, false // its block would not fit, or is not there
	}
	stop := lineStop(r.src, end)
	rest := strings.TrimSpace(r.src[min(end, stop):stop])
	if end > l.start && r.src[end-1] == '\n' { // some statements take their line end
		stop, rest = end-1, ""
	}
	if rest != "" && rest[0] != '#' {
		return 0, false
	}
	next = min(stop+1, len(r.src))
	if r.tree.hidesDefinition(n) && !r.continues(next, l.width) {
		return 0, false
	}
	if !r.fitsOwner(l) {
		return 0, false
	}
	r.top().last = keyword(l.word)
	r.follow(n)
	return next, true
}

// keyword is how a complete statement that starts with word may go on.
func keyword(word string) string {
	if word == "try" {
		return "except" // it has one
	}
	return word
}

// follow opens the blocks that n ends with: more of them may come.
func (r *repairer) follow(n NodeID) {
	for {
		owner, last := n, r.tree.last(n)
		switch shapes[r.tree.Kind(last)] {
		case compoundStatement, clause:
			n = last
		case block:
			start := r.tree.Span(last).Start
			begin, first, width, _ := firstToken(r.src, strings.LastIndexByte(r.src[:start], '\n')+1)
			if first != start {
				return // on the line of its header
			}
			n = r.tree.last(last)
			if n < 0 {
				return
			}
			r.levels = append(r.levels, level{
				width: width, indent: r.src[begin:start], owner: word(r.tree.Text(owner)), last: keyword(word(r.tree.Text(n))),
			})
		default:
			return
		}
	}
}

// last is the last child of n, comments left out.
func (t *Tree) last(n NodeID) NodeID {
	last := NoNode
	for c := range t.Children(n) {
		last = c
	}
	return last
}

// statementAt is the outermost statement that starts at offset, or NoNode.
func (t *Tree) statementAt(offset int) NodeID {
	i, _ := slices.BinarySearchFunc(t.nodes, offset, func(n node, offset int) int { return int(n.start) - offset })
	for ; i < len(t.nodes) && int(t.nodes[i].start) == offset; i++ {
		if s := shapes[t.nodes[i].kind]; s == simpleStatement && t.nodes[i].kind != Decorator || s == compoundStatement {
			return NodeID(i)
		}
	}
	return NoNode
}

// hidesDefinition reports whether a string of n looks as if it had swallowed a
// definition: one that was not closed ends at the start of the next docstring.
func (t *Tree) hidesDefinition(n NodeID) bool {
	for m, end := n, t.End(n); m < end; m++ {
		if t.nodes[m].kind == String && swallows(t.Text(m)) {
			return true
		}
	}
	return false
}

func swallows(s string) bool {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			return false
		}
		s = s[i+1:]
		switch word(strings.TrimLeft(s, " \t")) {
		case "def", "class", "@":
			return true
		}
	}
}

// continues reports whether a program goes on at at, the start of a physical
// line, after a statement that is indented by width. Behind the opening quotes
// of a docstring it does not: there is prose, or it is indented further.
func (r *repairer) continues(at, width int) bool {
	l, ok := nextLine(r.src, at)
	if !ok {
		return true
	}
	r.lexing -= l.next - l.begin + l.cost
	return l.width <= width && !l.open && (isClause(l.word) || r.valid(&l))
}

// statement reads l as a statement or as the header of one, or replaces it. It
// returns where the next line starts.
func (r *repairer) statement(l *line) (next int) {
	if !l.open && r.fitsOwner(l) && r.valid(l) {
		doubtful := l.multi(r.src) && swallows(r.src[l.start:l.end])
		if !doubtful || r.continues(l.next, l.width) {
			r.top().last = l.word
			r.header = l.colon
			return l.next
		}
	}
	if first := r.firstLine(l); r.opensBlock(first) {
		r.complete(first)
		r.top().last = first.word
		r.header = true
		return first.next
	}
	return r.replace(l)
}

// opensBlock reports whether l, which is not valid, looks as if it was to be the
// header of a block: it starts as one or ends in a colon, and the next line is
// indented further.
func (r *repairer) opensBlock(l *line) bool {
	_, start, width, ok := firstToken(r.src, l.next)
	if !ok || width <= l.width {
		return l.colon && isHeader(l.word) && l.word != "case"
	}
	switch l.word {
	case "match":
		return word(r.src[start:]) == "case"
	case "case":
		return r.top().owner == "match"
	}
	return isHeader(l.word) || l.colon
}

// firstLine is l up to its first line end.
func (r *repairer) firstLine(l *line) *line {
	if !l.multi(r.src) {
		return l
	}
	stop := lineStop(r.src, l.start)
	f := *l
	f.end = l.start + len(strings.TrimRight(r.src[l.start:stop], " \t\r\\"))
	f.next = min(stop+1, len(r.src))
	f.closers = ""
	if one, ok := nextLine(r.src[:stop], l.begin); ok {
		f.end, f.colon, f.closers = one.end, one.colon, one.closers
	}
	return &f
}

// complete makes the first line of a header one: it adds what is missing, cuts
// off what is behind, or puts a plain one with the same keyword in its place.
func (r *repairer) complete(l *line) {
	if !r.fitsOwner(l) || !isHeader(l.word) {
		l.word = "if"
		if r.top().owner == "match" {
			l.word = "case"
		}
		r.edit(l.start, l.end, plainHeaders[l.word])
		return
	}
	if l.colon {
		colon := l.end - 1
		if r.try(l, colon, colon, " _") {
			return
		}
	} else {
		if l.inline && r.try(l, l.colonAt+1, l.end, "") {
			return
		}
		for _, s := range []string{":", " _:", " _():", " _ in _:", " in _:"} {
			if r.try(l, l.end, l.end, l.closers+s) || l.closers != "" && r.try(l, l.end, l.end, "_"+l.closers+s) {
				return
			}
		}
	}
	r.edit(l.start, l.end, plainHeaders[l.word])
}

// try makes an edit of l if that gives a header.
func (r *repairer) try(l *line, start, end int, s string) bool {
	if !r.validText(l.word, r.src[l.start:start]+s+r.src[end:l.end]) {
		return false
	}
	r.edit(start, end, s)
	return true
}

// plainHeaders stand in for headers that cannot be read.
var plainHeaders = map[string]string{
	"def": "def _():", "class": "class _:", "for": "for _ in _:", "while": "while _:", "with": "with _:", "if": "if _:",
	"elif": "elif _:", "else": "else:", "try": "try:", "except": "except:", "finally": "finally:", "match": "match _:",
	"case": "case _:",
}

func isHeader(word string) bool {
	_, ok := plainHeaders[word]
	return ok
}

func isClause(word string) bool {
	switch word {
	case "elif", "else", "except", "finally", "case":
		return true
	}
	return false
}

// fitsOwner reports whether l may stand where it does: a clause needs the
// statement that it continues, a match has nothing but cases, and a decorator
// needs something to decorate.
func (r *repairer) fitsOwner(l *line) bool {
	last := r.top().last
	if r.top().owner == "match" {
		return l.word == "case"
	}
	switch l.word {
	case "elif":
		return last == "if" || last == "elif"
	case "else":
		return last == "if" || last == "elif" || last == "for" || last == "while" || last == "except"
	case "except":
		return last == "try" || last == "except"
	case "finally":
		return last == "try" || last == "except" || last == "else"
	case "case":
		return !l.colon
	case "@":
		_, start, width, ok := firstToken(r.src, l.next)
		w := word(r.src[start:])
		return ok && width == l.width && (w == "@" || w == "def" || w == "class")
	}
	return true
}

// valid reports whether l alone is Python.
func (r *repairer) valid(l *line) bool { return r.validText(l.word, r.src[l.start:l.end]) }

func (r *repairer) validText(word, s string) bool {
	r.parsing -= len(s) + 100 // a short text costs more than its bytes
	switch word {
	case "elif", "else":
		s = "if _: pass\n" + s
	case "except", "finally":
		s = "try: pass\n" + s
	case "try":
		s += "\nfinally: pass"
	case "case":
		if r.top().owner == "match" {
			s = "match _:\n " + s
		}
	case "@":
		s += "\ndef _(): pass\n"
	}
	return r.parser.valid(s)
}

// replace puts a pass in the place of l. When l goes over several lines, most
// of them will be statements that it has nothing to do with: then only the
// first is replaced, and what is indented further or closes a bracket.
func (r *repairer) replace(l *line) (next int) {
	end, next := l.end, l.next
	if l.multi(r.src) {
		end, next = r.extent(l)
	}
	if next == nextStart(r.src, l.start) {
		r.reenter(l, next)
	}
	s := "pass"
	if r.top().owner == "match" {
		s = "case _: pass"
	}
	r.edit(l.start, end, s)
	r.top().last = ""
	return next
}

// extent is the end of l and the start of the next line, if l is not what its
// brackets and strings make of it.
func (r *repairer) extent(l *line) (end, next int) {
	first := r.firstLine(l)
	end, next = first.end, first.next
	if isHeader(l.word) {
		return end, next
	}
	for next < l.next {
		_, start, width, ok := firstToken(r.src, next)
		if !ok || interrupts(r.src, start, l.width) {
			break
		}
		closes := strings.IndexByte(")]}", r.src[start]) >= 0 && width == l.width
		if width <= l.width && !closes {
			break
		}
		stop := lineStop(r.src, start)
		end = start + len(strings.TrimRight(r.src[start:stop], " \t\r"))
		next = min(stop+1, len(r.src))
		if closes {
			break
		}
	}
	return end, next
}

func (r *repairer) edit(start, end int, s string) {
	r.edits = append(r.edits, text.Edit{Span: text.Span{Start: start, End: end}, New: s})
}
