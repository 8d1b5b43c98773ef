package crash

import (
	"regexp"
	"strconv"
	"strings"
)

// Step is how far a run had come, as its output tells.
type Step struct {
	Number int     // of the step or iteration, -1 if unknown
	Epoch  float64 // -1 if unknown
	Of     int     // steps of the epoch or of the run, 0 if unknown
	Line   int
	Text   string // of that line
	// Borrowed says that another rank printed it; ranks go in step.
	Borrowed bool
}

// known reports whether the output told anything.
func (s Step) known() bool { return s.Number >= 0 || s.Epoch >= 0 }

// after reports whether s is later in the same run than o.
func (s Step) after(o Step) bool {
	if s.Epoch >= 0 && o.Epoch >= 0 && s.Epoch != o.Epoch {
		return s.Epoch > o.Epoch
	}
	return s.Number > o.Number
}

func (s Step) String() string {
	switch {
	case s.Number >= 0 && s.Epoch >= 0:
		return "epoch " + decimal(s.Epoch) + ", step " + strconv.Itoa(s.Number)
	case s.Number >= 0:
		return "step " + strconv.Itoa(s.Number)
	case s.Epoch >= 0:
		return "epoch " + decimal(s.Epoch)
	}
	return ""
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

var (
	// "step 12", "Iter: 99", "iteration      100/  500", "global_step=7", "Iter(train) [ 50/900]"
	stepWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:global[_ ]?)?(?:step|iter|iters|iteration|batch|update|num_updates)s?(?:\((?:train|val|test)\))?["']?[ \t]*[:=#\[(]*[ \t]*(\d{1,3}(?:,\d{3})+|\d{1,10})(?:[ \t]*/[ \t]*(\d{1,10}))?(?:[^\d.%]|\.(?:\D|$)|$)`)
	// "(after 100 iterations)"
	stepAfter = regexp.MustCompile(`(?i)\bafter (\d{1,10}) (?:iteration|step)s?\b`)
	// "| 40/1000 [00:12<", the counter of tqdm
	stepBar = regexp.MustCompile(`(?:\||\s|^)(\d{1,10})/(\d{1,10}|\?) \[\d+:\d\d`)
	// "[ 100/2000] loss 0.5", as programs that count no epochs print it
	stepFirst = regexp.MustCompile(`^[\[(] ?(\d{1,10})/(\d{1,10})[\])][ \t:|,-]+(?:train[ _])?(?i:loss|lr|time|eta|acc)\b`)
	// "Epoch [3][100/2000]", "Epoch: [3]  [ 100/2000]", "epoch 003:   50 / 1000"
	epochStep = regexp.MustCompile(`(?i)\bepoch(?:\((?:train|val|test)\))?:? *(?:\[ *(\d{1,7})(?:/\d+)?\][ \t:]*\[ *(\d{1,10})/ *(\d{1,10})\]|(\d{1,7}): +(\d{1,10}) / (\d{1,10})\b)`)
	epochWord = regexp.MustCompile(`(?i)(?:^|[^a-z])epoch["']?[ \t]*[:=#\[(]*[ \t]*["']?(\d{1,7}(?:\.\d{1,8})?)`)
)

// readStep finds how far the run is in one line of output.
func readStep(text string) Step {
	s := Step{Number: -1, Epoch: -1}
	if len(text) > 2000 {
		text = text[:2000]
	}
	// The words first: most lines have none, and the patterns cost more.
	if containsAny(text, epochWords) {
		if m := epochStep.FindStringSubmatch(text); m != nil {
			i := 1
			if m[1] == "" {
				i = 4
			}
			return Step{Number: number(m[i+1]), Epoch: float64(number(m[i])), Of: max(0, number(m[i+2]))}
		}
		if m := epochWord.FindStringSubmatch(text); m != nil {
			if e, err := strconv.ParseFloat(m[1], 64); err == nil {
				s.Epoch = e
			}
		}
	}
	if containsAny(text, stepWords) {
		m := stepWord.FindStringSubmatch(text)
		if m == nil {
			m = stepAfter.FindStringSubmatch(text)
		}
		if m != nil {
			s.Number = number(strings.ReplaceAll(m[1], ",", ""))
			if len(m) > 2 {
				s.Of = max(0, number(m[2]))
			}
			return s
		}
	}
	if m := stepFirst.FindStringSubmatch(text); m != nil {
		s.Number, s.Of = number(m[1]), max(0, number(m[2]))
		return s
	}
	if strings.Contains(text, " [") {
		if m := stepBar.FindStringSubmatch(text); m != nil {
			s.Number, s.Of = number(m[1]), max(0, number(m[2]))
		}
	}
	return s
}

var (
	epochWords = []string{"poch", "POCH"}
	stepWords  = []string{"tep", "TEP", "iter", "Iter", "ITER", "atch", "ATCH", "pdate", "PDATE"}
)

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// progress follows how far each stream of a log has come. It looks only at the
// output around events, so ordinary output costs nothing.
type progress struct {
	latest map[string]Step   // by stream
	recent map[string][]Step // the last steps of a stream, for what came after a fault
	newest Step              // of any stream
	until  int               // line up to which output was looked at
}

// recentSteps is how many steps after a fault make it one that was survived.
const recentSteps = 3

func newProgress() *progress {
	return &progress{latest: make(map[string]Step), recent: make(map[string][]Step), newest: Step{Number: -1, Epoch: -1}}
}

// note records the step of a line.
func (p *progress) note(key string, s Step) {
	if s.Number < 0 && s.Epoch < 0 {
		return
	}
	last, seen := p.latest[key]
	if seen && s.Number == last.Number && s.Epoch == last.Epoch {
		return
	}
	if !seen && len(p.latest) >= maxStreams {
		return
	}
	if s.Epoch < 0 && seen {
		s.Epoch = last.Epoch
	}
	p.latest[key], p.newest = s, s
	r := append(p.recent[key], s)
	if len(r) > recentSteps {
		r = r[1:]
	}
	p.recent[key] = r
}

// wentOn reports whether a stream made steps after the given line.
func (p *progress) wentOn(key string, line int) (Step, bool) {
	r := p.recent[key]
	if len(r) < recentSteps || r[0].Line <= line {
		return Step{}, false
	}
	for i := 1; i < len(r); i++ {
		if !r[i].after(r[i-1]) {
			return Step{}, false
		}
	}
	return r[len(r)-1], true
}
