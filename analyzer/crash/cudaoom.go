package crash

import (
	"fmt"
)

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

// saysTooLittle: the message has no numbers to speak of.
func (k *cudaCase) saysTooLittle() bool {
	return (!k.request.said() || !k.total.said()) && k.withoutNumbers()
}

// impossible: a single request is larger than the device.
func (k *cudaCase) impossible() bool {
	r, t := k.request, k.total
	if r <= t {
		return false
	}
	k.derive("requested %v > capacity %v: no GPU of this size can serve it, however empty", r, t)
	if r >= pib && k.cudaBroken {
		return k.say("impossible-request", Medium, "The request for %v is garbage: CUDA had already failed before it, and what comes after such a failure means nothing. Look at the first CUDA or NCCL error instead.", r)
	}
	return k.say("impossible-request", High, "One single tensor of %v was requested from a GPU of %v: no cleaning up can make room for it. A dimension is wrong or far too large: an L × L attention or distance matrix, all pairs of a batch, logits that should be computed in chunks. %s", r, t, hint(k.event.Traceback))
}

// cutOff: the message ends before the amounts that tell the causes apart.
func (k *cudaCase) cutOff() bool {
	if k.allocated.said() && k.unallocated.said() && k.free.said() {
		return false
	}
	k.lack("the rest of the message: it is cut off before the amounts that tell the causes apart")
	return k.withoutNumbers()
}

// overLimit: the device has room, but this process may not use it.
func (k *cudaCase) overLimit() bool {
	sum := k.allocated + k.unallocated + k.request
	if !k.allowed.said() || sum <= k.allowed || k.free < k.request {
		return false
	}
	k.derive("live + cached + requested = %v > limit %v, while %v are free", sum, k.allowed, k.free)
	return k.say("limit", High, "The GPU has %v free, enough for the %v requested: what ran out is the %v that this process may use, a limit set with set_per_process_memory_fraction or by the environment it runs in.", k.free, k.request, k.allowed)
}

// incomparable: amounts are larger than the device.
func (k *cudaCase) incomparable() bool {
	var what string
	switch {
	case k.free > k.total:
		what = fmt.Sprintf("free %v > capacity %v", k.free, k.total)
	case k.allocated > k.total:
		what = fmt.Sprintf("live tensors %v > capacity %v", k.allocated, k.total)
	default:
		return false
	}
	k.derive("%s: memory of the host is counted in, the sums do not compare", what)
	k.lack("the memory of the device alone, from the vendor's tool, while it runs")
	k.but("too-large", Low, "the model and its batch may simply not fit, but sums that mix device and host memory cannot show it")
	if s := k.explains(); s != nil && !k.early() {
		k.but("graph-retained", Low, "%s keeps device memory of every step (%s)", s.place(), s.Code)
	}
	return k.say("undetermined", Medium, "The numbers cannot be compared: %s. The driver counts host memory as the GPU's (an integrated GPU, or Windows moving GPU memory into shared memory), so they do not tell what filled it.", what)
}

// roomLeft: far more is free than was requested.
func (k *cudaCase) roomLeft() bool {
	f, r := k.free, k.request
	if f < 2*r {
		return false
	}
	k.derive("free %v ≥ 2 × requested %v: there was room", f, r)
	conf := High
	if f < 64*mib {
		conf = Medium // within what the driver keeps back
		k.but("undetermined", Low, "so little is free that the driver's own bookkeeping may account for it; then the GPU is full")
	}
	k.lack("whether another process on this GPU ended just before the message was written", "the driver's limits: MIG or vGPU profile, virtual address space, number of mappings")
	return k.say("not-capacity", conf, "Memory was not what ran out: %v were free when the message was written, and %v were requested. Another process freed memory in between, or a limit other than capacity refused the request: a MIG or vGPU slice, address space, the number of mappings, or a driver fault.", f, r)
}

// otherOwner: other processes hold the memory.
func (k *cudaCase) otherOwner() bool {
	foreign := k.foreign()
	outside, _ := k.outside()
	listed := len(k.others) > 0 && foreign >= k.request
	hidden := outside > max(2*gib, k.total/10)
	if !listed && !hidden {
		return false
	}
	if k.allocated >= k.total/2 {
		k.but("too-large", Low, "this process itself holds %v in live tensors; alone on the GPU it would have had %v more", k.allocated, foreign+outside)
	}
	k.lack("whose the other processes are: nvidia-smi run on the host lists them")
	if listed {
		k.derive("other processes: %v ≥ requested %v", foreign, k.request)
		conf := High
		if foreign < k.total/10 && k.allocated+k.unallocated >= k.total*8/10 {
			// True, but a small part of the story.
			conf = Medium
		}
		return k.say("other-process", conf, "The GPU is shared: other processes hold %v of its %v (%s), more than the %v that were missing. This process holds %v.",
			foreign, k.total, k.listOthers(), k.request, k.allocated+k.unallocated)
	}
	k.derive("held by none of the known owners: %v > the larger of 2 GiB and a tenth of the GPU", outside)
	return k.say("other-process", Medium, "About %v of the GPU's %v belong neither to PyTorch in this process nor to what CUDA itself needs: most likely another process is on this GPU (a notebook kernel, a run that did not end, a second rank on the same device), or a library in this process allocates by itself.",
		outside, k.total)
}

