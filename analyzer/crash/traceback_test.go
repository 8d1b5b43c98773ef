package crash

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parse gives the tracebacks of a text as lines that are easy to compare: the
// exception, its calls, and what it belongs to.
func parse(text string) []string {
	var got []string
	p := newWeaver(func() *tracebacks { return &tracebacks{emit: func(t *Traceback) { got = append(got, outline(t)) }} })
	no := 0
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		no++
		p.feed(Line{No: no, Text: clean([]byte(strings.TrimRight(line, "\n"))), Origin: noOrigin(0)})
	}
	p.close()
	return got
}

func outline(t *Traceback) string {
	var calls []string
	for _, f := range t.Frames {
		calls = append(calls, fmt.Sprintf("%s:%d %s|%s", f.Path, f.Line, f.Func, f.Code))
	}
	s := fmt.Sprintf("%s [%s]", t.text(), strings.Join(calls, ", "))
	if t.Ignored {
		s = "ignored " + s
	}
	if t.Forward != nil {
		s += " made by" + outline(t.Forward)
	}
	if t.Cause != nil {
		s += " after " + outline(t.Cause)
	}
	if t.Outer != nil {
		s += " in " + outline(t.Outer)
	}
	return s
}

func TestTracebackDialects(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"standard": {`
Traceback (most recent call last):
  File "a.py", line 3, in <module>
    f()
  File "b.py", line 9, in f
    raise ValueError("no")
ValueError: no
`, []string{"ValueError: no [a.py:3 <module>|f(), b.py:9 f|raise ValueError(\"no\")]"}},
		"carets, repetitions and elisions": {`
Traceback (most recent call last):
  File "a.py", line 3, in f
    return d["a"]["b"]
           ~~~~~~^^^^^
  [Previous line repeated 974 more times]
  File "a.py", line 5, in g
    call(
    ...<7 lines>...
    )
TypeError: 'NoneType' object is not subscriptable
`, []string{"TypeError: 'NoneType' object is not subscriptable [a.py:3 f|return d[\"a\"][\"b\"], a.py:5 g|call(]"}},
		"no message": {`
Traceback (most recent call last):
  File "a.py", line 3, in f
    bytearray(1 << 60)
MemoryError
`, []string{"MemoryError [a.py:3 f|bytearray(1 << 60)]"}},
		"no source lines": {`
Traceback (most recent call last):
  File "a.py", line 3, in f
  File "b.py", line 4, in g
KeyError: 'x'
`, []string{"KeyError: 'x' [a.py:3 f|, b.py:4 g|]"}},
		"message of many lines": {`
Traceback (most recent call last):
  File "a.py", line 3, in f
    load()
RuntimeError: Error(s) in loading state_dict for Net:
	Missing key(s) in state_dict: "w".
	size mismatch for b: a, b.

next thing
`, []string{"RuntimeError: Error(s) in loading state_dict for Net: Missing key(s) in state_dict: \"w\". size mismatch for b: a, b. [a.py:3 f|load()]"}},
		"a class of any name after the source line": {`
Traceback (most recent call last):
  File "a.py", line 3, in f
    stop()
Halt: enough
`, []string{"Halt: enough [a.py:3 f|stop()]"}},
		"cause": {`
Traceback (most recent call last):
  File "a.py", line 1, in f
    x
KeyError: 'k'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 2, in g
    y
ValueError: second
`, []string{"ValueError: second [a.py:2 g|y] after KeyError: 'k' [a.py:1 f|x]"}},
		"two in a row": {`
Traceback (most recent call last):
  File "a.py", line 1, in f
    x
KeyError: 'k'
Traceback (most recent call last):
  File "a.py", line 2, in g
    y
ValueError: second
`, []string{"KeyError: 'k' [a.py:1 f|x]", "ValueError: second [a.py:2 g|y]"}},
		"DataLoader": {`
Traceback (most recent call last):
  File "a.py", line 1, in f
    for x in loader:
KeyError: Caught KeyError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "d.py", line 7, in __getitem__
    return {}[i]
KeyError: 'missing'
`, []string{"KeyError: 'missing' [d.py:7 __getitem__|return {}[i]] in KeyError: Caught KeyError in DataLoader worker process 0. [a.py:1 f|for x in loader:]"}},
		"DataLoader after an empty line": {`
Traceback (most recent call last):
  File "a.py", line 1, in f
    for x in loader:
KeyError: Caught KeyError in DataLoader worker process 0.

Original Traceback (most recent call last):
  File "d.py", line 7, in __getitem__
    return {}[i]
KeyError: 'missing'
`, []string{"KeyError: 'missing' [d.py:7 __getitem__|return {}[i]] in KeyError: Caught KeyError in DataLoader worker process 0. [a.py:1 f|for x in loader:]"}},
		"Ray": {`
Traceback (most recent call last):
  File "a.py", line 1, in f
    ray.get(x)
ray.exceptions.RayTaskError(ValueError): ray::train() (pid=8, ip=10.0.0.2)
  File "t.py", line 4, in train
    go()
ValueError: bad
`, []string{"ValueError: bad [t.py:4 train|go()] in ray.exceptions.RayTaskError: ray::train() (pid=8, ip=10.0.0.2) [a.py:1 f|ray.get(x)]"}},
		"exception group": {`
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in f
  |     go()
  | ExceptionGroup: two (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "b.py", line 2, in g
    |     x
    | ValueError: one
    +---------------- 2 ----------------
    | Traceback (most recent call last):
    |   File "c.py", line 3, in h
    |     y
    | KeyError: 'two'
    +------------------------------------
after
`, []string{
			"ValueError: one [b.py:2 g|x] in ExceptionGroup: two (2 sub-exceptions) [a.py:1 f|go()]",
			"KeyError: 'two' [c.py:3 h|y] in ExceptionGroup: two (2 sub-exceptions) [a.py:1 f|go()]",
		}},
		"syntax error": {`
  File "t.py", line 1
    print((1)
         ^
SyntaxError: '(' was never closed
`, []string{"SyntaxError: '(' was never closed [t.py:1 |print((1)]"}},
		"glued to a progress bar": {`
 50%|##### | 5/10 [00:01<00:01, 5.00it/s]Traceback (most recent call last):
  File "a.py", line 1, in f
    x
ValueError: no
`, []string{"ValueError: no [a.py:1 f|x]"}},
		"top cut off": {`
    g()
  File "a.py", line 1, in f
    x
ValueError: no
`, []string{"ValueError: no [a.py:1 f|x]"}},
		"bottom cut off": {`
Traceback (most recent call last):
  File "a.py", line 1, in f
    x
`, []string{" [a.py:1 f|x]"}},
		"indentation lost": {`
Traceback (most recent call last):
File "a.py", line 1, in f
g(x)
File "b.py", line 2, in g
raise ValueError("no")
ValueError: no
`, []string{"ValueError: no [a.py:1 f|g(x), b.py:2 g|raise ValueError(\"no\")]"}},
		"newlines lost": {
			`Traceback (most recent call last): File "a.py", line 1, in <module> main() File "b.py", line 2, in main loss.backward() RuntimeError: CUDA error: out of memory`,
			[]string{"RuntimeError: CUDA error: out of memory [a.py:1 <module>|main(), b.py:2 main|loss.backward()]"},
		},
		"IPython": {`
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 5
      4 x = 1
----> 5 f(x)

File /w/a.py:12, in f(x)
     11 def f(x):
---> 12     raise ValueError("no")

ValueError: no
`, []string{"ValueError: no [Cell In[3]:5 <module>|f(x), /w/a.py:12 f|raise ValueError(\"no\")]"}},
		"old IPython": {`
ValueError                                Traceback (most recent call last)
<ipython-input-3-0a1b> in <module>()
      4 x = 1
----> 5 f(x)

/w/a.py in f(x)
     11 def f(x):
---> 12     raise ValueError("no")

ValueError: no
`, []string{"ValueError: no [<ipython-input-3-0a1b>:5 <module>|f(x), /w/a.py:12 f|raise ValueError(\"no\")]"}},
		"rich": {`
╭──────────── Traceback (most recent call last) ────────────╮
│ /w/a.py:12 in f                                           │
│                                                           │
│   11 def f(x):                                            │
│ ❱ 12     raise ValueError("no")                           │
╰───────────────────────────────────────────────────────────╯
ValueError: no
`, []string{"ValueError: no [/w/a.py:12 f|raise ValueError(\"no\")]"}},
		"debugger": {`
Exception has occurred: RuntimeError
CUDA error: out of memory
  File "/w/b.py", line 2, in g
    x
  File "/w/a.py", line 1, in f
    g()
`, []string{"RuntimeError: CUDA error: out of memory [/w/a.py:1 f|g(), /w/b.py:2 g|x]"}},
		"fault handler": {`
Current thread 0x00007f1c (most recent call first):
  File "/w/b.py", line 2 in g
  File "/w/a.py", line 1 in <module>
`, []string{" [/w/a.py:1 <module>|, /w/b.py:2 g|]"}},
		"only the exception": {"ValueError: no", []string{"ValueError: no []"}},
		"output":             {"epoch 3: loss 0.5\nsaved: model.pt\nINFO: done", nil},
		"prose":              {"I get ValueError: no when I run it", nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, parse(c.text)) })
	}
}

func TestDeepTracebackKeepsItsEnds(t *testing.T) {
	var b strings.Builder
	b.WriteString("Traceback (most recent call last):\n")
	for n := range 5000 {
		fmt.Fprintf(&b, "  File \"a.py\", line %d, in f\n    f()\n", n+1)
	}
	b.WriteString("RecursionError: maximum recursion depth exceeded\n")
	var got *Traceback
	p := &tracebacks{emit: func(t *Traceback) { got = t }}
	for line := range strings.Lines(b.String()) {
		p.feed(Line{No: 1, Text: strings.TrimRight(line, "\n"), Origin: noOrigin(0)})
	}
	p.close()
	require.NotNil(t, got)
	assert.Len(t, got.Frames, maxFrames)
	assert.Equal(t, 1, got.Frames[0].Line)
	assert.Equal(t, 5000, got.Frames[maxFrames-1].Line)
}
