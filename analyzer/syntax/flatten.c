// One pass over a tree with one cursor: crossing from Go to C once per tree
// instead of once per node is what makes reading the tree cheap.
#include "flatten.h"
#include <stdbool.h>

// The part of tree_sitter/api.h that is used here; the library itself comes
// with the binding.
typedef struct { const void *tree; const void *id; uint32_t context[3]; } ts_cursor;

uint32_t ts_node_start_byte(gl_node);
uint32_t ts_node_end_byte(gl_node);
uint16_t ts_node_symbol(gl_node);
bool ts_node_is_named(gl_node);
bool ts_node_is_missing(gl_node);
bool ts_node_has_error(gl_node);
uint32_t ts_node_descendant_count(gl_node);
ts_cursor ts_tree_cursor_new(gl_node);
void ts_tree_cursor_delete(ts_cursor *);
gl_node ts_tree_cursor_current_node(const ts_cursor *);
uint16_t ts_tree_cursor_current_field_id(const ts_cursor *);
bool ts_tree_cursor_goto_first_child(ts_cursor *);
bool ts_tree_cursor_goto_next_sibling(ts_cursor *);
bool ts_tree_cursor_goto_parent(ts_cursor *);

uint32_t gl_count(gl_node root) { return ts_node_descendant_count(root); }

uint32_t gl_flatten(gl_node root, gl_grammar grammar, gl_flat *out, uint32_t cap) {
	uint32_t n = 0;
	int32_t parent = -1;
	ts_cursor cursor = ts_tree_cursor_new(root);
	for (;;) {
		gl_node node = ts_tree_cursor_current_node(&cursor);
		uint16_t field = ts_tree_cursor_current_field_id(&cursor);
		if (field || ts_node_is_named(node)) {
			if (n == cap) break;
			uint16_t symbol = ts_node_symbol(node);
			bool error = symbol >= grammar.symbols;
			out[n] = (gl_flat){
				.kind = error ? grammar.error : grammar.kinds[symbol],
				.field = grammar.fields[field],
				.flags = (ts_node_is_missing(node) ? 1 : 0) | (error || ts_node_has_error(node) ? 2 : 0),
				.start = ts_node_start_byte(node),
				.end = ts_node_end_byte(node),
				.parent = parent, .first = -1, .next = -1,
			};
			if (ts_tree_cursor_goto_first_child(&cursor)) { parent = (int32_t)n++; continue; }
			n++;
		}
		// A token without a role has no children that matter.
		for (;;) {
			if (ts_tree_cursor_goto_next_sibling(&cursor)) break;
			if (parent < 0 || !ts_tree_cursor_goto_parent(&cursor)) goto done;
			parent = out[parent].parent;
		}
	}
done:
	ts_tree_cursor_delete(&cursor);
	// Backwards, the first child of a parent seen so far is the next sibling.
	for (uint32_t i = n; i-- > 1;) {
		out[i].next = out[out[i].parent].first;
		out[out[i].parent].first = (int32_t)i;
	}
	return n;
}
