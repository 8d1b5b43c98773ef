#include <stdint.h>

typedef struct { uint32_t context[4]; const void *id; const void *tree; } gl_node;

// gl_flat is one node of the flattened tree; syntax.Go reads it in place.
typedef struct {
	uint16_t symbol;
	uint8_t field;
	uint8_t flags; // 1 missing, 2 has an error inside
	uint32_t start, end;
	int32_t parent;
} gl_flat;

uint32_t gl_count(gl_node root);
uint32_t gl_flatten(gl_node root, gl_flat *out, uint32_t cap);
