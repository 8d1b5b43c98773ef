package crash

// minLiteral is the least length of a literal of a signature. The longer the
// shortest one, the further the search skips.
const minLiteral = 6

// literals finds the first of many strings in ordinary output at close to the
// speed of memory: the algorithm of Wu and Manber with blocks of two bytes. Its
// table says for each pair of bytes how far the search may skip when it reads
// that pair at the end of its window.
type literals struct {
	skip    []uint8  // by pair; 0: a literal may end its window here
	bucket  []uint16 // by pair, where skip is 0: index into buckets
	buckets [][]string
}

func newLiterals(words []string) *literals {
	l := &literals{skip: make([]uint8, 1<<16), bucket: make([]uint16, 1<<16)}
	for i := range l.skip {
		l.skip[i] = minLiteral - 1
	}
	for _, w := range words {
		for end := 2; end < minLiteral; end++ {
			pair := pairAt(w, end-2)
			l.skip[pair] = min(l.skip[pair], uint8(minLiteral-end))
		}
	}
	for _, w := range words {
		pair := pairAt(w, minLiteral-2)
		if l.skip[pair] != 0 {
			l.skip[pair] = 0
			l.bucket[pair] = uint16(len(l.buckets))
			l.buckets = append(l.buckets, nil)
		}
		l.buckets[l.bucket[pair]] = append(l.buckets[l.bucket[pair]], w)
	}
	return l
}

func pairAt[T string | []byte](s T, i int) uint16 { return uint16(s[i]) | uint16(s[i+1])<<8 }

// find returns the offset of the first literal in b, or -1.
func (l *literals) find(b []byte) int { return find(l, b) }

// in reports whether a literal is in s.
func (l *literals) in(s string) bool { return find(l, s) >= 0 }

func find[T string | []byte](l *literals, b T) int {
	if len(l.buckets) == 0 {
		return -1
	}
	skips := l.skip[:1<<16]
	for end := minLiteral; end <= len(b); {
		pair := pairAt(b, end-2)
		if skip := skips[pair]; skip > 0 {
			end += int(skip)
			continue
		}
		start := end - minLiteral
		for _, w := range l.buckets[l.bucket[pair]] {
			if b[start] == w[0] && len(w) <= len(b)-start && string(b[start:start+len(w)]) == w {
				return start
			}
		}
		end++
	}
	return -1
}
