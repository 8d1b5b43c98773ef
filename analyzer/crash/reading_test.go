package crash

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainKnowledge has only the pages that the engine itself refers to, without
// signatures: what is tested here comes before them.
func plainKnowledge() *Knowledge {
	k := &Knowledge{byID: make(map[string]*Page), words: newLiterals(nil)}
	for id, strength := range map[string]int{unknownID: 0, pythonExceptionID: ownException} {
		k.byID[id] = &Page{ID: id, Title: id, Role: RoleInitiating, Strength: strength}
	}
	k.wanted = newLiterals(slices.Concat(coreLiterals, extraLiterals))
	k.memory = newLiterals(memoryWords)
	return k
}

// readLog gives what one log shows, an event a line: the traceback, and where it
// comes from.
func readLog(t testing.TB, log string) []string {
	t.Helper()
	in := newIncident(plainKnowledge(), []Input{{Name: "log", Reader: strings.NewReader(log)}})
	require.NoError(t, in.read(t.Context(), 0))
	var got []string
	for _, e := range in.events {
		s := e.Text
		if e.Traceback != nil {
			s = outline(e.Traceback)
		}
		got = append(got, s+" @ "+e.Origin.describe())
	}
	return got
}

// describe is for tests: what is known of the origin.
func (o Origin) describe() string {
	var parts []string
	add := func(name string, known bool, value any) {
		if known {
			parts = append(parts, fmt.Sprintf("%s=%v", name, value))
		}
	}
	add("rank", o.Rank >= 0, o.Rank)
	add("local", o.LocalRank >= 0, o.LocalRank)
	add("pid", o.PID >= 0, o.PID)
	add("host", o.Host != "", o.Host)
	add("task", o.Task != "", o.Task)
	add("time", o.Time != "", o.Time)
	add("stream", o.Stream != "", o.Stream)
	return strings.Join(parts, " ")
}

const trace = `Traceback (most recent call last):
  File "/app/train.py", line 40, in <module>
    main()
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`

const traceOutline = "RuntimeError: boom [/app/train.py:40 <module>|main(), /app/train.py:31 main|loss.backward()]"

// each puts a prefix before every line.
func prefixed(prefix, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(prefix + line)
	}
	return b.String()
}

