package flow

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/graphleak/graphleak/analyzer/torch"
)

// newTestState is an empty state of an analysis with one object at which there
// are places.
func newTestState() (*state, func(field Symbol) Place) {
	in := &interpreter{analysis: newAnalysis(context.Background(), nil, newSymbolTable())}
	id, _ := in.newObject(objectKey{kind: objectScope})
	return &state{in: in}, func(field Symbol) Place { return Place{id, field} }
}

func number(i int) *Value { return &Value{kinds: KindPlain, literal: i} }

func TestALayerHidesWhatIsBelow(t *testing.T) {
	base, at := newTestState()
	base.set(at(1), number(1))
	top := base.push()
	assert.Equal(t, number(1), top.get(at(1)))
	assert.Nil(t, top.get(at(2)))
	top.set(at(1), number(2))
	assert.Equal(t, number(2), top.get(at(1)))
	assert.Equal(t, number(1), base.get(at(1)))
	top.set(at(1), nil)
	assert.Nil(t, top.get(at(1)), "a deleted value does not come back from below")
}

func TestSinceIsTheNewestOfWhatWasWritten(t *testing.T) {
	base, at := newTestState()
	base.set(at(1), number(1))
	middle := base.push()
	middle.set(at(2), number(2))
	middle.set(at(3), number(3))
	top := middle.push()
	top.set(at(3), number(4))
	assert.ElementsMatch(t, []binding{{at(2), number(2)}, {at(3), number(4)}}, top.since(base).list)
	assert.Equal(t, []binding{{at(3), number(4)}}, top.since(middle).list)
	assert.Empty(t, base.push().since(base).list)
}

func TestMergeJoinsTheEndsOfPaths(t *testing.T) {
	base, at := newTestState()
	base.set(at(1), number(1))
	then, otherwise := base.push(), base.push()
	then.set(at(1), noValue)
	then.set(at(2), number(2))
	otherwise.set(at(3), number(3))
	assert.Same(t, base, merge(base, nil, then, nil, otherwise))
	assert.Equal(t, KindPlain|KindNone, base.get(at(1)).kinds, "one path replaced it, the other left it")
	assert.Equal(t, number(2), base.get(at(2)), "not set on the other path")
	assert.Equal(t, number(3), base.get(at(3)))
}

func TestMergeOfNoPathIsNoState(t *testing.T) {
	base, _ := newTestState()
	assert.Nil(t, merge(base, nil))
	assert.Nil(t, merge(base, nil, nil, nil))
}

func TestMergeOfOnePathTakesItAsItIs(t *testing.T) {
	base, at := newTestState()
	base.set(at(1), number(1))
	path := base.push()
	path.set(at(1), number(2))
	asked := false
	merge(base, func(_ Place, _ []*Value, _ []bool, joined *Value) *Value { asked = true; return joined }, path, nil)
	assert.Equal(t, number(2), base.get(at(1)))
	assert.False(t, asked, "there is nothing to join")
}

func TestMergeAsksAboutEachJoin(t *testing.T) {
	base, at := newTestState()
	base.set(at(1), number(1))
	then, otherwise := base.push(), base.push()
	then.set(at(1), number(2))
	calls := 0
	merge(base, func(p Place, sides []*Value, written []bool, joined *Value) *Value {
		calls++
		assert.Equal(t, at(1), p)
		assert.Equal(t, []*Value{number(2), number(1)}, sides)
		assert.Equal(t, []bool{true, false}, written)
		assert.Nil(t, joined.literal)
		return number(9)
	}, then, otherwise)
	assert.Equal(t, 1, calls)
	assert.Equal(t, number(9), base.get(at(1)))
}

func TestUnionIsThatOfSets(t *testing.T) {
	tests := []struct{ a, b, want atoms }{
		{nil, nil, nil},
		{atoms{1, 3}, nil, atoms{1, 3}},
		{nil, atoms{2}, atoms{2}},
		{atoms{1, 3}, atoms{1, 3}, atoms{1, 3}},
		{atoms{1, 3}, atoms{2, 3, 4}, atoms{1, 2, 3, 4}},
		{atoms{5}, atoms{1}, atoms{1, 5}},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.a.union(tt.b))
	}
	r := rand.New(rand.NewPCG(1, 2))
	random := func() atoms {
		out := atoms{}
		for range r.IntN(20) {
			out = append(out, Atom(r.IntN(30)))
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	for range 500 {
		a, b := random(), random()
		was := slices.Clone(a)
		union := a.union(b)
		assert.True(t, slices.IsSorted(union))
		for x := range Atom(30) {
			assert.Equal(t, slices.Contains(a, x) || slices.Contains(b, x), union.has(x))
		}
		assert.Equal(t, union, b.union(a))
		assert.Equal(t, union, union.union(a))
		assert.Equal(t, was, a, "sets are shared, never changed")
	}
}

func TestJoinCoversBoth(t *testing.T) {
	graph := &Value{kinds: KindTensor, atoms: atoms{3}, size: torch.Scalar}
	tests := []struct {
		name       string
		a, b, want *Value
	}{
		{"nothing and something", nil, graph, graph},
		{"kinds and atoms", graph, noValue, &Value{kinds: KindTensor | KindNone, atoms: atoms{3}, size: torch.Scalar}},
		{"sizes that differ", graph, freshData, &Value{kinds: KindTensor, atoms: atoms{3}}},
		{"equal literals", number(1), number(1), number(1)},
		{"literals that differ", number(1), number(2), plain},
		{"objects", object(5), object(4), &Value{kinds: KindObject, objects: []ObjectID{4, 5}}},
		{"tuples of one length", tuple(graph, plain), tuple(noValue, plain),
			tuple(&Value{kinds: KindTensor | KindNone, atoms: atoms{3}, size: torch.Scalar}, plain)},
		{"tuples of several lengths", tuple(graph), tuple(noValue, plain),
			&Value{kinds: KindObject, variadic: true, elements: []*Value{{kinds: KindTensor | KindNone | KindPlain, atoms: atoms{3}, size: torch.Scalar}}}},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, join(tt.a, tt.b), tt.name)
		assert.Equal(t, tt.want, join(tt.b, tt.a), tt.name)
		assert.Equal(t, tt.want, join(tt.want, tt.a), tt.name)
	}
}