// weighCache decides nothing: it says what the cache and what is free rule out.
func (k *cudaCase) weighCache() bool {
	u, f, r := k.unallocated, k.free, k.request
	if u < r {
		k.derive("cached but unallocated %v < requested %v: fragmentation is ruled out as the main cause", u, r)
		k.but("fragmentation", Low, "ruled out: even in one piece, the %v that are cached and unallocated could not serve %v", u, r)
	}
	if f >= r {
		k.derive("free %v ≥ requested %v: it should just have fitted; what the driver keeps back decides", f, r)
		k.but("not-capacity", Low, "%v were free when the message was written; another process may have freed them in between", f)
	}
	return false
}

// cyclic: the log warns of a cycle that keeps graphs alive, and the run worked
// for steps enough to fill the device.
func (k *cudaCase) cyclic() bool {
	leaks := k.course != nil && k.course.leaks()
	if !k.cycle || k.early() || !leaks && (!k.late() || !k.full()) {
		return false
	}
	conf, proof := Medium, ""
	if leaks {
		conf, proof = High, fmt.Sprintf(" The log shows it: the %s rises by %s.", k.course.of.words(), k.course.rate())
	} else {
		k.lack("memory_allocated() every few steps: a steady slope would prove the leak")
	}
	k.but("graph-retained", Low, "something else may be kept too; the warning names a leak that is certain to exist unless .grad is reset in each step")
	k.but("too-large", Low, "it worked for many steps, so model and batch do fit")
	k.failure, k.confidence = createGraphID, conf
	k.cause = fmt.Sprintf("%s: live tensors hold %v of %v. PyTorch warned before that backward(create_graph=True) makes parameters and gradients keep each other, and their graphs, alive.%s", k.lastStraw(), k.allocated, k.total, proof)
	return true
}

// growing: the log shows live memory rising step by step. Whatever else it shows
// speaks for or against a leak.
func (k *cudaCase) growing() bool {
	c := k.course
	if c == nil {
		return false
	}
	if !c.leaks() && c.grows() && !c.of.onHost() && k.full() && k.unallocated < k.total/10 {
		k.lack("memory_allocated() every few steps: what the log prints is not the memory of live tensors")
		k.but("too-large", Low, "batches that become larger with each step would raise it too")
		return k.say("graph-retained", Medium, "The %s rises by %s in the log, and when it failed nearly all of it was live: %v of %v. So live memory rose, from step to step: something of each is kept.", c.of.words(), c.rate(), k.allocated, k.total)
	}
	if !c.leaks() {
		k.but("graph-retained", Low, "%s", c.meaning())
		if c.grows() {
			k.lack("memory_allocated() every few steps: what the log prints is not the memory of live tensors")
		}
		return false
	}
	conf := Medium
	if c.agrees() {
		conf = High
	}
	place := "What keeps it is not in the files of this traceback as far as the analysis can see."
	if s := k.explains(); s != nil {
		conf = High
		place = fmt.Sprintf("%s keeps it (%s).", s.place(), s.Code)
	} else {
		k.lack("the objects that hold the memory: torch.cuda.memory._record_memory_history() names the lines that allocated them")
	}
	k.but("too-large", Low, "the memory allocated rises from step to step; a batch that is too large would fail at a flat level")
	return k.say("graph-retained", conf, "A leak: the %s rises by %s in the log.%s %s", c.of.words(), c.rate(), c.prediction("the GPU"), place)
}

// levelBefore reports whether the memory of live tensors, as the log prints it,
// did not pile up.
func (k *cudaCase) levelBefore() bool {
	c := k.course
	return c != nil && (c.of == allocatedMemory || c.of == maxAllocated) && !c.grows() && c.shape != irregular
}

// gathering: evaluation joins the predictions of all batches.
func (k *cudaCase) gathering() bool {
	if k.stage != gatheringPredictions {
		return false
	}
	k.but("too-large", Low, "evaluation usually needs less memory than training, which had worked before")
	return k.say("eval-accumulation", Medium, "Evaluation keeps the predictions of all batches on the GPU and joins them: the failing call is the one that appends to them. The %v requested is the joined tensor.", k.request)
}

