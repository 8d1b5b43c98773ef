package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// dialects are tracebacks as they are printed and pasted, and what is read of
// them.
var dialects = map[string]struct {
	text string
	want []string
}{
	"pytest long": {`
_________________________________ test_train __________________________________

    def test_train():
>       main()

tests/test_train.py:12: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def main():
        model = build()
>       loss.backward()
E       RuntimeError: boom

train.py:31: RuntimeError
=========================== short test summary info ============================
FAILED tests/test_train.py::test_train - RuntimeError: boom
`, []string{"RuntimeError: boom [tests/test_train.py:12 |main(), train.py:31 |loss.backward()] @ "}},
	"pytest short": {`
_________________________________ test_train __________________________________
tests/test_train.py:12: in test_train
    main()
train.py:31: in main
    loss.backward()
E   RuntimeError: boom
=========================== short test summary info ============================
FAILED tests/test_train.py::test_train - RuntimeError: boom
`, []string{"RuntimeError: boom [tests/test_train.py:12 test_train|main(), train.py:31 main|loss.backward()] @ "}},
	"pytest message of many lines": {`
train.py:31: in main
    loss.backward()
E   RuntimeError: boom
E   second line
E     third
=========================== short test summary info ============================
`, []string{"RuntimeError: boom second line third [train.py:31 main|loss.backward()] @ "}},
	"loguru": {`
2026-01-12 16:13:00.100 | ERROR    | __main__:<module>:40 - An error has been caught in function '<module>', process 'MainProcess' (11), thread 'MainThread' (139):
Traceback (most recent call last):

> File "/app/train.py", line 40, in <module>
    main()
    └ <function main at 0x7f1e>

  File "/app/train.py", line 31, in main
    loss.backward()
    │    └ <function Tensor.backward at 0x7f1e>
    └ tensor(2.3, grad_fn=<NllLossBackward0>)

RuntimeError: boom
`, []string{traceOutline + " @ "}},
	"double spaced": {`
Traceback (most recent call last):

  File "/app/train.py", line 40, in <module>

    main()

  File "/app/train.py", line 31, in main

    loss.backward()

RuntimeError: boom
`, []string{traceOutline + " @ "}},
	"escaped newlines": {
		`"error": "Traceback (most recent call last):\n  File \"/app/train.py\", line 40, in <module>\n    main()\n  File \"/app/train.py\", line 31, in main\n    loss.backward()\nRuntimeError: boom\n", "code": 1}`,
		[]string{traceOutline + " @ "}},
	"JSON log lines": {`
{"log":"Traceback (most recent call last):\n","stream":"stderr","time":"2026-01-12T16:13:00.1Z"}
{"log":"  File \"/app/train.py\", line 40, in \u003cmodule\u003e\n","stream":"stderr","time":"2026-01-12T16:13:00.1Z"}
{"log":"    main()\n","stream":"stderr","time":"2026-01-12T16:13:00.1Z"}
{"log":"  File \"/app/train.py\", line 31, in main\n","stream":"stderr","time":"2026-01-12T16:13:00.1Z"}
{"log":"    loss.backward()\n","stream":"stderr","time":"2026-01-12T16:13:00.1Z"}
{"log":"RuntimeError: boom\n","stream":"stderr","time":"2026-01-12T16:13:00.1Z"}
`, []string{traceOutline + " @ time=2026-01-12T16:13:00.1Z stream=stderr"}},
	"notebook file": {`
   "outputs": [
    {
     "ename": "RuntimeError",
     "evalue": "boom",
     "output_type": "error",
     "traceback": [
      "\u001b[0;31m---------------------------------------------------------------------------\u001b[0m",
      "\u001b[0;31mRuntimeError\u001b[0m                              Traceback (most recent call last)",
      "Cell \u001b[0;32mIn[3], line 5\u001b[0m\n\u001b[1;32m      4\u001b[0m x \u001b[38;5;241m=\u001b[39m \u001b[38;5;241m1\u001b[39m\n\u001b[0;32m----> 5\u001b[0m f(x)\n",
      "File \u001b[0;32m/w/a.py:12\u001b[0m, in \u001b[0;36mf\u001b[0;34m(x)\u001b[0m\n\u001b[1;32m     11\u001b[0m def f(x):\n\u001b[0;32m---> 12\u001b[0m     raise RuntimeError(\"boom\")\n",
      "\u001b[0;31mRuntimeError\u001b[0m: boom"
     ]
    }
`, []string{"RuntimeError: boom [Cell In[3]:5 <module>|f(x), /w/a.py:12 f|raise RuntimeError(\"boom\")] @ "}},
	"ipykernel frames": {`
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
/tmp/ipykernel_34/3349.py in <cell line: 5>()
      3 y = 2
      4 x = 1
----> 5 f(x)

/kaggle/input/lib/a.py in f(x)
     11 def f(x):
---> 12     raise RuntimeError("boom")

RuntimeError: boom
`, []string{"RuntimeError: boom [/tmp/ipykernel_34/3349.py:5 <module>|f(x), /kaggle/input/lib/a.py:12 f|raise RuntimeError(\"boom\")] @ "}},
	"IPython cell function": {`
RuntimeError                              Traceback (most recent call last)
Cell In[7], line 9
      7     return loss
      8 
----> 9 fit(model)

Cell In[6], line 4, in fit(model)
      2 for x in loader:
      3     loss = model(x)
----> 4     loss.backward()

File ~/miniconda3/lib/python3.10/site-packages/torch/_tensor.py:487, in Tensor.backward(self, gradient, retain_graph, create_graph, inputs)
    477     return handle_torch_function(
   (...)
    485         inputs=inputs,
    486     )
--> 487 torch.autograd.backward(
    488     self, gradient, retain_graph, create_graph, inputs=inputs
    489 )

RuntimeError: boom
`, []string{"RuntimeError: boom [Cell In[7]:9 <module>|fit(model), Cell In[6]:4 fit|loss.backward(), ~/miniconda3/lib/python3.10/site-packages/torch/_tensor.py:487 Tensor.backward|torch.autograd.backward(] @ "}},
	"Input In": {`
RuntimeError                              Traceback (most recent call last)
Input In [3], in <cell line: 5>()
      4 x = 1
----> 5 f(x)

Input In [2], in f(x)
      1 def f(x):
----> 2     raise RuntimeError("boom")

RuntimeError: boom
`, []string{"RuntimeError: boom [Input In [3]:5 <module>|f(x), Input In [2]:2 f|raise RuntimeError(\"boom\")] @ "}},
	"Databricks": {`
RuntimeError                              Traceback (most recent call last)
File <command-4211>:5
      4 x = 1
----> 5 f(x)

File /Workspace/Repos/k/a.py:12, in f(x)
     11 def f(x):
---> 12     raise RuntimeError("boom")

RuntimeError: boom
`, []string{"RuntimeError: boom [<command-4211>:5 <module>|f(x), /Workspace/Repos/k/a.py:12 f|raise RuntimeError(\"boom\")] @ "}},
	"IPython chain": {`
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
File /w/a.py:12, in f(x)
---> 12     d[x]

KeyError: 'k'

During handling of the above exception, another exception occurred:

RuntimeError                              Traceback (most recent call last)
Cell In[3], line 5
----> 5 f(x)

RuntimeError: boom
`, []string{"RuntimeError: boom [Cell In[3]:5 <module>|f(x)] after KeyError: 'k' [/w/a.py:12 f|d[x]] @ "}},
	"rich with locals and a wrapped path": {`
╭─────────────────────────────── Traceback (most recent call last) ────────────────────────────────╮
│ /app/train.py:40 in <module>                                                                     │
│                                                                                                  │
│   38                                                                                             │
│   39 if __name__ == "__main__":                                                                  │
│ ❱ 40 │   main()                                                                                  │
│                                                                                                  │
│ /app/a/very/long/path/to/the/module/with/the/function/that/fails/and/more/train.py:31 in         │
│ main                                                                                             │
│                                                                                                  │
│   30 │   loss = model(x)                                                                         │
│ ❱ 31 │   loss.backward()                                                                         │
│ ╭─────────────────────────────────────────── locals ───────────────────────────────────────────╮ │
│ │ loss = tensor(2.3, grad_fn=<NllLossBackward0>)                                               │ │
│ ╰──────────────────────────────────────────────────────────────────────────────────────────────╯ │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:40 <module>|main(), /app/a/very/long/path/to/the/module/with/the/function/that/fails/and/more/train.py:31 main|loss.backward()] @ "}},
	"rich in ASCII": {`
+-------------------- Traceback (most recent call last) ---------------------+
| /app/train.py:40 in <module>                                               |
|                                                                            |
|   39 if __name__ == "__main__":                                            |
| > 40     main()                                                            |
|                                                                            |
| /app/train.py:31 in main                                                   |
|                                                                            |
| > 31     loss.backward()                                                   |
+----------------------------------------------------------------------------+
RuntimeError: boom
`, []string{traceOutline + " @ "}},
	"rich chained": {`
╭──────────── Traceback (most recent call last) ────────────╮
│ /w/a.py:12 in f                                           │
│ ❱ 12     d[x]                                             │
╰───────────────────────────────────────────────────────────╯
KeyError: 'k'

During handling of the above exception, another exception occurred:

╭──────────── Traceback (most recent call last) ────────────╮
│ /app/train.py:31 in main                                  │
│ ❱ 31     loss.backward()                                  │
╰───────────────────────────────────────────────────────────╯
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] after KeyError: 'k' [/w/a.py:12 f|d[x]] @ "}},
	"pdb": {`
> /app/train.py(40)<module>()
-> main()
> /app/train.py(31)main()
-> loss.backward()
RuntimeError: boom
`, []string{traceOutline + " @ "}},
	"py-spy": {`
Process 4711: python train.py
Python v3.10.12 (/usr/bin/python3.10)

Thread 4711 (active): "MainThread"
    backward (torch/autograd/__init__.py:200)
    main (train.py:31)
    <module> (train.py:40)
`, []string{" [train.py:40 <module>|, train.py:31 main|, torch/autograd/__init__.py:200 backward|] @ pid=4711"}},
	"py-spy, full paths": {`
Thread 4711 (idle): "MainThread"
    wait (/usr/lib/python3.10/threading.py:320)
    main (/app/train.py:31)
`, []string{" [/app/train.py:31 main|, /usr/lib/python3.10/threading.py:320 wait|] @ pid=4711"}},
	"fault handler, several threads": {`
Fatal Python error: Segmentation fault

Thread 0x00007f1c2b7fe640 (most recent call first):
  File "/usr/lib/python3.10/threading.py", line 324 in wait
  File "/usr/lib/python3.10/threading.py", line 973 in _bootstrap

Current thread 0x00007f1c5d0f4000 (most recent call first):
  File "/app/train.py", line 31 in main
  File "/app/train.py", line 40 in <module>

Extension modules: numpy.core._multiarray_umath, torch._C (total: 12)
Segmentation fault (core dumped)
`, []string{" [/usr/lib/python3.10/threading.py:973 _bootstrap|, /usr/lib/python3.10/threading.py:324 wait|] @ ", " [/app/train.py:40 <module>|, /app/train.py:31 main|] @ "}},
	"TorchScript": {`
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    out = scripted(x)
RuntimeError: The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__/net.py", line 12, in forward
    x: Tensor) -> Tensor:
    return torch.matmul(x, w)
           ~~~~~~~~~~~~ <--- HERE

Traceback of TorchScript, original code (most recent call last):
  File "/app/net.py", line 9, in forward
    def forward(self, x):
        return torch.matmul(x, self.w)
               ~~~~~~~~~~~~ <--- HERE
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x96 and 128x10)
`, []string{"RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x96 and 128x10) [/app/train.py:31 main|out = scripted(x), /app/net.py:9 forward|return torch.matmul(x, self.w)] @ "}},
	"compiled user code": {`
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    out = model(x)
  File "/opt/conda/lib/python3.10/site-packages/torch/_dynamo/eval_frame.py", line 328, in _fn
    return fn(*args, **kwargs)
torch._dynamo.exc.TorchRuntimeError: Failed running call_function <built-in method add>:
boom

from user code:
   File "/app/net.py", line 9, in forward
    return x + y

Set TORCH_LOGS="+dynamo" and TORCHDYNAMO_VERBOSE=1 for more information
`, []string{"torch._dynamo.exc.TorchRuntimeError: Failed running call_function <built-in method add>: boom [/app/train.py:31 main|out = model(x), /opt/conda/lib/python3.10/site-packages/torch/_dynamo/eval_frame.py:328 _fn|return fn(*args, **kwargs), /app/net.py:9 forward|return x + y] @ "}},
	"C++ frames in the message": {`
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
Exception raised from handleError at ../c10/cuda/CUDAException.cpp:43 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f0e5 in /opt/conda/lib/python3.10/site-packages/torch/lib/libc10.so)
frame #1: <unknown function> + 0x1dead (0x7f0e6 in /opt/conda/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so)

`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ "}},
	"C++ terminate": {`
terminate called after throwing an instance of 'c10::Error'
  what():  boom
Exception raised from handleError at ../c10/cuda/CUDAException.cpp:43 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7f0e5 in /lib/libc10.so)
`, []string{"c10::Error: boom [] @ "}},
	"ignored exception": {`
Exception ignored in: <function _MultiProcessingDataLoaderIter.__del__ at 0x7f0>
Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py", line 1466, in __del__
    self._shutdown_workers()
AssertionError: can only test a child process
`, []string{"ignored AssertionError: can only test a child process [/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py:1466 __del__|self._shutdown_workers()] @ "}},
	"anomaly mode": {`
/usr/lib/torch/autograd/__init__.py:197: UserWarning: Error detected in SqrtBackward0. Traceback of forward call that caused the error:
  File "/app/train.py", line 69, in <module>
    run()
  File "/app/net.py", line 50, in forward
    return torch.sqrt(w)
 (Triggered internally at  ./torch/csrc/autograd/python_anomaly_mode.cpp:114.)
  Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] made by [/app/train.py:69 <module>|run(), /app/net.py:50 forward|return torch.sqrt(w)] @ "}},
	"process and thread headings": {`
Process SpawnProcess-2:
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
Exception in thread Thread-3 (_pin_memory_loop):
Traceback (most recent call last):
  File "/app/load.py", line 3, in f
    x
OSError: no
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ ", "OSError: no [/app/load.py:3 f|x] @ "}},
	"typographic quotes": {`
Traceback (most recent call last):
File “/app/train.py”, line 40, in <module>
main()
File “/app/train.py”, line 31, in main
loss.backward()
RuntimeError: boom
`, []string{traceOutline + " @ "}},
	"module lost to HTML": {`
Traceback (most recent call last):
  File "/app/train.py", line 40, in 
    main()
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:40 |main(), /app/train.py:31 main|loss.backward()] @ "}},
	"wrapped at 60 columns": {`
Traceback (most recent call last):
  File "/home/kim/project/experiments/deep/train_the_model
.py", line 40, in <module>
    main()
  File "/home/kim/project/experiments/deep/train.py", line 3
1, in main
    loss.backward()
RuntimeError: boom
`, []string{"RuntimeError: boom [/home/kim/project/experiments/deep/train_the_model.py:40 <module>|main(), /home/kim/project/experiments/deep/train.py:31 main|loss.backward()] @ "}},
	"wrapped at words": {`
Traceback (most recent call last):
  File "/home/kim/project/experiments/deep/train.py", line
40, in <module>
    main()
  File
"/home/kim/project/experiments/deep/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`, []string{"RuntimeError: boom [/home/kim/project/experiments/deep/train.py:40 <module>|main(), /home/kim/project/experiments/deep/train.py:31 main|loss.backward()] @ "}},
	"interleaved alike": {`
Traceback (most recent call last):
Traceback (most recent call last):
  File "/app/train.py", line 40, in <module>
  File "/app/train.py", line 40, in <module>
    main()
    main()
  File "/app/train.py", line 31, in main
  File "/app/train.py", line 31, in main
    loss.backward()
    loss.backward()
RuntimeError: boom
RuntimeError: boom
`, []string{traceOutline + " @ ", traceOutline + " @ "}},
	"interleaved, different": {`
Traceback (most recent call last):
  File "/app/train.py", line 40, in <module>
Traceback (most recent call last):
    main()
  File "/app/eval.py", line 4, in <module>
    check()
  File "/app/train.py", line 31, in main
  File "/app/eval.py", line 9, in check
    loss.backward()
    assert ok
RuntimeError: boom
AssertionError
`, []string{traceOutline + " @ ", "AssertionError [/app/eval.py:4 <module>|check(), /app/eval.py:9 check|assert ok] @ "}},
	"output within": {`
Traceback (most recent call last):
  File "/app/train.py", line 40, in <module>
    main()
epoch 3:  45%|####5     | 450/1000 [00:12<00:15, 36.1it/s, loss=0.31]
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`, []string{traceOutline + " @ "}},
	"notes": {`
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
while training on batch 12
`, []string{"RuntimeError: boom while training on batch 12 [/app/train.py:31 main|loss.backward()] @ "}},
	"coloured by Python 3.13": {
		"Traceback (most recent call last):\n  File \x1b[35m\"/app/train.py\"\x1b[0m, line \x1b[35m31\x1b[0m, in \x1b[35mmain\x1b[0m\n    \x1b[31mloss.backward\x1b[0m\x1b[1;31m()\x1b[0m\n    \x1b[31m~~~~~~~~~~~~~\x1b[0m\x1b[1;31m^^\x1b[0m\n\x1b[1;35mRuntimeError\x1b[0m: \x1b[35mboom\x1b[0m\n",
		[]string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ "}},
	"nested group": {`
  + Exception Group Traceback (most recent call last):
  |   File "/app/train.py", line 31, in main
  |     go()
  | ExceptionGroup: outer (1 sub-exception)
  +-+---------------- 1 ----------------
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | Traceback (most recent call last):
      |   File "/app/b.py", line 2, in g
      |     x
      | ValueError: one
      +------------------------------------
`, []string{"ValueError: one [/app/b.py:2 g|x] in ExceptionGroup: inner (1 sub-exception) [] in ExceptionGroup: outer (1 sub-exception) [/app/train.py:31 main|go()] @ "}},
	"cut in the middle of a frame line": {`
rain.py", line 40, in <module>
    main()
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ "}},
	"only frames": {`
  File "/app/train.py", line 40, in <module>
    main()
  File "/app/train.py", line 31, in main
    loss.backward()
`, []string{" [/app/train.py:40 <module>|main(), /app/train.py:31 main|loss.backward()] @ "}},
	"exception without a blank before output": {`
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
wandb: Waiting for W&B process to finish... (failed 1).
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ "}},
	"multiprocessing remote": {`
multiprocessing.pool.RemoteTraceback: 
"""
Traceback (most recent call last):
  File "/app/prep.py", line 3, in work
    x
KeyError: 'k'
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    pool.map(work, xs)
KeyError: 'k'
`, []string{"KeyError: 'k' [/app/train.py:31 main|pool.map(work, xs)] after KeyError: 'k' [/app/prep.py:3 work|x] @ "}},
	"spawn": {`
Traceback (most recent call last):
  File "/app/train.py", line 50, in <module>
    mp.spawn(main, nprocs=2)
torch.multiprocessing.spawn.ProcessRaisedException: 

-- Process 1 terminated with the following error:
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] in torch.multiprocessing.spawn.ProcessRaisedException [/app/train.py:50 <module>|mp.spawn(main, nprocs=2)] @ rank=1"}},
	"stackprinter": {`
File "/app/train.py", line 31, in main
    29   def main():
    30       loss = model(x)
--> 31       loss.backward()
    ..................................................
     loss = tensor(2.3)
    ..................................................

RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ "}},
	"better exceptions": {`
Traceback (most recent call last):
  File "/app/train.py", line 31, in main
    loss.backward()
    │    └ <function Tensor.backward>
    └ tensor(2.3)
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ "}},
	"a table in Markdown": {"```\n" + trace + "```\n", []string{traceOutline + " @ "}},
	"one line with break tags": {
		`<pre>Traceback (most recent call last):<br>  File &quot;/app/train.py&quot;, line 40, in &lt;module&gt;<br>    main()<br/>  File &quot;/app/train.py&quot;, line 31, in main<br>    loss.backward()<br>RuntimeError: boom</pre>`,
		[]string{traceOutline + " @ "}},
	"pipes in a table": {"| Traceback (most recent call last):\n|   File \"/app/train.py\", line 31, in main\n|     loss.backward()\n| RuntimeError: boom\n", []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ "}},
	"gdb's Python backtrace": {`
Traceback (most recent call first):
  File "/app/train.py", line 31, in main
    loss.backward()
  File "/app/train.py", line 40, in <module>
    main()
`, []string{" [/app/train.py:40 <module>|main(), /app/train.py:31 main|loss.backward()] @ "}},
	"Jupyter %debug": {`
> /app/train.py(31)main()
     29 def main():
     30     loss = model(x)
---> 31     loss.backward()
     32 

ipdb> 
`, nil},
	"Windows and CRLF": {"Traceback (most recent call last):\r\n  File \"C:\\Users\\kim\\proj\\train.py\", line 31, in main\r\n    loss.backward()\r\nRuntimeError: boom\r\n", []string{`RuntimeError: boom [C:\Users\kim\proj\train.py:31 main|loss.backward()] @ `}},
	"escaped Windows path": {
		`{"message": "Traceback (most recent call last):\n  File \"C:\\new\\train.py\", line 31, in main\n    loss.backward()\nRuntimeError: boom"}`,
		[]string{`RuntimeError: boom [C:\new\train.py:31 main|loss.backward()] @ `}},
	"Ray": {`
ray.exceptions.RayTaskError(RuntimeError): ray::Trainer.fit() (pid=18, ip=10.0.0.2, actor_id=0f, repr=<x>)
  File "/app/train.py", line 31, in main
    loss.backward()
RuntimeError: boom
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] in ray.exceptions.RayTaskError: ray::Trainer.fit() (pid=18, ip=10.0.0.2, actor_id=0f, repr=<x>) [] @ pid=18"}},
	"Ray's repeated lines": {`
(W pid=18) Traceback (most recent call last): [repeated 3x across cluster]
(W pid=18)   File "/app/train.py", line 31, in main [repeated 3x across cluster]
(W pid=18)     loss.backward() [repeated 3x across cluster]
(W pid=18) RuntimeError: boom [repeated 3x across cluster]
`, []string{"RuntimeError: boom [/app/train.py:31 main|loss.backward()] @ pid=18 task=W"}},
}

func TestDialects(t *testing.T) {
	for name, c := range dialects {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, readLog(t, strings.TrimPrefix(c.text, "\n"))) })
	}
}

// Whatever is cut off, the exception is found if its line is there.
func TestDialectsCutOffAtTheTop(t *testing.T) {
	for name, c := range dialects {
		lines := strings.SplitAfter(strings.TrimPrefix(c.text, "\n"), "\n")
		for cut := range lines {
			rest := strings.Join(lines[cut:], "")
			got := strings.Join(readLog(t, rest), "\n")
			if strings.Contains(rest, "RuntimeError: boom") {
				assert.Contains(t, got, "RuntimeError: boom", "%s without its first %d lines:\n%s", name, cut, rest)
			}
		}
	}
}

func TestDialectsCutOffAtTheBottom(t *testing.T) {
	for name, c := range dialects {
		text := strings.TrimPrefix(c.text, "\n")
		for cut := 1; cut < len(text); cut += 1 + len(text)/41 {
			got := readLog(t, text[:cut])
			// Where its own end is cut off, an exception is told by what caused it, or
			// by who reports it.
			told := name == "multiprocessing remote" || name == "spawn" || name == "Ray"
			if strings.Contains(text[:cut], "line 31, in main\n") && !told {
				assert.Contains(t, strings.Join(got, "\n"), ":31 main", "%s without its last %d bytes", name, len(text)-cut)
			}
		}
	}
}
