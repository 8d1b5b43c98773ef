package flow

// Symbol is an interned name.
type Symbol int32

// Symbols that no program writes.
const (
	// anyElement stands for the elements of a container whose keys are not
	// literals.
	anyElement Symbol = iota
	// eachElement is what iterating over something that was made elsewhere
	// gives.
	eachElement
	// elementKeys are the keys of those elements.
	elementKeys
	// recursiveResult and baseResult are what a recursive function returns:
	// after it has called itself, and without.
	recursiveResult
	baseResult
	// ownElements are the elements of an instance of a class that is derived from
	// a collection.
	ownElements
	// runningSum is the variable in which the builtin sum adds up.
	runningSum
	// frozenMark is true on a module none of whose parameters requires a
	// gradient.
	frozenMark
	// evaluating, of modes, is true after model.eval().
	evaluating
	// stepped, of modes, is set once an optimizer stepped in the iteration.
	stepped
	// collected is what an object of a library keeps of what it is given.
	collected
	// samples are what a metric of a library keeps of each step, by value.
	samples
	// hookedInput and hookedOutput are the functions that a module calls with
	// what goes in and with what comes out.
	hookedInput
	hookedOutput
)

// reservedSymbols are how those are interned: not as an identifier.
var reservedSymbols = [...]string{
	anyElement: "[]", eachElement: "[*]", elementKeys: "keys()", ownElements: "elements()", recursiveResult: "return()", baseResult: "base()",
	runningSum: "sum()", frozenMark: "frozen()",
	evaluating: "eval()", stepped: "step()", collected: "kept()", samples: "samples()", hookedInput: "hook(in)", hookedOutput: "hook(out)",
}

// symbolTable interns names. An analysis shares it with those that it starts.
type symbolTable struct {
	symbols     map[string]Symbol
	symbolNames []string
}

func newSymbolTable() *symbolTable {
	t := &symbolTable{symbols: map[string]Symbol{}}
	for _, name := range reservedSymbols {
		t.symbol(name)
	}
	return t
}

// symbol interns a name.
func (t *symbolTable) symbol(name string) Symbol {
	s, ok := t.symbols[name]
	if !ok {
		s = Symbol(len(t.symbolNames))
		t.symbols[name] = s
		t.symbolNames = append(t.symbolNames, name)
	}
	return s
}