func TestPrefixedTracebacks(t *testing.T) {
	for prefix, origin := range map[string]string{
		"[rank3]: ":                             "rank=3",
		"[rank3]:":                              "rank=3",
		"[default1]:":                           "local=1",
		"[trainer1]:":                           "local=1",
		"[1,3]<stderr>:":                        "rank=3 stream=stderr",
		"[1,3]<stderr>: ":                       "rank=3 stream=stderr",
		"[1,mpirank:3,algo-2]<stderr>:":         "rank=3 host=algo-2 stream=stderr",
		"[3]<stderr>:":                          "rank=3 stream=stderr",
		"(RayTrainWorker pid=17, ip=10.0.0.2) ": "pid=17 host=10.0.0.2 task=RayTrainWorker",
		"(train_fn pid=17) ":                    "pid=17 task=train_fn",
		"\x1b[36m(Actor pid=17)\x1b[0m ":        "pid=17 task=Actor",
		"(EngineCore_DP0 pid=17374) ":           "pid=17374 task=EngineCore_DP0",
		"(EngineCore_DP0 pid=17374) ERROR 06-30 13:53:19 [core.py:515] ": "pid=17374 task=EngineCore_DP0 time=06-30 13:53:19",
		"ERROR 06-30 13:53:19 [core.py:515] ":                            "time=06-30 13:53:19",
		"ERROR 06-30 13:53:19 core.py:515] ":                             "time=06-30 13:53:19",
		"(VllmWorker rank=0 pid=17) ERROR 06-30 13:53:19 [x.py:1] ":      "rank=0 pid=17 task=VllmWorker time=06-30 13:53:19",
		"(VllmWorkerProcess pid=17) ERROR 06-30 13:53:19 x.py:1] ":       "pid=17 task=VllmWorkerProcess time=06-30 13:53:19",
		"[pod/name-0/trainer] ":                                          "host=name-0 task=trainer",
		"2025-11-12T11:25:13.4961658Z ":                                  "time=2025-11-12T11:25:13.4961658Z",
		"2025-11-12T11:25:13.496165812Z stderr F ":                       "time=2025-11-12T11:25:13.496165812Z stream=stderr",
		"[2025-11-12T11:25:13.496Z] ":                                    "time=2025-11-12T11:25:13.496Z",
		"2025-11-12T11:25:13.496Z\t":                                     "time=2025-11-12T11:25:13.496Z",
		"2024-05-22T12:43:46.962646Z 00O ":                               "time=2024-05-22T12:43:46.962646Z stream=stdout",
		"2024-05-22T12:43:46.962646Z 01E+":                               "time=2024-05-22T12:43:46.962646Z stream=stderr",
		"2024-06-11T10:22:31.1234567Z ##[error]":                         "time=2024-06-11T10:22:31.1234567Z",
		"\x1b_bk;t=1718101351123\x07":                                    "",
		"[2024-06-11T10:22:31.123Z] 5d2e8f7a [rank=3] || ":               "rank=3 time=2024-06-11T10:22:31.123Z",
		"(worker1, rank=1, pid=1234, ip=10.0.0.2) ":                      "rank=1 pid=1234 host=10.0.0.2 task=worker1",
		"trainer  | ":  "",
		"0: [rank0]: ": "rank=0",
		"[pod/t-0/pytorch] 2026-01-12T16:13:00.1Z ": "host=t-0 task=pytorch time=2026-01-12T16:13:00.1Z",
		"trainer-1  | ": "task=trainer-1",
		"trainer_1  | ": "task=trainer_1",
		"vllm-1  | ERROR 06-30 13:53:19 [x.py:1] ": "task=vllm-1 time=06-30 13:53:19",
		"[Rank 0] ":                    "rank=0",
		"[rank: 1] ":                   "rank=1",
		"[RANK 2] ":                    "rank=2",
		"Rank 2: ":                     "rank=2",
		"rank2: ":                      "rank=2",
		"12083 [rank 4175] ":           "rank=4175",
		"[80746] [rank0]:":             "rank=0",
		"704.7s\t1456\t":               "time=704.7s",
		"704.7s 1456 ":                 "time=704.7s",
		"2022-12-28 16:13:02 [ERROR] ": "time=2022-12-28 16:13:02",
		"2022-12-28 16:13:02,100 - mmdet - ERROR - ":                 "time=2022-12-28 16:13:02,100",
		"2022-12-28 16:13:02,100 [MainThread] ERROR train: ":         "time=2022-12-28 16:13:02,100",
		"2022-12-28 16:13:02 ERROR train: ":                          "time=2022-12-28 16:13:02",
		"2026-01-12 16:13:00.100 | ERROR    | __main__:main:12 - ":   "time=2026-01-12 16:13:00.100",
		"2026-01-12 16:13:00 | ERROR | fairseq.trainer | ":           "time=2026-01-12 16:13:00",
		"[2026-01-12 16:13:00,100][__main__][ERROR] - ":              "time=2026-01-12 16:13:00,100",
		"[2026-01-12, 16:13:00 UTC] {taskinstance.py:1851} ERROR - ": "time=2026-01-12, 16:13:00 UTC",
		"[2026-01-12 16:13:00,100] {logging_mixin.py:112} INFO - ":   "time=2026-01-12 16:13:00,100",
		"[03/02 11:20:41 d2.engine.train_loop]: ":                    "time=03/02 11:20:41",
		"ERROR [03/02 11:20:41 d2.engine.train_loop]: ":              "time=03/02 11:20:41",
		"01/12 16:13:00 - mmengine - ERROR - ":                       "time=01/12 16:13:00",
		"[NeMo E 2026-01-12 16:13:00 nemo_logging:349] ":             "time=2026-01-12 16:13:00",
		"[NeMo W 2026-01-12 16:13:00 nemo_logging:349] rank 3: ":     "rank=3 time=2026-01-12 16:13:00",
		"21-05-24 02:11:29.657 - ERROR: ":                            "time=21-05-24 02:11:29.657",
		"Fri, 18 Jan 2019 12:07:29 util.py[line:194] : ":             "time=Fri, 18 Jan 2019 12:07:29",
		"I0225 07:05:33.506150 140182089410368 file.py:589] ":        "time=0225 07:05:33.506150",
		"E0225 07:05:33.506150    4711 file.py:589] ":                "time=0225 07:05:33.506150",
		"[E1119 12:00:00.000000000 File.cpp:616] ":                   "time=1119 12:00:00.000000000",
		"[rank3]:[E1119 12:00:00.000000000 File.cpp:616] ":           "rank=3 time=1119 12:00:00.000000000",
		"[16:13:00] ERROR    ":                                       "time=16:13:00",
		"16:13:00,100 ERROR ":                                        "time=16:13:00,100",
		"16:13:00.100 [main] ERROR - ":                               "time=16:13:00.100",
		"ERROR:root:":                                                "",
		"ERROR: ":                                                    "",
		"ERROR    ":                                                  "",
		"[ERROR] ":                                                   "",
		"> ":                                                         "",
		"> > ":                                                       "",
		">> ":                                                        "",
		"    ":                                                       "",
		"\t":                                                         "",
		"\u00a0\u00a0":                                               "",
		"# ":                                                         "",
		"Mar  3 07:05:11 node7 python[881]: ":                        "pid=881 host=node7 time=Mar  3 07:05:11",
		"2026-03-03T07:05:11.123456+00:00 node7 python3[881]: ":      "pid=881 host=node7 time=2026-03-03T07:05:11.123456+00:00",
		"[stderr] ":                                                  "stream=stderr",
		"stderr: ":                                                   "",
		"[worker-0]: ":                                               "task=worker-0",
		"(rank 3) ":                                                  "rank=3",
		"[rank3][2026-01-12 16:13:00,100] ":                          "rank=3 time=2026-01-12 16:13:00,100",
		"[2026-01-12 16:13:00,100][rank3] ":                          "rank=3 time=2026-01-12 16:13:00,100",
		"   12\t":                                                    "",
		"ERROR 2025-11-12T11:25:13.496Z [resource.labels.taskName: workerpool0-0] ": "task=workerpool0-0 time=2025-11-12T11:25:13.496Z",
		"job-1 node7 [3]: ": "task=job-1",
	} {
		t.Run(prefix, func(t *testing.T) {
			got := readLog(t, prefixed(prefix, trace))
			assert.Equal(t, []string{traceOutline + " @ " + origin}, got)
		})
	}
}