// fragmented: enough is cached, in pieces that are too small.
func (k *cudaCase) fragmented() bool {
	u, r := k.unallocated, k.request
	if u < r || u < max(gib, k.allocated/10) {
		return false
	}
	k.derive("cached but unallocated %v ≥ requested %v, and more than 1 GiB and a tenth of the live tensors: it lies in pieces that are too small", u, r)
	if k.free+u >= r {
		k.derive("free + cached = %v ≥ requested: in one piece it would have been enough", k.free+u)
	}
	conf := Medium
	if k.course != nil && k.course.gapGrows() {
		conf = High
		k.derive("in the log reserved memory rises and allocated memory does not")
	}
	if k.expandable {
		conf = Low
		k.derive("expandable segments are on already, which usually prevents this")
	}
	if s := k.explains(); s != nil && !k.early() {
		k.but("graph-retained", Low, "%s keeps device memory of every step (%s); that fills the GPU too, but does not leave %v unused", s.place(), s.Code, u)
	}
	k.lack("torch.cuda.memory_summary() shortly before the failure: inactive split blocks would prove it", "whether the shapes of the batches vary")
	return k.say("fragmentation", conf, "%v are cached by PyTorch and not in use, but no piece of it is large enough for %v: the cache is fragmented. Shapes that change from batch to batch do that.", u, r)
}

// big reports whether the request is a good part of the device by itself.
func (k *cudaCase) big() bool { return k.request >= k.total/5 }

// full reports whether this process has filled the device. Others and
// fragmentation are ruled out: if nothing is free, it has.
func (k *cudaCase) full() bool {
	return k.allocated >= k.total*85/100 || k.free < k.request && k.unallocated < k.request
}

// retained: the code keeps something on the device in every step, and the run
// worked for steps enough to tell: they did fit, so something grew, or one batch
// was larger than all before.
func (k *cudaCase) retained() bool {
	s := k.explains()
	if s == nil || k.early() || k.levelBefore() || k.stage == loadingWeights || k.big() && !k.late() || !k.full() && !k.big() {
		return false
	}
	conf := Medium
	if !s.onStack {
		conf = Low
	}
	k.lack("memory_allocated() every few steps: a steady slope would prove the leak, a flat line would clear it")
	if !k.event.Step.known() {
		k.lack("the step at which it failed: a leak needs many")
	}
	k.but("too-large", Low, "if memory_allocated() is flat from step to step, model and batch are slightly too large instead")
	what := "keeps the autograd graph, and with it the activations, of every step"
	if s.Grows == DeviceValues {
		what = "keeps tensors of every step on the GPU"
	}
	at := ""
	if k.late() {
		at = fmt.Sprintf(" It failed at %v, so the first steps did fit.", k.event.Step)
	}
	return k.say("graph-retained", conf, "%s: live tensors hold %v of %v. %s %s (%s), which explains it.%s", k.lastStraw(), k.allocated, k.total, s.place(), what, s.Code, at)
}

// tooLarge: what runs does not fit, or nothing speaks for something that piles
// up.
func (k *cudaCase) tooLarge() bool {
	if !k.big() && k.stage != loadingWeights && k.stage != firstOptimizerStep && !k.early() {
		return false
	}
	conf := Medium
	why := fmt.Sprintf("the %v requested are a single tensor", k.request)
	switch {
	case k.early():
		why = fmt.Sprintf("it failed at %v, before anything could pile up", k.event.Step)
		if (k.big() || k.full()) && !k.event.Step.Borrowed {
			conf = High
		}
	case k.stage == loadingWeights:
		why = "it failed while the weights were moved to the GPU"
	case k.stage == firstOptimizerStep:
		why = "it failed when the optimizer allocated its states, in its first step"
		conf = High
	}
	if k.big() {
		k.derive("requested %v ≥ 20 %% of the capacity", k.request)
	}
	if !k.event.Step.known() {
		k.lack("the step at which it failed: the first one proves that it does not fit, a later one makes a leak or an unusual batch likely")
	}
	if !k.early() && k.stage != loadingWeights {
		k.but("graph-retained", Low, "something that grows from step to step may have filled the GPU before; the memory allocated per step would show it")
	}
	return k.say("too-large", conf, "What runs here needs more than this GPU has: %s, and %v of %v were in use by live tensors. %s", why, k.allocated, k.total, hint(k.event.Traceback))
}

