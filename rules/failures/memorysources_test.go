package failures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/analyzer/crash"
)

const (
	leakPerStep = 20.0     // MiB
	leakStart   = 6 * 1024 // MiB
	leakEnd     = 860      // step
)

// The ends of the runs that print their memory: a device that is full, a process
// that the kernel killed when it had about as much.
const (
	deviceFull = `Traceback (most recent call last):
  File "/app/train.py", line 41, in <module>
    loss = model(x).loss
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 100.00 MiB is free. Including non-PyTorch memory, this process has 23.55 GiB memory in use. Of the allocated memory 22.80 GiB is allocated by PyTorch, and 130.00 MiB is reserved by PyTorch but unallocated.
`
	hostFull = "Memory cgroup out of memory: Killed process 4242 (python3) total-vm:43000000kB, anon-rss:24117248kB, file-rss:1000kB, shmem-rss:0kB, UID:0 pgtables:1000kB oom_score_adj:0\n"
	macFull  = "libc++abi: terminating due to uncaught exception of type std::runtime_error: [METAL] Command buffer execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)\n"
)

// memorySource is one program that prints memory: what it writes at a step, at
// which so much is in use (in MiB), and what is to be read of that.
type memorySource struct {
	header   string
	lines    func(step int, used float64) string
	quantity string
	unit     string // the slope's; MiB/step if empty
	rate     float64
	end      string
}

func gb(mib float64) float64 { return mib / 1024 }

