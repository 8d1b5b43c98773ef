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
	perEpoch := func(n int, s Step) Step {
		s.Of, s.PerEpoch = n, true
		return s
	}
	for text, want := range map[string]Step{
		"step 12 loss 0.3":    step(12, -1),
		"Step: 12/500":        of(500, step(12, -1)),
		"global_step=7, lr=1": step(7, -1),
		" iteration      100/     500 | lm loss: 1.2":      of(500, step(100, -1)),
		"eta: 0:01 iter: 99 loss":                          step(99, -1),
		"Epoch [1][3100/23454] lr":                         perEpoch(23454, step(3100, 1)),
		"Epoch: [3]  [ 100/2000]  eta":                     perEpoch(2000, step(100, 3)),
		"Epoch(train)  [1][  50/1000]  lr: 1e-4":           perEpoch(1000, step(50, 1)),
		"Iter(train) [   50/90000]  lr: 1e-4":              of(90000, step(50, -1)),
		"epoch 003:     50 / 1000 loss=2.1":                perEpoch(1000, step(50, 3)),
		"(after 100 iterations) memory (MB)":               step(100, -1),
		"Epoch 3:  45%|####5     | 450/1000 [00:10<00:12]": perEpoch(1000, step(450, 3)),
		"{'loss': 1.2, 'epoch': 0.5}":                      step(-1, 0.5),
		"  3%|3         | 4/120 [00:01<00:33,  3.5it/s]":   of(120, step(4, -1)),
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

func TestStepsOfEpochsAreOneCount(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []float64
	}{
		"with their number":         {[]string{"Epoch [1][50/100] x", "Epoch [1][100/100] x", "Epoch [2][50/100] x"}, []float64{150, 200, 250}},
		"from 0 in each epoch":      {[]string{"epoch 0 step 10", "epoch 0 step 90", "epoch 1 step 10", "epoch 3 step 20"}, []float64{10, 90, 100, 290}},
		"of a total":                {[]string{"step 50/100", "step 90/100", "step 10/100"}, []float64{50, 90, 110}},
		"without epochs":            {[]string{"step 10", "step 90", "step 10"}, []float64{10, 90, 100}},
		"that go on":                {[]string{"epoch 0 step 10", "epoch 1 step 110", "epoch 2 step 210"}, []float64{10, 110, 210}},
		"of a run that began again": {[]string{"epoch 3 step 90", "epoch 0 step 10"}, []float64{90, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			k := clock{last: Step{Number: -1, Epoch: -1}}
			var got []float64
			for _, line := range c.lines {
				at, unit := k.at(readStep(line))
				assert.Equal(t, "step", unit)
				got = append(got, at)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