func TestElementsAreCountedFromBothEnds(t *testing.T) {
	pair := tuple(number(1), number(2))
	assert.Equal(t, number(1), pair.element(0))
	assert.Equal(t, number(2), pair.element(-1))
	assert.Equal(t, number(1), pair.element(-2))
	assert.Nil(t, pair.element(2))
	assert.Nil(t, pair.element(-3))
	variadic := &Value{kinds: KindObject, elements: []*Value{plain}, variadic: true}
	assert.Equal(t, plain, variadic.element(7))
}

func TestOnlyLiteralsHaveATruthValue(t *testing.T) {
	for v, want := range map[*Value][2]bool{
		plainTrue: {true, true}, plainFalse: {false, true}, number(0): {false, true}, number(3): {true, true},
		plain: {}, noValue: {}, freshData: {},
	} {
		value, known := v.truth()
		assert.Equal(t, want, [2]bool{value, known})
	}
}

func TestNarrowingToAKind(t *testing.T) {
	maybe := &Value{kinds: KindTensor | KindNone, atoms: atoms{3}}
	assert.Equal(t, &Value{kinds: KindNone}, maybe.just(KindNone))
	assert.Equal(t, &Value{kinds: KindTensor, atoms: atoms{3}}, maybe.just(KindTensor))
	assert.Nil(t, maybe.just(KindPlain), "it cannot be a number")
	assert.Equal(t, &Value{kinds: KindTensor, atoms: atoms{3}}, maybe.without(KindNone))
	assert.Equal(t, &Value{kinds: KindNone}, maybe.without(KindTensor), "only tensors have a graph")
	assert.Nil(t, noValue.without(KindNone))
	assert.Same(t, plain, plain.without(KindNone))
}

func TestPruningKeepsWhatIsLikely(t *testing.T) {
	in := &interpreter{analysis: newAnalysis(context.Background(), nil, newSymbolTable())}
	possible := in.origin(site{slot: 1}, nil, recorded{sure: Possible})
	likely := in.origin(site{slot: 2}, nil, recorded{sure: Likely})
	carried := in.header(atomCarried, &loop{}, Place{firstObject, anyElement})
	v := &Value{kinds: KindTensor, atoms: atoms{possible, likely, carried}}
	assert.Equal(t, atoms{likely, carried}, in.pruned(v).atoms)
	assert.Len(t, v.atoms, 3)
}

func TestAnOriginKeepsTheMostThatWasKnownOfIt(t *testing.T) {
	a := newAnalysis(context.Background(), nil, newSymbolTable())
	x := a.origin(site{slot: 1}, nil, recorded{sure: Possible, saves: true})
	assert.Equal(t, x, a.origin(site{slot: 1}, nil, recorded{sure: Certain}))
	assert.NotEqual(t, x, a.origin(site{slot: 2}, nil, recorded{}))
	assert.Equal(t, recorded{sure: Certain, saves: true}, a.atoms[x].recorded)
}

func TestAnOperationChainsWhatIsCarried(t *testing.T) {
	a := newAnalysis(context.Background(), nil, newSymbolTable())
	l, p := &loop{back: map[Place]carry{}}, Place{firstObject, anyElement}
	x := a.origin(site{slot: 1}, nil, recorded{sure: Certain})
	carried, chained := a.header(atomCarried, l, p), a.header(atomChained, l, p)
	assert.Equal(t, atoms{x, chained}, a.chain(atoms{x, carried}))
	assert.Equal(t, atoms{x}, a.chain(atoms{x}))
	assert.True(t, a.dependsOn(atoms{carried}, l, p))
	assert.False(t, a.dependsOn(atoms{carried}, &loop{}, p))
	assert.Equal(t, atoms{x}, a.apart(atoms{x, carried, chained}, l, p))
	assert.Equal(t, Certain, a.sure(atoms{x, carried}))
	assert.Equal(t, NoGraph, a.sure(atoms{carried}))
}
