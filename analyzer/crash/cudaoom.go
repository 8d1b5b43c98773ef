package crash

import "fmt"

// cudaRules come in the order of what the numbers prove: what can be proven
// about this one request first, then who holds the memory, last what only the
// course of the run can tell. The first that applies decides.
var cudaRules = []func(*cudaCase) bool{
	(*cudaCase).saysTooLittle,
	(*cudaCase).impossible,
	(*cudaCase).cutOff,
	(*cudaCase).overLimit,
	(*cudaCase).incomparable,
	(*cudaCase).roomLeft,
	(*cudaCase).otherOwner,
	(*cudaCase).weighCache,
	(*cudaCase).cyclic,
	(*cudaCase).growing,
	(*cudaCase).gathering,
	(*cudaCase).fragmented,
	(*cudaCase).retained,
	(*cudaCase).tooLarge,
	(*cudaCase).evaluation,
	(*cudaCase).ceiling,
	(*cudaCase).unclear,
}

// cudaCase is one out-of-memory message of CUDA, and the verdict as far as it
// has come.
type cudaCase struct {
	*inquiry
	oom
	stage stage
	verdict
}

// refineCUDAOOM tells the causes of a CUDA out-of-memory error apart.
func refineCUDAOOM(c *inquiry) verdict {
	m := readOOM(c.event.Fields)
	k := &cudaCase{
		inquiry: c, oom: m, stage: stageOf(c.event.Traceback),
		verdict: verdict{arithmetic: m.arithmetic(), memory: m.parts(), fields: c.event.Fields},
	}
	k.fields["largest_pid"] = m.largestOther()
	if m.total.said() {
		k.fields["half"] = (m.total / 2).String()
	}
	for _, rule := range cudaRules {
		if rule(k) {
			break
		}
	}
	return k.verdict
}

// say decides the case.
func (k *cudaCase) say(id string, conf Confidence, format string, args ...any) bool {
	k.failure, k.confidence, k.cause = cudaOOM+id, conf, fmt.Sprintf(format, args...)
	return true
}

// but names another explanation and what speaks against it.
func (k *cudaCase) but(id string, conf Confidence, format string, args ...any) {
	k.alternatives = append(k.alternatives, Alternative{Failure: cudaOOM + id, Confidence: conf, Why: fmt.Sprintf(format, args...)})
}

// derive adds a step to the arithmetic.
func (k *cudaCase) derive(format string, args ...any) {
	k.verdict.arithmetic = append(k.verdict.arithmetic, fmt.Sprintf(format, args...))
}

// lack names facts that would make it surer.
func (k *cudaCase) lack(facts ...string) { k.missing = append(k.missing, facts...) }
