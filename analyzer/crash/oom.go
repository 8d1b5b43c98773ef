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
		if s, ok := parseSize(fields[name] + ""); ok && fields[name] != "" {
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
			title = "held by nobody listed"
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

// refiner tells apart the failures that share their signatures.
type refiner func(c *inquiry) verdict

// refiners are those of the pages that others refine.
var refiners = map[string]refiner{
	cudaOOM + "undetermined": refineCUDAOOM,
	mpsOOM:                   refineOtherOOM,
	"memory.xpu-oom":         refineOtherOOM,
	"memory.npu-oom":         refineOtherOOM,
}

const mpsOOM = "memory.mps-oom"

// refinedIDs are the pages that the refiners may answer with.
func refinedIDs() []string {
	return []string{
		cudaOOM + "graph-retained", cudaOOM + "fragmentation", cudaOOM + "too-large", cudaOOM + "other-process", cudaOOM + "limit",
		cudaOOM + "impossible-request", cudaOOM + "not-capacity", cudaOOM + "eval-accumulation", cudaOOM + "undetermined",
	}
}

// verdict is the answer about one event.
type verdict struct {
	failure      string
	confidence   Confidence
	cause        string
	arithmetic   []string
	fields       map[string]string // for the texts of the page
	missing      []string
	alternatives []Alternative
}

const cudaOOM = "memory.cuda-oom."

// inquiry is what a refiner knows about an event.
type inquiry struct {
	event      *Event
	suspects   []Suspect
	growth     *Growth
	expandable bool // the log shows that expandable segments are on
	cudaBroken bool // a CUDA or NCCL failure came before
}

// stage is what a run was doing, as the calls on the stack tell.
type stage int

const (
	unknownStage stage = iota
	loadingWeights
	firstOptimizerStep
	optimizerStep
	evaluating
	gatheringPredictions
)

var (
	evaluationFunc = regexp.MustCompile(`(?i)^_?(?:run_|do_|on_)?(?:eval|valid|test|predict|infer)[a-z]*(?:_|$|epoch|loop|step)`)
	weightsCode    = regexp.MustCompile(`\.to\(|\.cuda\(|load_state_dict|from_pretrained|\.half\(\)|\.bfloat16\(\)`)
)

// stageOf reads the stage off a traceback.
func stageOf(t *Traceback) stage {
	if t == nil {
		return unknownStage
	}
	found := unknownStage
	for _, f := range t.Frames {
		library := libraryFrame(f.Path)
		switch {
		case f.Func == "nested_concat" || f.Func == "nested_gather" || f.Func == "pad_across_processes" && found == evaluating:
			return gatheringPredictions
		case f.Func == "evaluation_loop" || f.Func == "prediction_step" || f.Func == "validation_step" || f.Func == "test_step":
			found = evaluating
		case !library && evaluationFunc.MatchString(f.Func):
			found = evaluating
		case library && (f.Func == "_init_group" || f.Func == "step") && strings.Contains(f.Path, "optim") && strings.Contains(f.Code, "zeros_like"):
			found = firstOptimizerStep
		case library && f.Func == "step" && strings.Contains(f.Path, "optim") && found == unknownStage:
			found = optimizerStep
		case library && (f.Func == "_apply" || f.Func == "load_state_dict" || f.Func == "from_pretrained") && found == unknownStage:
			found = loadingWeights
		}
	}
	if found == unknownStage {
		if f, ok := t.innermost(func(f Frame) bool { return !libraryFrame(f.Path) }); ok && weightsCode.MatchString(f.Code) && strings.Contains(f.Code, "model") {
			return loadingWeights
		}
	}
	return found
}

// hint says what kind of memory the innermost calls ask for.
func hint(t *Traceback) string {
	if t == nil {
		return ""
	}
	for i := len(t.Frames) - 1; i >= 0; i-- {
		f := t.Frames[i]
		has := func(words ...string) bool {
			for _, w := range words {
				if strings.Contains(f.Code, w) || strings.Contains(f.Func, w) {
					return true
				}
			}
			return false
		}
		switch {
		case has("cross_entropy", "lm_head", "logits.float", "log_softmax", "nll_loss"):
			return "The failing call works on logits: their size is batch × sequence × vocabulary, often the largest tensor of a language model; compute the loss in chunks."
		case has("scaled_dot_product", "attention", "attn", "baddbmm") || has("softmax") && has("score"):
			return "The failing call is attention: without a fused kernel its scores grow with the square of the sequence length."
		case has("all_gather", "_all_gather_base", "unshard"):
			return "The failing call gathers sharded parameters: for a moment a whole layer is there in full."
		case has("cudagraph", "cuda_graph", "make_graphed"):
			return "The failing call captures a graph: its private pool holds memory of its own."
		}
	}
	switch stageOf(t) {
	case loadingWeights:
		return "The failing call moves the model's weights to the GPU."
	case firstOptimizerStep, optimizerStep:
		return "The failing call is the optimizer's step: Adam allocates twice the size of the parameters when it runs for the first time."
	}
	return ""
}

// first and late are the steps up to which memory is still being set up, and
// from which a leak had time to grow. Between them the number tells nothing.
const (
	firstSteps = 2
	lateSteps  = 10
)

func (c *inquiry) early() bool {
	s := c.event.Step
	return s.Number >= 0 && s.Number <= firstSteps && s.Epoch <= 1
}

func (c *inquiry) late() bool {
	s := c.event.Step
	return s.Number >= lateSteps || s.Epoch > 1
}

// explains is the suspect whose growth explains that the device is full.
func (c *inquiry) explains() *Suspect {
	for i := range c.suspects {
		s := &c.suspects[i]
		if s.Grows == DeviceGraph || s.Grows == DeviceValues {
			return s
		}
	}
	return nil
}

// evaluates is the suspect that evaluates with a graph.
func (c *inquiry) evaluates() *Suspect {
	for i := range c.suspects {
		if c.suspects[i].Evaluation {
			return &c.suspects[i]
		}
	}
	return nil
}

func (s *Suspect) place() string { return fmt.Sprintf("%s:%d", s.Path, s.Range.Start.Line) }

// refineCUDAOOM reads one out-of-memory message. The rules come in the order of
// what the numbers prove: what can be proven about this one request first, then
// who holds the memory, last what only the course of the run can tell.
func refineCUDAOOM(c *inquiry) verdict {
	m := readOOM(c.event.Fields)
	v := verdict{arithmetic: m.arithmetic(), fields: c.event.Fields}
	v.fields["largest_pid"] = m.largestOther()
	if m.total.said() {
		v.fields["half"] = (m.total / 2).String()
	}
	stage := stageOf(c.event.Traceback)

	say := func(id string, conf Confidence, format string, args ...any) verdict {
		v.failure, v.confidence, v.cause = cudaOOM+id, conf, fmt.Sprintf(format, args...)
		return v
	}
	but := func(id string, conf Confidence, format string, args ...any) {
		v.alternatives = append(v.alternatives, Alternative{Failure: cudaOOM + id, Confidence: conf, Why: fmt.Sprintf(format, args...)})
	}
	derive := func(format string, args ...any) { v.arithmetic = append(v.arithmetic, fmt.Sprintf(format, args...)) }
	lack := func(facts ...string) { v.missing = append(v.missing, facts...) }

	if !m.request.said() || !m.total.said() {
		return c.withoutNumbers(v, m, stage)
	}
	r, t, f := m.request, m.total, m.free

	// O1
	if r > t {
		derive("requested %v > capacity %v: no GPU of this size can serve it, however empty", r, t)
		if r >= pib && c.cudaBroken {
			return say("impossible-request", Medium, "The request for %v is garbage: CUDA had already failed before it, and what comes after such a failure means nothing. Look at the first CUDA or NCCL error instead.", r)
		}
		return say("impossible-request", High, "One single tensor of %v was requested from a GPU of %v: no cleaning up can make room for it. A dimension is wrong or far too large: an L × L attention or distance matrix, all pairs of a batch, logits that should be computed in chunks. %s", r, t, hint(c.event.Traceback))
	}
	known := m.allocated.said() && m.unallocated.said()
	if !known || !f.said() {
		lack("the rest of the message: it is cut off before the amounts that tell the causes apart")
		return c.withoutNumbers(v, m, stage)
	}
	a, u := m.allocated, m.unallocated

	// O2
	if m.allowed.said() && a+u+r > m.allowed && f >= r {
		derive("live + cached + requested = %v > limit %v, while %v are free", a+u+r, m.allowed, f)
		return say("limit", High, "The GPU has %v free, enough for the %v requested: what ran out is the %v that this process may use, a limit set with set_per_process_memory_fraction or by the environment it runs in.", f, r, m.allowed)
	}
	// O3
	if a > t || f > t {
		what := fmt.Sprintf("live tensors %v > capacity %v", a, t)
		if f > t {
			what = fmt.Sprintf("free %v > capacity %v", f, t)
		}
		derive("%s: memory of the host is counted in, the sums do not compare", what)
		lack("the memory of the device alone, from the vendor's tool, while it runs")
		but("too-large", Low, "the model and its batch may simply not fit, but sums that mix device and host memory cannot show it")
		if s := c.explains(); s != nil && !c.early() {
			but("graph-retained", Low, "%s keeps device memory of every step (%s)", s.place(), s.Code)
		}
		return say("undetermined", Medium, "The numbers cannot be compared: %s. The driver counts host memory as the GPU's (an integrated GPU, or Windows moving GPU memory into shared memory), so they do not tell what filled it.", what)
	}
	// O4
	if f >= 2*r {
		derive("free %v ≥ 2 × requested %v: there was room", f, r)
		conf := High
		if f < 64*mib {
			conf = Medium // within what the driver keeps back
			but("undetermined", Low, "so little is free that the driver's own bookkeeping may account for it; then the GPU is full")
		}
		lack("whether another process on this GPU ended just before the message was written", "the driver's limits: MIG or vGPU profile, virtual address space, number of mappings")
		return say("not-capacity", conf, "Memory was not what ran out: %v were free when the message was written, and %v were requested. Another process freed memory in between, or a limit other than capacity refused the request: a MIG or vGPU slice, address space, the number of mappings, or a driver fault.", f, r)
	}
	// O5
	if done, ok := c.otherOwner(&v, m, say, but, lack); ok {
		return done
	}

	fragmented := u >= r && u >= max(gib, a/10)
	if u < r {
		derive("cached but unallocated %v < requested %v: fragmentation is ruled out as the main cause", u, r)
		but("fragmentation", Low, "ruled out: even in one piece, the %v that are cached and unallocated could not serve %v", u, r)
	}
	if f >= r {
		derive("free %v ≥ requested %v: it should just have fitted; what the driver keeps back decides", f, r)
		but("not-capacity", Low, "%v were free when the message was written; another process may have freed them in between", f)
	}
	if c.growth != nil {
		return c.growing(v, m, say, but, lack)
	}
	if stage == gatheringPredictions {
		but("too-large", Low, "evaluation usually needs less memory than training, which had worked before")
		return say("eval-accumulation", Medium, "Evaluation keeps the predictions of all batches on the GPU and joins them: the failing call is the one that appends to them. The %v requested is the joined tensor.", r)
	}
	// O6
	if fragmented {
		derive("cached but unallocated %v ≥ requested %v, and more than 1 GiB and a tenth of the live tensors: it lies in pieces that are too small", u, r)
		if f+u >= r {
			derive("free + cached = %v ≥ requested: in one piece it would have been enough", f+u)
		}
		conf := Medium
		if c.expandable {
			conf = Low
			derive("expandable segments are on already, which usually prevents this")
		}
		if s := c.explains(); s != nil && !c.early() {
			but("graph-retained", Low, "%s keeps device memory of every step (%s); that fills the GPU too, but does not leave %v unused", s.place(), s.Code, u)
		}
		lack("torch.cuda.memory_summary() shortly before the failure: inactive split blocks would prove it", "whether the shapes of the batches vary")
		return say("fragmentation", conf, "%v are cached by PyTorch and not in use, but no piece of it is large enough for %v: the cache is fragmented. Shapes that change from batch to batch do that.", u, r)
	}

	big := r >= t/5
	// Others and fragmentation are ruled out: if nothing is free, this process
	// has filled the device.
	full := a >= t*85/100 || f < r && u < r
	suspect := c.explains()
	// A run that worked for many steps did fit: something grew, or one batch
	// was larger than all before.
	if suspect != nil && !c.early() && stage != loadingWeights && (!big || c.late()) && (full || big) {
		return c.retained(v, m, suspect, say, but, lack)
	}
	// O8
	if big || stage == loadingWeights || stage == firstOptimizerStep || c.early() {
		conf := Medium
		why := fmt.Sprintf("the %v requested are a single tensor", r)
		switch {
		case c.early():
			why = fmt.Sprintf("it failed at %v, before anything could pile up", c.event.Step)
			if (big || full) && !c.event.Step.Borrowed {
				conf = High
			}
		case stage == loadingWeights:
			why = "it failed while the weights were moved to the GPU"
		case stage == firstOptimizerStep:
			why = "it failed when the optimizer allocated its states, in its first step"
			conf = High
		}
		if big {
			derive("requested %v ≥ 20 %% of the capacity", r)
		}
		if !c.event.Step.known() {
			lack("the step at which it failed: the first one proves that it does not fit, a later one makes a leak or an unusual batch likely")
		}
		if !c.early() && stage != loadingWeights {
			but("graph-retained", Low, "something that grows from step to step may have filled the GPU before; the memory allocated per step would show it")
		}
		return say("too-large", conf, "What runs here needs more than this GPU has: %s, and %v of %v were in use by live tensors. %s", why, a, t, hint(c.event.Traceback))
	}
	// O9
	if stage == evaluating || c.evaluates() != nil {
		conf := Low
		detail := "Either it runs without torch.no_grad() and keeps what a backward would need, or it keeps the outputs of all batches."
		if s := c.evaluates(); s != nil {
			conf = Medium
			detail = fmt.Sprintf("%s evaluates with a graph (%s): what a backward would need is kept although there is none.", s.place(), s.Code)
		}
		but("too-large", Low, "the batch of the evaluation may be too large by itself")
		lack("memory_allocated() for some batches of the evaluation: a slope shows that it keeps something")
		return say("eval-accumulation", conf, "The GPU filled up during evaluation: live tensors hold %v of %v. %s", a, t, detail)
	}
	if full {
		return c.ceiling(v, m, say, but, lack)
	}
	lack("torch.cuda.memory_summary() shortly before the failure", "the step at which it failed")
	but("too-large", Low, "live tensors hold %s of the GPU, which alone does not explain the failure", percent(a, t))
	return say("undetermined", Low, "GPU memory ran out, but the numbers point to no single cause: %v live, %v cached, %v free, %v requested, of %v.", a, u, f, r, t)
}

type (
	sayFunc  func(id string, conf Confidence, format string, args ...any) verdict
	butFunc  func(id string, conf Confidence, format string, args ...any)
	lackFunc func(facts ...string)
)

// otherOwner is the rule about memory that other processes hold.
func (c *inquiry) otherOwner(v *verdict, m oom, say sayFunc, but butFunc, lack lackFunc) (verdict, bool) {
	foreign := m.foreign()
	outside, _ := m.outside()
	listed := len(m.others) > 0 && foreign >= m.request
	hidden := outside > max(2*gib, m.total/10)
	if !listed && !hidden {
		return verdict{}, false
	}
	if m.allocated >= m.total/2 {
		but("too-large", Low, "this process itself holds %v in live tensors; alone on the GPU it would have had %v more", m.allocated, foreign+outside)
	}
	lack("whose the other processes are: nvidia-smi run on the host lists them")
	if listed {
		v.arithmetic = append(v.arithmetic, fmt.Sprintf("other processes: %v ≥ requested %v", foreign, m.request))
		conf := High
		if foreign < m.total/10 && m.allocated+m.unallocated >= m.total*8/10 {
			// True, but a small part of the story.
			conf = Medium
		}
		return say("other-process", conf, "The GPU is shared: other processes hold %v of its %v (%s), more than the %v that were missing. This process holds %v.",
			foreign, m.total, m.listOthers(), m.request, m.allocated+m.unallocated), true
	}
	v.arithmetic = append(v.arithmetic, fmt.Sprintf("held by none of the known owners: %v > the larger of 2 GiB and a tenth of the GPU", outside))
	return say("other-process", Medium, "About %v of the GPU's %v belong neither to PyTorch in this process nor to what CUDA itself needs: most likely another process is on this GPU (a notebook kernel, a run that did not end, a second rank on the same device), or a library in this process allocates by itself.",
		outside, m.total), true
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

// retained is the verdict when the code keeps something on the device in every
// step.
func (c *inquiry) retained(v verdict, m oom, s *Suspect, say sayFunc, but butFunc, lack lackFunc) verdict {
	conf := Medium
	if !s.onStack {
		conf = Low
	}
	lack("memory_allocated() every few steps: a steady slope would prove the leak, a flat line would clear it")
	if !c.event.Step.known() {
		lack("the step at which it failed: a leak needs many")
	}
	but("too-large", Low, "if memory_allocated() is flat from step to step, model and batch are slightly too large instead")
	what := "keeps the autograd graph, and with it the activations, of every step"
	if s.Grows == DeviceValues {
		what = "keeps tensors of every step on the GPU"
	}
	at := ""
	if c.late() {
		at = fmt.Sprintf(" It failed at %v, so the first steps did fit.", c.event.Step)
	}
	return say("graph-retained", conf, "%s: live tensors hold %v of %v. %s %s (%s), which explains it.%s", m.lastStraw(), m.allocated, m.total, s.place(), what, s.Code, at)
}

// growing is the verdict when the log shows allocated memory rising step by
// step.
func (c *inquiry) growing(v verdict, m oom, say sayFunc, but butFunc, lack lackFunc) verdict {
	g := c.growth
	conf := Medium
	s := c.explains()
	agree := ""
	if g.PredictedStep != nil && c.event.Step.Number > 0 {
		off := math.Abs(float64(*g.PredictedStep-c.event.Step.Number)) / float64(c.event.Step.Number)
		if off <= 0.2 {
			conf = High
			agree = fmt.Sprintf(" At that rate the GPU is full at step %d; it failed at step %d.", *g.PredictedStep, c.event.Step.Number)
		}
	}
	place := "What keeps it is not in the files of this traceback as far as the analysis can see."
	if s != nil {
		conf = High
		place = fmt.Sprintf("%s keeps it (%s).", s.place(), s.Code)
	} else {
		lack("the objects that hold the memory: torch.cuda.memory._record_memory_history() names the lines that allocated them")
	}
	but("too-large", Low, "the memory allocated rises from step to step; a batch that is too large would fail at a flat level")
	return say("graph-retained", conf, "A leak: allocated memory rises by %s MiB per step in the log.%s %s", decimal(math.Round(g.Slope*100)/100), agree, place)
}

// ceiling is the verdict when the device is full of live tensors and nothing
// tells why.
func (c *inquiry) ceiling(v verdict, m oom, say sayFunc, but butFunc, lack lackFunc) verdict {
	full := fmt.Sprintf("%s: live tensors hold %v of %v.", m.lastStraw(), m.allocated, m.total)
	if m.allocated < m.total*85/100 {
		full = fmt.Sprintf("%s: live tensors hold %v of %v, and CUDA's own needs most of the rest.", m.lastStraw(), m.allocated, m.total)
	}
	lack("memory_allocated() every few steps: a steady slope means a leak, a flat line a batch or model that is slightly too large")
	switch {
	case c.late():
		but("graph-retained", Low, "it failed only at %v: something may grow from step to step", c.event.Step)
		but("too-large", Low, "a batch larger than all before, or the first evaluation, reaches the same ceiling")
		return say("undetermined", Low, "%s It failed at %v, so the first steps did fit: either something is kept from step to step (a leak), or this batch was larger than those before. The text does not tell which.", full, c.event.Step)
	case c.event.Step.Number >= 0:
		but("too-large", Low, "so few steps were done that it may never have fitted")
		but("graph-retained", Low, "%v is early for a leak, but not too early for a large one", c.event.Step)
		return say("undetermined", Low, "%s It failed at %v, too early to tell a leak from a model that is slightly too large.", full, c.event.Step)
	}
	lack("the step at which it failed")
	but("graph-retained", Low, "if the first steps succeeded, something may be kept from step to step")
	but("too-large", Low, "if it failed in the first step, model and batch do not fit")
	return say("undetermined", Low, "%s Whether a leak filled it or the model and its batch are slightly too large cannot be told without the step at which it failed.", full)
}

// withoutNumbers is the verdict about a message that says only that memory ran
// out, or that was cut off.
func (c *inquiry) withoutNumbers(v verdict, m oom, stage stage) verdict {
	v.failure, v.confidence = cudaOOM+"undetermined", Low
	v.missing = append(v.missing, "nvidia-smi at the time of the failure: who holds how much of the GPU", "the step at which it failed")
	if s := c.explains(); s != nil && !c.early() && stage != loadingWeights {
		v.failure = cudaOOM + "graph-retained"
		if c.late() && s.onStack {
			v.confidence = Medium
		}
		v.cause = fmt.Sprintf("GPU memory ran out, and %s keeps device memory of every step (%s). The message has no numbers to check that against.", s.place(), s.Code)
		v.alternatives = append(v.alternatives, Alternative{Failure: cudaOOM + "too-large", Confidence: Low, Why: "model and batch may not fit; without numbers this cannot be told"})
		return v
	}
	if c.early() {
		v.failure, v.confidence = cudaOOM+"too-large", Low
		v.cause = fmt.Sprintf("GPU memory ran out at %v, before anything could pile up: what runs here most likely does not fit. The message has no numbers to check that against.", c.event.Step)
		v.alternatives = append(v.alternatives, Alternative{Failure: cudaOOM + "other-process", Confidence: Low, Why: "another process may hold the GPU"})
		return v
	}
	v.cause = "GPU memory ran out. The message has no numbers: it comes from the CUDA driver or an old version, not from PyTorch's allocator. Another process on the GPU, exclusive mode, or a GPU already full when CUDA starts are as possible as a model that does not fit."
	if m.request.said() {
		v.cause = fmt.Sprintf("GPU memory ran out on a request for %v. The message is cut off before the amounts that tell the causes apart.", m.request)
	}
	v.alternatives = append(v.alternatives,
		Alternative{Failure: cudaOOM + "other-process", Confidence: Low, Why: "a GPU that another process has filled fails this way"},
		Alternative{Failure: cudaOOM + "too-large", Confidence: Low, Why: "model and batch may not fit"})
	return v
}

// refineOtherOOM reads the message of an accelerator that is not CUDA's. Its
// numbers are shown; the causes are not told apart.
func refineOtherOOM(c *inquiry) verdict {
	m := readOOM(c.event.Fields)
	v := verdict{failure: c.event.Page.ID, confidence: Medium, arithmetic: m.arithmetic(), fields: c.event.Fields}
	other, hasOther := parseSize("0" + c.event.Fields["other"])
	hasOther = hasOther && c.event.Fields["other"] != ""
	switch {
	case c.event.Page.ID == mpsOOM && hasOther && m.allocated.said():
		v.arithmetic = append(v.arithmetic, fmt.Sprintf("other allocations: %v against %v in tensors", other, m.allocated))
		v.cause = fmt.Sprintf("The Metal back end reached its limit: %v in tensors and %v in other allocations.", m.allocated, other)
		if other > 2*m.allocated {
			v.cause += " Most of it is not tensors: compiled graphs, of which each new input shape adds one, or other programs."
		} else {
			v.cause += " Most of it is tensors: a batch that is too large, or something kept from step to step."
		}
	case m.allocated.said() && m.total.said():
		v.cause = fmt.Sprintf("%s: live tensors hold %v of %v. Whether something is kept from step to step or the batch is too large, the text does not tell.", m.lastStraw(), m.allocated, m.total)
	case m.request.said():
		v.cause = fmt.Sprintf("The device's memory ran out on a request for %v.", m.request)
	default:
		v.cause = "The device's memory ran out."
	}
	if s := c.explains(); s != nil && !c.early() {
		v.cause += fmt.Sprintf(" %s keeps device memory of every step (%s).", s.place(), s.Code)
	}
	return v
}
