package crash

import "encoding/binary"

// minLiteral is the least length of a literal of a signature. The longer the
// shortest one, the further the search skips.
const minLiteral = 6

// literals finds the first of many strings in ordinary output at close to the
// speed of memory: the algorithm of Wu and Manber with blocks of two bytes. Its
// table says for each pair of bytes how far the search may skip when it reads
// that pair at the end of its window.
type literals struct {
	skip    []uint8             // by pair; 0: a literal may end its window here
	ending  map[uint16][]string // literals by the last pair of their first minLiteral bytes
	present bool
}

func newLiterals(words []string) *literals {
	l := &literals{skip: make([]uint8, 1<<16), ending: make(map[uint16][]string), present: len(words) > 0}
	for i := range l.skip {
		l.skip[i] = minLiteral - 1
	}
	for _, w := range words {
		for end := 2; end <= minLiteral; end++ {
			pair := binary.LittleEndian.Uint16([]byte(w[end-2 : end]))
			l.skip[pair] = min(l.skip[pair], uint8(minLiteral-end))
			if end == minLiteral {
				l.ending[pair] = append(l.ending[pair], w)
			}
		}
	}
	return l
}

// find returns the offset of the first literal in b, or -1.
func (l *literals) find(b []byte) int {
	if !l.present {
		return -1
	}
	for end := minLiteral; end <= len(b); {
		pair := binary.LittleEndian.Uint16(b[end-2:])
		skip := int(l.skip[pair])
		if skip > 0 {
			end += skip
			continue
		}
		start := end - minLiteral
		for _, w := range l.ending[pair] {
			if len(w) <= len(b)-start && string(b[start:start+len(w)]) == w {
				return start
			}
		}
		end++
	}
	return -1
}
