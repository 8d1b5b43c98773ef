package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBindingsAreAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var b bindings
	want := map[Place]*Value{}
	for range 2000 {
		p := Place{ObjectID(random.IntN(6)), Symbol(random.IntN(8))}
		switch random.IntN(20) {
		case 0:
			b.forget(p.object)
			for q := range want {
				if q.object == p.object {
					delete(want, q)
				}
			}
		case 1, 2:
			b.set(p, nil)
			want[p] = nil
		default:
			v := &Value{}
			b.set(p, v)
			want[p] = v
		}
		q := Place{ObjectID(random.IntN(6)), Symbol(random.IntN(8))}
		v, ok := b.get(q)
		wanted, there := want[q]
		assert.Equal(t, there, ok)
		assert.Same(t, wanted, v)
		assert.Len(t, b.list, len(want))
	}
}
