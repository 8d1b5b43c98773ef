package syntax

// #include "flatten.h"
import "C"

import (
	"slices"
	"sync"
	"unsafe"

	sitter "github.com/smacker/go-tree-sitter"
)

// C writes the nodes in place, so both sides must agree on their layout.
var _ [unsafe.Sizeof(node{})]byte = [C.sizeof_gl_flat]byte{}

// scratch holds buffers for trees whose size is not known yet: C counts all
// tokens, of which about half are kept.
var scratch = sync.Pool{New: func() any { return new([]node) }}

// maxScratch bounds what the pool holds on to.
const maxScratch = 1 << 18

// flatten copies tree, which the caller closes.
func (g *grammar) flatten(tree *sitter.Tree) []node {
	// The binding offers no way to its TSNode, which is the first field.
	root := *(*C.gl_node)(unsafe.Pointer(tree.RootNode()))
	buffer := scratch.Get().(*[]node)
	*buffer = slices.Grow((*buffer)[:0], int(C.gl_count(root)))
	all := (*buffer)[:cap(*buffer)]
	n := C.gl_flatten(root, C.gl_grammar{
		kinds:   (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(g.kinds))),
		symbols: C.uint32_t(len(g.kinds)),
		error:   C.uint8_t(Error),
		fields:  (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(g.fields))),
	}, (*C.gl_flat)(unsafe.Pointer(unsafe.SliceData(all))), C.uint32_t(len(all)))
	nodes := slices.Clone(all[:n])
	if cap(all) <= maxScratch {
		scratch.Put(buffer)
	}
	return nodes
}
