package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPrefixesAreKept(t *testing.T) {
	origin := func(change func(*Origin)) Origin {
		o := noOrigin(0)
		change(&o)
		return o
	}
	rank := func(n int) Origin { return origin(func(o *Origin) { o.Rank = n }) }
	stamped := func(at string) Origin { return origin(func(o *Origin) { o.Time, o.Stamped = at, true }) }
	for text, want := range map[string]struct {
		rest string
		Origin
	}{
		"step 3 loss 0.1":                     {"step 3 loss 0.1", noOrigin(0)},
		"[rank3]: Traceback":                  {"Traceback", rank(3)},
		"[rank3]:   File \"a.py\"":            {"  File \"a.py\"", rank(3)},
		"[rank12]:":                           {"", rank(12)},
		"[Rank 0] (after 1 iterations) x":     {"(after 1 iterations) x", rank(0)},
		"[rank: 1] Child":                     {"Child", rank(1)},
		"12083 [rank 4175] x":                 {"x", rank(4175)},
		"[80746] [rank0]: x":                  {"x", rank(0)},
		"[default1]:Traceback":                {"Traceback", origin(func(o *Origin) { o.LocalRank = 1 })},
		"[trainer2]:  x":                      {"  x", origin(func(o *Origin) { o.LocalRank = 2 })},
		"[1,3]<stderr>:x":                     {"x", origin(func(o *Origin) { o.Rank, o.Stream = 3, "stderr" })},
		"[pod/job-0/main] x":                  {"x", origin(func(o *Origin) { o.Host, o.Task = "job-0", "main" })},
		"trainer-1  |   x":                    {"  x", origin(func(o *Origin) { o.Task = "trainer-1" })},
		"(Worker pid=123, ip=10.0.0.2) x":     {"x", origin(func(o *Origin) { o.Task, o.PID, o.Host = "Worker", 123, "10.0.0.2" })},
		"(VllmWorker rank=0 pid=17) x":        {"x", origin(func(o *Origin) { o.Task, o.Rank, o.PID = "VllmWorker", 0, 17 })},
		"(raylet) x":                          {"x", origin(func(o *Origin) { o.Task = "raylet" })},
		"704.7s\t1456\tx":                     {"x", origin(func(o *Origin) { o.Time = "704.7s" })},
		"[W Reducer.cpp:1251] x":              {"x", stamped("")},
		"[E321 02:07:08.408271257 P.cpp:6] x": {"x", stamped("321 02:07:08.408271257")},
		"W0801 13:23:17.366000 32974 torch/distributed/api.py:900] x":              {"x", stamped("0801 13:23:17.366000")},
		"I0225 07:05:33.506150 140182089410368 file.py:589]     x":                 {"    x", stamped("0225 07:05:33.506150")},
		"ERROR 06-30 13:53:19 [core.py:515]   File":                                {"  File", stamped("06-30 13:53:19")},
		"2025-11-12T11:25:13.4961658Z   File":                                      {"  File", stamped("2025-11-12T11:25:13.4961658Z")},
		"2022-12-28 16:13:02 [ERROR]    File":                                      {"   File", stamped("2022-12-28 16:13:02")},
		"2026-01-12 16:13:00,100 - trainer - ERROR -   File":                       {"  File", stamped("2026-01-12 16:13:00,100")},
		"2022-12-28 16:13:02,100 - mmdet - ERROR -":                                {"", stamped("2022-12-28 16:13:02,100")},
		"2024-06-11T10:22:31.1234584Z [0]:":                                        {"[0]:", stamped("2024-06-11T10:22:31.1234584Z")},
		"[2023-12-20 12:36:42,265] torch.distributed.api: [WARNING] Sending":       {"Sending", stamped("2023-12-20 12:36:42,265")},
		"[2023-04-07 13:09:33,201] [INFO] [launch.py:318:sigkill_handler] Killing": {"Killing", stamped("2023-04-07 13:09:33,201")},
		"ERROR:torch.distributed.elastic:failed":                                   {"failed", stamped("")},
		"Mar  3 07:05:11 node7 slurmd[881]: x":                                     {"x", origin(func(o *Origin) { o.Time, o.Host, o.Stamped = "Mar  3 07:05:11", "node7", true })},
		"> > quoted":                                                               {"quoted", origin(func(o *Origin) { o.Quoted = true })},
		">>> import torch":                                                         {">>> import torch", noOrigin(0)},
		"[rank0]:[E321 02:07:08.408271257 P.cpp:607] x": {"x", origin(func(o *Origin) {
			o.Rank, o.Time, o.Stamped = 0, "321 02:07:08.408271257", true
		})},
	} {
		t.Run(text, func(t *testing.T) {
			got := noOrigin(0)
			assert.Equal(t, want.rest, labels{}.strip(text, &got))
			assert.Equal(t, want.Origin, got)
		})
	}
}

func TestLabelsNeedManyLines(t *testing.T) {
	srun := strings.Repeat("0: step\n1: step\n", 3)
	assert.True(t, findLabels(srun).srun)
	assert.False(t, findLabels("1: first point\n2: second point\n").srun, "a list in prose")
	assert.False(t, findLabels(strings.Repeat("0: step\n", 9)).srun, "one rank only")
	assert.True(t, findLabels(strings.Repeat("node1: step\nnode2: step\n", 3)).pdsh)
	assert.False(t, findLabels("layer1: a\nlayer2: a\nlayer3: a\nlayer4: a\nlayer5: a\n").pdsh, "every label once")

	o := noOrigin(0)
	assert.Equal(t, "  File", labels{srun: true}.strip("13:   File", &o))
	assert.Equal(t, 13, o.Rank)
}

func TestStreamsOfDifferentProcessesHaveDifferentKeys(t *testing.T) {
	keys := make(map[string]bool)
	for _, o := range []Origin{
		{Rank: 0, LocalRank: -1, PID: -1}, {Rank: 1, LocalRank: -1, PID: -1}, {Rank: -1, LocalRank: 0, PID: -1},
		{Rank: -1, LocalRank: -1, PID: 4}, {Rank: -1, LocalRank: -1, PID: 4, Host: "b"}, {Rank: -1, LocalRank: -1, PID: -1},
		{Rank: -1, LocalRank: -1, PID: -1, Task: "t"}, {Rank: -1, LocalRank: -1, PID: -1, Input: 1},
	} {
		assert.False(t, keys[o.key()], "%+v", o)
		keys[o.key()] = true
	}
}