func utf16(s string, little bool) string {
	var b []byte
	for _, r := range s {
		if little {
			b = append(b, byte(r), byte(r>>8))
		} else {
			b = append(b, byte(r>>8), byte(r))
		}
	}
	return string(b)
}

func gzipped(t testing.TB, s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(s))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

func TestEncodings(t *testing.T) {
	noise := make([]byte, 100_000)
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = 'a' + byte(r.IntN(26))
		if i%80 == 79 {
			noise[i] = '\n'
		}
	}
	packed := gzipped(t, trace+"\n"+string(noise))
	for name, log := range map[string]string{
		"UTF-8 with a byte order mark":    "\ufeff" + trace,
		"UTF-16 little endian":            utf16("\ufeff"+trace, true),
		"UTF-16 big endian":               utf16("\ufeff"+trace, false),
		"UTF-16 without a mark":           utf16(trace, true),
		"UTF-16 big endian without":       utf16(trace, false),
		"UTF-16 appended to other text":   "PS C:\\> python train.py\r\n" + utf16(strings.ReplaceAll(trace, "\n", "\r\n"), true),
		"NUL bytes":                       "\x00" + strings.Replace(trace, "Trace", "Trace\x00", 1),
		"CR LF":                           strings.ReplaceAll(trace, "\n", "\r\n"),
		"CR only":                         strings.ReplaceAll(trace, "\n", "\r"),
		"no newline at the end":           strings.TrimSuffix(trace, "\n"),
		"no-break spaces":                 strings.ReplaceAll(trace, " ", "\u00a0"),
		"quotes of Windows-1252":          strings.NewReplacer(`File "`, "File \x93", `",`, "\x94,").Replace(trace),
		"bytes that are not UTF-8 before": "Epoch 3 \xe9\xff\x80\n" + trace,
		"colours and links":               "\x1b[31m" + strings.ReplaceAll(trace, "/app/", "\x1b]8;;file:///app\x1b\\/app/\x1b]8;;\x1b\\") + "\x1b[0m",
		"HTML entities":                   strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(trace),
		"a progress bar before":           " 10%|#  | 1/9\r 20%|## | 2/9\r 30%|###| 3/9" + trace,
		"gzip":                            gzipped(t, trace),
		"gzip that is cut off":            packed[:len(packed)-2000],
	} {
		t.Run(name, func(t *testing.T) {
			got := readLog(t, log)
			require.Len(t, got, 1)
			assert.Equal(t, traceOutline+" @ ", got[0])
		})
	}
}
