#include <stdint.h>

// gl_node is TSNode of tree_sitter/api.h, whose header the binding keeps to
// itself.
typedef struct { uint32_t context[4]; const void *id; const void *tree; } gl_node;

// gl_flat is one node of the flat tree. It is laid out as the Go type node.
typedef struct {
	uint8_t kind;
	uint8_t field;
	uint8_t flags; // 1 missing, 2 an error lies within
	uint32_t start, end;
	int32_t parent, first, next;
} gl_flat;

// gl_grammar translates the numbers of the grammar.
typedef struct {
	const uint8_t *kinds; // by symbol
	uint32_t symbols;
	uint8_t error; // the kind of symbols beyond: ERROR has no number of its own
	const uint8_t *fields; // by field id
} gl_grammar;

// gl_count is the number of nodes below and including root, at least as many
// as gl_flatten writes.
uint32_t gl_count(gl_node root);

// gl_flatten writes the named nodes below and including root, and the tokens
// that have a role, in source order. It returns how many it wrote, at most cap.
uint32_t gl_flatten(gl_node root, gl_grammar grammar, gl_flat *out, uint32_t cap);