var memorySources = map[string]memorySource{
	"nvidia-smi table": {quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf(`step %d loss 0.5
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|=========================================+========================+======================|
|   0  NVIDIA A10G                    On  |   00000000:00:1E.0 Off |                    0 |
|  0%%   45C    P0             120W /  300W |  %6.0fMiB /  24216MiB |     99%%      Default |
`, step, used+700)
	}},
	"nvidia-smi csv": {header: "index, memory.used [MiB], memory.total [MiB]\n", quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf("step %d\n0, %.0f MiB, 24216 MiB\n", step, used+700)
	}},
	"nvidia-smi csv by itself": {header: "timestamp, name, memory.used [MiB]\n", quantity: "device", unit: "MiB/reading", rate: 10 * leakPerStep, lines: func(step int, used float64) string {
		return fmt.Sprintf("2026/01/12 16:%02d:%02d.000, NVIDIA A10G, %.0f MiB\n", step/60, step%60, used+700)
	}},
	"nvidia-smi dmon": {
		header:   "# gpu    pwr  gtemp     sm    mem     fb   bar1\n# Idx      W      C      %      %     MB     MB\n",
		quantity: "device", unit: "MiB/reading", rate: 10 * leakPerStep, lines: func(_ int, used float64) string {
			return fmt.Sprintf("    0    120     45     99     50  %.0f      5\n", used+700)
		},
	},
	"memory_summary": {quantity: "allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf(`step %d
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      | %7.0f MiB | %7.0f MiB |    840 GiB |    822 GiB |
| GPU reserved memory   | %7.0f MiB | %7.0f MiB |  24000 MiB |      0 B   |
`, step, used, used+900, used+600, used+600)
	}},
	"bytes that a program prints": {quantity: "allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("step %d: loss 0.5 memory allocated: %.0f\n", step, used*1024*1024)
	}},
	"gigabytes that a program prints": {quantity: "allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("[%d/2000] loss=0.5 alloc=%.2fGB reserved=%.2fGB\n", step, gb(used), gb(used+600))
	}},
	"a sentence that a program prints": {quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf("iter %d | GPU memory used: %.2f GB | loss 0.5\n", step, gb(used))
	}},
	"VRAM in a bar": {quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf("Steps:  10%%|#  | %d/2000 [00:12<01:02, 1.50it/s, lr=1e-4, step_loss=0.1, vram=%.2fGiB]\n", step, gb(used))
	}},
	"mmengine": {quantity: "max allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("2026/01/12 16:13:00 - mmengine - INFO - Epoch(train)  [1][%4d/5000]  lr: 1.0000e-04  eta: 1:02:03  time: 0.5012  data_time: 0.0101  memory: %.0f  loss: 0.5\n", step, used)
	}},
	"mmcv": {quantity: "max allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("2026-01-12 16:13:00,000 - mmdet - INFO - Epoch [1][%d/5000]\tlr: 1.000e-04, eta: 1:02:03, time: 0.501, data_time: 0.010, memory: %.0f, loss: 0.5\n", step, used)
	}},
	"mmcv JSON": {quantity: "max allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("{\"mode\": \"train\", \"epoch\": 1, \"iter\": %d, \"lr\": 0.0001, \"memory\": %.0f, \"loss\": 0.5}\n", step, used)
	}},
	"detectron2": {quantity: "max allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("[01/12 16:13:00 d2.utils.events]:  eta: 1:02:03  iter: %d  total_loss: 0.5  time: 0.5  lr: 0.0001  max_mem: %.0fM\n", step, used)
	}},
	"fairseq": {quantity: "device free", rate: -leakPerStep, lines: func(step int, used float64) string {
		return fmt.Sprintf("2026-01-12 16:13:00 | INFO | train_inner | epoch 001:   %4d / 5000 loss=2.1, ppl=4.3, wps=100, num_updates=%d, lr=1e-4, gb_free=%.1f, wall=20\n", step, step, 23.6-gb(used))
	}},
	"Megatron-LM": {quantity: "allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("[Rank 0] (after %d iterations) memory (MB) | allocated: %.4f | max allocated: %.4f | reserved: %.1f | max reserved: %.1f\n", step, used, used+900, used+1200, used+1200)
	}},
	"DeepSpeed": {quantity: "allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf(`[2026-01-12 16:13:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=%d, skipped=0, lr=[0.0001]
[2026-01-12 16:13:00,100] [INFO] [utils.py:780:see_memory_usage] After step
[2026-01-12 16:13:00,100] [INFO] [utils.py:781:see_memory_usage] MA %.2f GB         Max_MA %.2f GB         CA %.2f GB         Max_CA %.0f GB
[2026-01-12 16:13:00,100] [INFO] [utils.py:788:see_memory_usage] CPU Virtual Memory:  used = 28.43 GB, percent = 22.6%%
`, step, gb(used), gb(used+900), gb(used+1200), gb(used+1500))
	}},
	"Lightning's bar": {quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf("Epoch 0:  10%%|#  | %d/2000 [00:12<01:02, 1.50it/s, v_num=3, train_loss=0.5, gpu_mem=%.2f]\n", step, gb(used))
	}},
	"Lightning's statistics": {quantity: "allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("step %d {'DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.current': %.0f}\n", step, used*1024*1024)
	}},
	"Lightning's CSV": {
		header:   "epoch,step,train_loss,DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.current\n",
		quantity: "allocated", lines: func(step int, used float64) string {
			return fmt.Sprintf("0,%d,,%.1f\n", step, used*1024*1024)
		},
	},
	"Transformers by epoch": {quantity: "allocated", unit: "MiB/epoch", rate: 1000 * leakPerStep, lines: func(step int, used float64) string {
		return fmt.Sprintf("{'loss': 0.5, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': %.2f, 'gpu_mem_alloc': %.0f}\n", float64(step)/1000, used*1024*1024)
	}},
	"Transformers, numbers as texts": {quantity: "max allocated", unit: "MiB/epoch", rate: 1000 * leakPerStep, lines: func(step int, used float64) string {
		return fmt.Sprintf("{'loss': '0.5', 'memory/max_allocated (GiB)': '%.2f', 'epoch': '%.3f'}\n", gb(used), float64(step)/1000)
	}},
	"torchtune": {quantity: "max allocated", lines: func(step int, used float64) string {
		return fmt.Sprintf("Step %d | loss:2.1 lr:1e-05 tokens_per_second_per_gpu:2000 peak_memory_alloc:%.3f peak_memory_reserved:%.3f\n", step, gb(used), gb(used+500))
	}},
	"torchtitan": {quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf("[titan] 2026-01-12 16:13:00,000 - root - INFO - step: %2d  loss: 2.1  memory: %.2fGiB(%.2f%%)  tps: 2,000  mfu: 10%%\n", step, gb(used), gb(used)/24*100)
	}},
	"verl": {quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf("step:%d - actor/loss:0.5\n(WorkerDict pid=17) Before vllm offload in sharding manager: %.2f GB / 23.65 GB.\n", step, gb(used))
	}},
	"tqdm": {quantity: "device", lines: func(step int, used float64) string {
		return fmt.Sprintf("\repoch 3:  10%%|#  | %d/2000 [00:12<01:02, 1.5it/s, loss=0.5, mem=%.2fG]", step, gb(used))
	}},
	"YOLO": {quantity: "reserved", unit: "MiB/epoch", rate: 10 * leakPerStep, lines: func(step int, used float64) string {
		return fmt.Sprintf(`      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
      %d/100      %.3gG      1.2      2.1      1.1         31        640:  50%%|#####| 5/10 [00:05<00:10, 9.9it/s]`+"\r"+`      %[1]d/100      %.3[2]gG      1.2      2.1      1.1         31        640: 100%%|#####| 10/10 [00:10<00:00, 9.9it/s]
                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%%|##########| 4/4 [00:01<00:00, 2.5it/s]
                   all        128        929       0.65       0.53       0.61       0.44
`, step/10, gb(used))
	}},
	"MLX": {quantity: "max allocated", end: macFull, lines: func(step int, used float64) string {
		return fmt.Sprintf("Iter %d: Train loss 2.1, Learning Rate 1.000e-05, It/sec 1.2, Tokens/sec 400, Trained Tokens %d, Peak mem %.3f GB\n", step, step*10, gb(used))
	}},
	"resident memory": {quantity: "host", end: hostFull, lines: func(step int, used float64) string {
		return fmt.Sprintf("step %d rss=%.1f MB\n", step, used)
	}},
	"RAM": {quantity: "host", end: hostFull, lines: func(step int, used float64) string {
		return fmt.Sprintf("step %d: RAM used: %.2f GB (%.1f%%)\n", step, gb(used), gb(used)/64*100)
	}},
	"highest resident memory": {quantity: "max host", end: hostFull, lines: func(step int, used float64) string {
		return fmt.Sprintf("iter %d max RSS: %.0f kB\n", step, used*1024)
	}},
}

// Whoever prints the memory of a run that leaks 20 MiB a step, the rate is read
// off it, and the step or the epoch at which the memory is full is about the one
// at which the run failed.
func TestMemoryIsFollowedWhoeverPrintsIt(t *testing.T) {
	diagnoser := NewDiagnoser(Options{})
	for name, source := range memorySources {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			log.WriteString(source.header)
			for step := 0; step <= leakEnd; step += 10 {
				log.WriteString(source.lines(step, leakStart+leakPerStep*float64(step)))
			}
			end := source.end
			if end == "" {
				end = deviceFull
			}
			d, err := diagnoser.Diagnose(t.Context(), []crash.Input{{Name: "log", Reader: strings.NewReader(log.String() + "\n" + end)}})
			require.NoError(t, err)
			g := d.Growth
			require.NotNil(t, g)
			assert.Equal(t, source.quantity, g.Quantity)
			assert.Equal(t, "steady", g.Shape)
			rate, unit := source.rate, source.unit
			if rate == 0 {
				rate = leakPerStep
			}
			if unit == "" {
				unit = "MiB/step"
			}
			assert.Equal(t, unit, g.Unit)
			assert.InEpsilon(t, rate, g.Slope, 0.05)
			switch {
			case source.end == macFull: // nothing tells how much there was
				assert.Equal(t, "memory.other-library", d.Failure)
				assert.Equal(t, leakEnd, *g.FailedStep)
			case unit == "MiB/step":
				require.NotNil(t, g.PredictedStep)
				require.NotNil(t, g.FailedStep)
				assert.Equal(t, leakEnd, *g.FailedStep)
				assert.InEpsilon(t, leakEnd, *g.PredictedStep, 0.1)
			case unit == "MiB/epoch":
				require.NotNil(t, g.PredictedEpoch)
				require.NotNil(t, g.FailedEpoch)
				assert.InEpsilon(t, *g.FailedEpoch, *g.PredictedEpoch, 0.1)
			}
			if source.end == "" {
				assert.Equal(t, "memory.cuda-oom.graph-retained", d.Failure)
			}
			assert.Contains(t, d.Text(100, false), "▁▁")
		})
	}
}
