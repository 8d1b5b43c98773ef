package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStepsAreReadOffOutput(t *testing.T) {
	step := func(n int, epoch float64) Step { return Step{Number: n, Epoch: epoch} }
	of := func(n int, s Step) Step {
		s.Of = n
		return s
	}
	for text, want := range map[string]Step{
		"step 12 loss 0.3":    step(12, -1),
		"Step: 12/500":        of(500, step(12, -1)),
		"global_step=7, lr=1": step(7, -1),
		" iteration      100/     500 | lm loss: 1.2":      of(500, step(100, -1)),
		"eta: 0:01 iter: 99 loss":                          step(99, -1),
		"Epoch [1][3100/23454] lr":                         of(23454, step(3100, 1)),
		"Epoch: [3]  [ 100/2000]  eta":                     of(2000, step(100, 3)),
		"Epoch(train)  [1][  50/1000]  lr: 1e-4":           of(1000, step(50, 1)),
		"Iter(train) [   50/90000]  lr: 1e-4":              of(90000, step(50, -1)),
		"epoch 003:     50 / 1000 loss=2.1":                of(1000, step(50, 3)),
		"<epoch: 30, iter:   2,800, lr:1.000e-04> l_pix":   step(2800, 30),
		"step 2, loss 0.5":                                 step(2, -1),
		"(after 100 iterations) memory (MB)":               step(100, -1),
		"Epoch 3:  45%|####5     | 450/1000 [00:10<00:12]": of(1000, step(450, 3)),
		"{'loss': 1.2, 'epoch': 0.5}":                      step(-1, 0.5),
		"  3%|3         | 4/120 [00:01<00:33,  3.5it/s]":   of(120, step(4, -1)),
		"{'loss': '1.2', 'epoch': '0.5'}":                  step(-1, 0.5),
		"[ 100/2000] loss=0.5 alloc=3.2GB":                 of(2000, step(100, -1)),
		"[3/7] nvcc -c kernels.cu -o kernels.o":            step(-1, -1),
		"training epoch 2 done":                            step(-1, 2),
		"stepping stones":                                  step(-1, -1),
		"the first 12 steps were fine":                     step(-1, -1),
		"step size 0.01":                                   step(-1, -1),
		"step 0.01":                                        step(-1, -1),
		"batch 32 of images":                               step(32, -1),
	} {
		assert.Equal(t, want, readStep(text), text)
	}
}
