// Package syntax turns Python text into a flat immutable tree. It is the only
// package that knows tree-sitter.
package syntax

// #include "flatten.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/python"
)

// Limits of what is parsed: beyond them tree-sitter needs seconds and
// gigabytes.
const (
	MaxBytes = 1 << 20
	MaxLines = 30_000
)

var python3 = sync.OnceValues(func() (*grammar, error) { return newGrammar(python.GetLanguage()) })

// Parse reads src as Python. Text that is not valid Python gives a tree with
// Error nodes; an error means that there is no tree.
func Parse(src []byte) (*Tree, error) {
	g, err := python3()
	if err != nil {
		return nil, err
	}
	if len(src) > MaxBytes {
		return nil, fmt.Errorf("file is larger than %d bytes", MaxBytes)
	}
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(g.language)
	tree, err := p.ParseCtx(context.Background(), nil, src)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	defer tree.Close()
	return g.flatten(tree, src)
}

func (g *grammar) flatten(tree *sitter.Tree, src []byte) (*Tree, error) {
	root := tree.RootNode()
	croot := *(*C.gl_node)(unsafe.Pointer(root))
	n := int(C.gl_count(croot))
	flat := make([]C.gl_flat, n)
	if n == 0 {
		return nil, errors.New("parse: empty tree")
	}
	n = int(C.gl_flatten(croot, &flat[0], C.uint32_t(n)))
	t := &Tree{src: string(src), nodes: make([]node, n)}
	last := make([]NodeID, n) // the last child seen so far
	for i := range n {
		f := &flat[i]
		kind := Error
		if int(f.symbol) < len(g.kinds) {
			kind = g.kinds[f.symbol]
		}
		parent := NodeID(f.parent)
		t.nodes[i] = node{kind: kind, field: g.fields[f.field], flags: uint8(f.flags), start: uint32(f.start), end: uint32(f.end), parent: parent, first: NoNode, next: NoNode}
		last[i] = NoNode
		if parent >= 0 {
			if prev := last[parent]; prev >= 0 {
				t.nodes[prev].next = NodeID(i)
			} else {
				t.nodes[parent].first = NodeID(i)
			}
			last[parent] = NodeID(i)
		}
	}
	return t, nil
}
