package search

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFind(t *testing.T) {
	x := New([]Document{
		{ID: "shape", Title: "Shapes do not fit", Messages: []string{"mat1 and mat2 shapes cannot be multiplied"}, Body: "Print the shapes of the tensors."},
		{ID: "memory", Title: "Out of memory", Messages: []string{"CUDA out of memory. Tried to allocate 2.00 MiB"}, Body: "A tensor did not fit."},
		{ID: "device", Title: "Wrong device", Messages: []string{"tensors on cuda:0 and cpu"}, Body: "Move it. Memory plays no part."},
	})
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a message":                   {"CUDA out of memory", []string{"memory", "device"}},
		"a rare word decides":         {"the shapes", []string{"shape", "device"}},
		"a long number is of one run": {"20480", []string{}},
		"case and signs":              {"MAT1 × MAT2!", []string{"shape"}},
		"a word that begins like one": {"multiplication", []string{"shape"}},
		"nothing":                     {"zebra", []string{}},
		"empty":                       {"", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := x.Find(c.text)
			if len(c.want) > 0 && len(got) > len(c.want) {
				got = got[:len(c.want)]
			}
			assert.Equal(t, c.want[:min(1, len(c.want))], got[:min(1, len(got))])
			if len(c.want) == 0 {
				assert.Empty(t, got)
			}
		})
	}
	assert.Empty(t, New(nil).Find("memory"))
}

func TestTheSameTextFindsTheSame(t *testing.T) {
	x := New([]Document{{ID: "a", Title: "one thing"}, {ID: "b", Title: "one thing"}})
	for range 20 {
		assert.Equal(t, []string{"a", "b"}, x.Find("thing"))
	}
}
