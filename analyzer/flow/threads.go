package flow

import (
	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// Grad mode is a thread's own: what runs in another thread records operations,
// whatever guard the thread that starts it is under.

// unguarded calls f as a thread of its own would.
func (in *interpreter) unguarded(n syntax.NodeID, f *Value, args arguments) *Value {
	off, recordings := in.off, in.recordings
	in.off = false
	v := in.apply(n, f, args)
	in.off = off
	if off {
		in.startedUnguarded(n, f, recordings)
	}
	return v
}

// thread runs what threading.Thread(target=f, args=…) or Timer(seconds, f, …)
// is made to run.
func (in *interpreter) thread(n syntax.NodeID, target, passed *Value) *Value {
	if target != nil {
		in.unguarded(n, target, spread(passed))
	}
	id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: "threading.Thread"})
	return object(id)
}

// spread are the arguments that a tuple holds.
func spread(v *Value) arguments {
	if v == nil || v.elements == nil || v.variadic {
		return arguments{}
	}
	return arguments{positional: v.elements}
}

// future is the name of what an executor gives for a call: it holds the result.
const future = "concurrent.futures.Future"

// executorMethod is a method of a pool of threads, or of a future that one
// gave. It returns nil for others.
func (in *interpreter) executorMethod(n syntax.NodeID, id ObjectID, name string, args arguments) *Value {
	info := in.objects[id]
	if info.name == future {
		if name == "result" || name == "get" {
			return orPlain(in.state.get(Place{id, anyElement}))
		}
		return nil
	}
	if !torch.Executors[info.name] || len(args.positional) == 0 {
		return nil
	}
	f := args.positional[0]
	switch name {
	case "submit":
		return in.promise(n, in.unguarded(n, f, args.rest()))
	case "apply_async":
		return in.promise(n, in.unguarded(n, f, spread(args.at(1, "args"))))
	case "apply":
		return in.unguarded(n, f, spread(args.at(1, "args")))
	case "map", "imap", "imap_unordered":
		return in.lazily(n, concurrentMap, args)
	}
	return nil
}

// promise is a future with a result.
func (in *interpreter) promise(n syntax.NodeID, result *Value) *Value {
	id, _ := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: future})
	if in.state != nil {
		in.write(Place{id, anyElement}, result)
	}
	return object(id)
}

// startThread is start() of an instance of a subclass of Thread. It returns nil
// for other methods.
func (in *interpreter) startThread(n syntax.NodeID, id ObjectID, name string) *Value {
	if name != "start" || !in.derives(in.objects[id].class, torch.ThreadClass) {
		return nil
	}
	if run := in.methodOf(n, id, "run"); run != nil {
		in.unguarded(n, run, arguments{})
	}
	return noValue
}
