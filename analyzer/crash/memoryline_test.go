package crash

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMemoryIsReadOffLines(t *testing.T) {
	for text, want := range map[string]string{
		// what programs print by themselves
		"step 10 loss 0.3 allocated 123 MiB":   "allocated 123.00 MiB",
		"step 10 memory_allocated: 1048576000": "allocated 1000.00 MiB",
		"iter 3 | allocated (MiB)=12.5":        "allocated 12.50 MiB",
		"step 4: 1.5 GiB allocated":            "allocated 1.50 GiB",
		"step 4 alloc=7.3G":                    "allocated 7.30 GiB",
		"step 4 gpu mem alloc: 900 MB":         "allocated 900.00 MiB",
		"step 4 allocated GB: 14.2":            "allocated 14.20 GiB",
		"step 4 max_memory_allocated 99 MiB":   "max allocated 99.00 MiB",
		"[GPU] torch.cuda.memory_allocated: 3.25GB torch.cuda.memory_reserved: 4.5GB": "allocated 3.25 GiB, reserved 4.50 GiB",
		"Step 10, GPU memory used: 10.25 GB, cached: 11.00 GB":                        "device 10.25 GiB, reserved 11.00 GiB",
		"peak GPU memory used: 3 GB":                                                  "max device 3.00 GiB",
		"cuda:0 memory: 1234 MB":                                                      "device 1.21 GiB",
		"step   20 loss 0.0567 rss 302.4 MiB":                                         "host 302.40 MiB",
		"VmRSS:   302400 kB":                                                          "host 295.31 MiB",
		"RAM used: 14.45 GB":                                                          "host 14.45 GiB",
		"cpu mem 12.3GB, gpu mem 4.0GB":                                               "host 12.30 GiB, device 4.00 GiB",
		"before backward: allocated 3.00 GiB":                                         "allocated 3.00 GiB (before backward)",
		"{'loss': 2.3, 'memory/max_mem_allocated(gib)': 12.31, 'memory/device_mem_reserved(gib)': 14.5, 'epoch': 0.1}": "max allocated 12.31 GiB, reserved 14.50 GiB",
		"Mem: 2.2248687744140625 G":                                       "device 2.22 GiB",
		"step 3 | mem alloc=1.50GB reserved=4.50GB":                       "allocated 1.50 GiB, reserved 4.50 GiB",
		"  VRAM allocated: 1.500 GB":                                      "allocated 1.50 GiB",
		"  VRAM peak:     2.500 GB":                                       "max allocated 2.50 GiB",
		"GPU memory after transcription: 1.25GB allocated":                "device 1.25 GiB (after)",
		"Engine ready in 3.1s (VRAM: 1200MB)":                             "device 1.17 GiB",
		"using     123 MB of RAM":                                         "host 123.00 MiB",
		"[block] prove=1.2s peakGPU=3.25GB":                               "max allocated 3.25 GiB",
		"[GPU Memory - eval] Allocated: 1.25GB | Reserved: 2.50GB":        "allocated 1.25 GiB (eval), reserved 2.50 GiB (eval)",
		"chunk at 3: 1.20s, allocated 1.50 GiB, peak 3.50, reserved 2.50": "allocated 1.50 GiB",
		"peak alloc: 3.25 GB":                                             "max allocated 3.25 GiB",
		"cuda_max_mem_MiB: 1234":                                          "max allocated 1.21 GiB",
		// frameworks
		"2026-01-12 16:13:00 - mmcv - INFO - Epoch [1][3100/23454] lr: 1.0e-02, eta: 1 day, time: 0.5, data_time: 0.01, memory: 6814, loss: 0.9": "max allocated 6.65 GiB",
		`{"mode": "train", "epoch": 1, "iter": 50, "lr": 0.002, "memory": 6814, "data_time": 0.3}`:                                               "max allocated 6.65 GiB",
		"Iter(train) [   50/90000]  base_lr: 1.0e-04 eta: 1 day  time: 0.5  memory: 6814  loss: 1.2":                                             "max allocated 6.65 GiB",
		"eta: 1:02:03  iter: 99  total_loss: 1.2  time: 0.3  lr: 0.02  max_mem: 5120M":                                                           "max allocated 5.00 GiB",
		"epoch 001:    100 / 1000 loss=7.2, num_updates=100, lr=1e-05, gnorm=2.1, train_wall=12, gb_free=10.2, wall=15":                          "device free 10.20 GiB",
		"[Rank 0] (after 100 iterations) memory (MB) | allocated: 5120.5 | max allocated: 6000.0 | reserved: 7000.0 | max reserved: 7100.0":      "allocated 5.00 GiB, max allocated 5.86 GiB, reserved 6.84 GiB, max reserved 6.93 GiB",
		"MA 11.76 GB         Max_MA 11.80 GB         CA 11.77 GB         Max_CA 12 GB ":                                                          "allocated 11.76 GiB, max allocated 11.80 GiB, reserved 11.77 GiB, max reserved 12.00 GiB",
		"CPU Virtual Memory:  used = 28.43 GB, percent = 22.6%":                                                                                  "host used 28.43 GiB",
		"[step=100, rank 0] CurrSamplesPerSec=12.1, MemAllocated=4.35GB, MaxMemAllocated=12.11GB":                                                "allocated 4.35 GiB, max allocated 12.11 GiB",
		"Iter 30: Train loss 2.1, Learning Rate 1e-5, It/sec 0.5, Tokens/sec 200.1, Trained Tokens 1234, Peak mem 45.742 GB":                     "max allocated 45.74 GiB",
		"Before vllm offload in sharding manager: 58.32 GB / 79.19 GB.":                                                                          "device 58.32 GiB of 79.19 GiB (Before vllm offload in sharding manager)",
		"step: 10  loss: 8.0  grad_norm: 1.1  memory: 35.02GiB(36.86%)  tps: 1,234":                                                              "device 35.02 GiB",
		" 45%|####5     | 450/1000 [00:12<00:15, 36.1it/s, loss=0.31, mem=7.3G]":                                                                 "device 7.30 GiB",
		// tools
		"|  0%   45C    P0    60W / 300W |  12799MiB / 16280MiB |     87%      Default |":   "device 12.50 GiB of 15.90 GiB",
		"| Allocated memory      |   10240 MiB |   12288 MiB |   40960 MiB |   30720 MiB |": "allocated 10.00 GiB",
		"| GPU reserved memory   |   12.5 GiB  |   12.5 GiB  |   12.5 GiB  |      0 B   |":  "reserved 12.50 GiB",
		// and what is none
		"step 4 the allocator was set":      "",
		"step 4 CUDA has 1 allocated":       "",
		"GPU memory usage: 87%":             "",
		"Total GPU memory: 24 GB":           "",
		"total memory 24.0 GB, limit 20 GB": "",
		"model size: 12.3 GB, params 7 B":   "",
		"CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has 1.00 GiB memory in use": "",
		"epoch 3 batch 128 lr 0.001":     "",
		"pinned memory is on, 8 workers": "",
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, r := range readMemory(text) {
				s := fmt.Sprintf("%s %v", r.of, r.size)
				if r.capacity.said() {
					s += fmt.Sprintf(" of %v", r.capacity)
				}
				if r.phase != "" {
					s += " (" + r.phase + ")"
				}
				got = append(got, s)
			}
			assert.Equal(t, want, strings.Join(got, ", "))
		})
	}
}
