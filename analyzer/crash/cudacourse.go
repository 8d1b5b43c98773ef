package crash

import "fmt"

// What the course of the run, its calls and its code tell about an out-of-memory
// error of CUDA that its numbers leave open.

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
