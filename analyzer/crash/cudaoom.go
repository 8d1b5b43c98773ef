package crash

import (
	"fmt"
	"math"
)

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