// evaluation: the device filled up while the model was evaluated.
func (k *cudaCase) evaluation() bool {
	s := k.evaluates()
	if k.stage != evaluating && s == nil {
		return false
	}
	conf := Low
	detail := "Either it runs without torch.no_grad() and keeps what a backward would need, or it keeps the outputs of all batches."
	if s != nil {
		conf = Medium
		detail = fmt.Sprintf("%s evaluates with a graph (%s): what a backward would need is kept although there is none.", s.place(), s.Code)
	}
	k.but("too-large", Low, "the batch of the evaluation may be too large by itself")
	k.lack("memory_allocated() for some batches of the evaluation: a slope shows that it keeps something")
	return k.say("eval-accumulation", conf, "The GPU filled up during evaluation: live tensors hold %v of %v. %s", k.allocated, k.total, detail)
}

// ceiling: the device is full of live tensors, and nothing tells why.
func (k *cudaCase) ceiling() bool {
	if !k.full() {
		return false
	}
	full := fmt.Sprintf("%s: live tensors hold %v of %v.", k.lastStraw(), k.allocated, k.total)
	if k.allocated < k.total*85/100 {
		full = fmt.Sprintf("%s: live tensors hold %v of %v, and CUDA's own needs most of the rest.", k.lastStraw(), k.allocated, k.total)
	}
	k.lack("memory_allocated() every few steps: a steady slope means a leak, a flat line a batch or model that is slightly too large")
	switch {
	case k.levelBefore():
		return k.say("too-large", Medium, "%s %s So what ran when it failed needs more than what ran before: a longer sequence, a larger batch, or an evaluation.", full, k.course.meaning())
	case k.late():
		k.but("graph-retained", Low, "it failed only at %v: something may grow from step to step", k.event.Step)
		k.but("too-large", Low, "a batch larger than all before, or the first evaluation, reaches the same ceiling")
		return k.say("undetermined", Low, "%s It failed at %v, so the first steps did fit: either something is kept from step to step (a leak), or this batch was larger than those before. The text does not tell which.", full, k.event.Step)
	case k.event.Step.Number >= 0:
		k.but("too-large", Low, "so few steps were done that it may never have fitted")
		k.but("graph-retained", Low, "%v is early for a leak, but not too early for a large one", k.event.Step)
		return k.say("undetermined", Low, "%s It failed at %v, too early to tell a leak from a model that is slightly too large.", full, k.event.Step)
	}
	k.lack("the step at which it failed")
	k.but("graph-retained", Low, "if the first steps succeeded, something may be kept from step to step")
	k.but("too-large", Low, "if it failed in the first step, model and batch do not fit")
	return k.say("undetermined", Low, "%s Whether a leak filled it or the model and its batch are slightly too large cannot be told without the step at which it failed.", full)
}

// unclear: the numbers point nowhere.
func (k *cudaCase) unclear() bool {
	k.lack("torch.cuda.memory_summary() shortly before the failure", "the step at which it failed")
	k.but("too-large", Low, "live tensors hold %s of the GPU, which alone does not explain the failure", percent(k.allocated, k.total))
	return k.say("undetermined", Low, "GPU memory ran out, but the numbers point to no single cause: %v live, %v cached, %v free, %v requested, of %v.", k.allocated, k.unallocated, k.free, k.request, k.total)
}

// withoutNumbers decides a case whose message says only that memory ran out, or
// was cut off.
func (k *cudaCase) withoutNumbers() bool {
	k.lack("nvidia-smi at the time of the failure: who holds how much of the GPU", "the step at which it failed")
	if s := k.explains(); s != nil && !k.early() && k.stage != loadingWeights {
		conf := Low
		if k.late() && s.onStack {
			conf = Medium
		}
		k.but("too-large", Low, "model and batch may not fit; without numbers this cannot be told")
		return k.say("graph-retained", conf, "GPU memory ran out, and %s keeps device memory of every step (%s). The message has no numbers to check that against.", s.place(), s.Code)
	}
	if k.early() {
		k.but("other-process", Low, "another process may hold the GPU")
		return k.say("too-large", Low, "GPU memory ran out at %v, before anything could pile up: what runs here most likely does not fit. The message has no numbers to check that against.", k.event.Step)
	}
	k.but("other-process", Low, "a GPU that another process has filled fails this way")
	k.but("too-large", Low, "model and batch may not fit")
	if k.request.said() {
		return k.say("undetermined", Low, "GPU memory ran out on a request for %v. The message is cut off before the amounts that tell the causes apart.", k.request)
	}
	return k.say("undetermined", Low, "GPU memory ran out. The message has no numbers: it comes from the CUDA driver or an old version, not from PyTorch's allocator. Another process on the GPU, exclusive mode, or a GPU already full when CUDA starts are as possible as a model that does not fit.")
}
