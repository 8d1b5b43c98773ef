package crash

import "fmt"

// What the numbers of an out-of-memory message of CUDA prove by themselves.

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
