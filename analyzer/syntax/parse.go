package syntax

import (
	"context"
	"fmt"
	"sync"
	"time"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"
)

// python3 is the grammar, resolved and tried out once.
var python3 = sync.OnceValues(func() (*grammar, error) {
	g, err := newGrammar(python.GetLanguage())
	if err != nil {
		return nil, err
	}
	return g, g.try()
})

// try parses a known text: a grammar built for another version of tree-sitter
// fails only when it is used.
func (g *grammar) try() error {
	p := newParser(g, maxParse)
	defer p.close()
	t, err := p.parse("x = 1\n")
	if err != nil {
		return fmt.Errorf("grammar cannot be used: %w", err)
	}
	want := []Kind{Module, ExpressionStatement, Assignment, Identifier, Integer}
	for i, k := range want {
		if t.Len() != len(want) || t.Kind(NodeID(i)) != k || t.Damaged(NodeID(i)) {
			return fmt.Errorf("grammar cannot be used: it reads %q in an unknown way", t.Source())
		}
	}
	return nil
}

// Parse reads src as Python. Text that is not valid Python still gives a tree:
// see Tree.Damaged and Tree.DamagedSpans. An error means that there is no tree;
// it is one of the Err variables of this package.
func Parse(src []byte) (*Tree, error) {
	return parse(src, func(s string) string { return s }, nil)
}

// ParseNotebook is Parse for the joined code cells of a notebook: what IPython
// does not pass on to Python is turned into comments of the same length first.
// Each cell follows a [CellMarker]. See blankMagics for the details.
func ParseNotebook(src []byte) (*Tree, error) { return parse(src, blankMagics, nil) }

// parse reads src, of which before, if there is one, is an earlier text.
func parse(src []byte, prepare func(string) string, before *Tree) (*Tree, error) {
	g, err := python3()
	if err != nil {
		return nil, err
	}
	text, err := admit(src)
	if err != nil {
		return nil, err
	}
	t, err := g.read(prepare(text), before)
	if err != nil {
		return nil, err
	}
	if t.isForeign() {
		return nil, ErrNotPython
	}
	return t, nil
}

// read parses src and repairs the tree if there are errors.
func (g *grammar) read(src string, before *Tree) (*Tree, error) {
	p := newParser(g, maxParse)
	defer p.close()
	t, err := p.parse(src)
	if err != nil {
		return nil, err
	}
	joined := t.markJoined()
	if !joined && !t.Damaged(t.Root()) {
		return t, nil
	}
	return repair(t, p, before)
}

// parser parses texts one after another. It is for one goroutine.
type parser struct {
	grammar *grammar
	sitter  *sitter.Parser
}

func newParser(g *grammar, limit time.Duration) *parser {
	p := &parser{grammar: g, sitter: sitter.NewParser()}
	p.sitter.SetLanguage(g.language)
	p.sitter.SetOperationLimit(int(limit.Microseconds()))
	return p
}

func (p *parser) close() { p.sitter.Close() }

// parse reads src as it is. The tree may be damaged.
func (p *parser) parse(src string) (*Tree, error) {
	tree, err := p.tree(src)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	t := &Tree{src: src, nodes: p.grammar.flatten(tree)}
	if t.Kind(t.Root()) == Error { // nothing holds together
		t.nodes[0].kind = Module
		t.damage(t.Root())
	}
	return t, nil
}

// valid reports whether src is Python without any error.
func (p *parser) valid(src string) bool {
	tree, err := p.tree(src)
	if err != nil {
		return false
	}
	defer tree.Close()
	return !tree.RootNode().HasError()
}

// tree keeps clear of two traps of the binding: a context that can be cancelled
// leaves a flag behind that fails later parses, and a parse that was cut short
// is resumed by the next one unless the parser is reset.
func (p *parser) tree(src string) (*sitter.Tree, error) {
	tree, err := p.sitter.ParseCtx(context.Background(), nil, []byte(src))
	if err == sitter.ErrOperationLimit {
		p.sitter.Reset()
		return nil, ErrTooSlow
	}
	if err != nil {
		p.sitter.Reset()
		return nil, fmt.Errorf("parse: %w", err)
	}
	return tree, nil
}
