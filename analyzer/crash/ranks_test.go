package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRanksOfInputs(t *testing.T) {
	for names, want := range map[string][]int{
		"logs/rank3.log logs/rank12.log": {3, 12},
		"run/attempt_0/0/stdout.log run/attempt_0/0/stderr.log run/attempt_0/1/stderr.log": {0, 0, 1},
		"worker-0/train.log worker-1/train.log":                                            {0, 1},
		"job/main.log job/rank1.log":                                                       {-1, 1},
		"train.out.0 train.out.1 train.out.7":                                              {0, 1, 7},
		"slurm-8812_00.out slurm-8812_01.out":                                              {0, 1},
		"slurm-8812_0.out slurm-8812_0.err slurm-8812_1.out":                               {0, 0, 1},
		"node1/job5_0.log node2/job5_1.log":                                                {0, 1}, // two numbers differ: in their order
		"job.out job.err":                                                                  {-1, -1},
		"a.log b.log c.log":                                                                {0, 1, 2},
		"all_rank0_copy.log":                                                               {-1},
		"out/rank2.log":                                                                    {2},
		"rank2.stderr.txt":                                                                 {2},
		"log":                                                                              {-1},
	} {
		t.Run(names, func(t *testing.T) {
			var inputs []Input
			for _, name := range strings.Fields(names) {
				inputs = append(inputs, Input{Name: name})
			}
			assert.Equal(t, want, inputRanks(inputs))
		})
	}
}
