package torch

import "strings"

// This file says what Python's own library does with the values it is given,
// where that decides which tensors stay alive.

// Builtins are the names that Python binds everywhere and whose effect matters
// here.
var Builtins = set(`float int bool str repr len hash id format isinstance issubclass hasattr type callable ord chr
	bin hex print input bytes bytearray open vars dir sum max min abs round zip enumerate map filter reversed sorted range iter next
	list tuple dict set frozenset getattr setattr any all divmod pow property staticmethod classmethod object super
	Exception RuntimeError ValueError TypeError KeyError StopIteration NotImplementedError AssertionError`)

// Iterators are calls that give an iterator over what they are given: what
// they do is done where it is consumed.
var Iterators = set(`zip enumerate map filter reversed iter
	itertools.islice itertools.chain itertools.cycle itertools.zip_longest itertools.starmap itertools.accumulate`)

// Progress are calls that show how far a loop is and hand on what they iterate
// over.
var Progress = set(`tqdm tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.std.tqdm rich.progress.track
	concurrent.futures.as_completed`)

// Executors are pools of threads: they run what they are given in threads of
// their own.
var Executors = set(`concurrent.futures.ThreadPoolExecutor multiprocessing.pool.ThreadPool multiprocessing.dummy.Pool`)

// ThreadClass reports whether a dotted name is that of a class of threads.
func ThreadClass(dotted string) bool {
	return dotted == "threading.Thread" || dotted == "threading.Timer"
}

// Caches are the decorators that make a function remember its results, with how
// many of them by default; 0 is no limit.
var Caches = map[string]int{"functools.lru_cache": 128, "functools.cache": 0}

// Addresses are functions and methods that give a number of no other thing that
// lives.
var Addresses = set(`id data_ptr`)

// OperatorMethods are the names of the methods by which classes define operators,
// without underscores.
var OperatorMethods = map[string]string{"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod",
	"**": "pow", "@": "matmul", "|": "or", "&": "and", "^": "xor", "<<": "lshift", ">>": "rshift"}

// Pushes are functions that put an element into a sequence, their first
// argument; the value is the position of the element.
var Pushes = map[string]int{"heapq.heappush": 1, "bisect.insort": 1, "bisect.insort_left": 1, "bisect.insort_right": 1}

// Pops are functions that take an element out of a sequence, their first
// argument, whatever they put in.
var Pops = set(`heapq.heappop heapq.heappushpop heapq.heapreplace`)

// NumberTypes are the types of Python whose instances hold no graph.
var NumberTypes = set(`float int complex str bytes bool numbers.Number numbers.Real numbers.Integral`)

// Typing begins the names of what stands for types in annotations.
const Typing = "typing."

// Spacing is how the arguments of a function say how many numbers it gives.
type Spacing uint8

// The ways to say how many numbers there are.
const (
	AsRange Spacing = iota + 1 // by where they begin and end, as range does
	AsCount                    // by the third argument
)

// Spaced are functions that give numbers at even distances.
var Spaced = map[string]Spacing{"range": AsRange, "torch.arange": AsRange, "numpy.arange": AsRange,
	"torch.linspace": AsCount, "numpy.linspace": AsCount, "torch.logspace": AsCount, "numpy.logspace": AsCount}

// Container is how a collection keeps its elements.
type Container uint8

// The ways to keep elements.
const (
	List    Container = iota // in a row, or in no order: lists, tuples, sets, queues
	Dict                     // by key
	Counter                  // by key; to update it is to add
)

// Containers are the collections of Python's library by the call that makes
// one.
var Containers = map[string]Container{
	"list": List, "tuple": List, "sorted": List, "set": List, "frozenset": List, "collections.deque": List, "queue.Queue": List,
	"dict": Dict, "collections.OrderedDict": Dict, "collections.defaultdict": Dict,
	"collections.Counter": Counter,
}

// CollectionArguments are how many arguments the methods take by which something
// that was not seen is known to be a collection. A metric's append may take more.
var CollectionArguments = map[string]int{"append": 1, "appendleft": 1, "extend": 1, "insert": 2}

// ContainerEffect is what a method does to a collection.
type ContainerEffect uint8

// The effects of methods of collections.
const (
	Adds     ContainerEffect = iota + 1 // its argument becomes an element
	Inserts                             // its second argument does
	Extends                             // the elements of its argument do
	Updates                             // the entries of a mapping do
	Defaults                            // an entry is made unless there is one
	Gets                                // an entry is read
	Takes                               // an element is removed and returned
	Drops                               // an element is removed
	Empties                             // all elements are removed
	Copies                              // a new collection of the same elements
	Keys                                // a view of the keys
	Values                              // a view of the elements
	Items                               // a view of both
)

// ContainerMethods are the methods of collections.
var ContainerMethods = func() map[string]ContainerEffect {
	m := map[string]ContainerEffect{}
	for effect, names := range map[ContainerEffect]string{
		Adds: `append add appendleft put put_nowait push`, Inserts: `insert`, Extends: `extend extendleft`, Updates: `update subtract`,
		Defaults: `setdefault`, Gets: `get`, Takes: `pop popleft popitem get_nowait`, Drops: `remove discard`, Empties: `clear`,
		Copies: `copy`, Keys: `keys`, Values: `values`, Items: `items`,
	} {
		for _, name := range strings.Fields(names) {
			m[name] = effect
		}
	}
	return m
}()

// Loggers are what functions and methods are called that show or write a value
// and do no more with it.
var Loggers = set(`log log_dict log_metrics log_scalar info debug warning error critical exception write writerow
	add_scalar add_scalars set_postfix set_postfix_str set_description update report record save dump format join emit track print_log`)

// LossNames are parts of the names of functions that return a loss.
var LossNames = []string{"criterion", "loss"}
