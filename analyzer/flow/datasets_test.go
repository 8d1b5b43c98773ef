package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loading is a loader over a data set whose constructor runs code.
func loading(code, arguments string) string {
	return strings.NewReplacer("CODE", indented(code, 2), "ARGUMENTS", arguments).Replace(`import csv, glob, json, os
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __init__(self, path, rows):
CODE
    def __getitem__(self, i):
        return self.kept[i]

def load(path, rows, workers):
    return DataLoader(Data(path, rows), ARGUMENTS)
`)
}

func TestWhatWorkersCopy(t *testing.T) {
	for code, copied := range map[string]bool{
		"self.kept = json.load(open(path))":                                                                                     true,
		"self.kept = json.load(open(path))['images'][:1000]":                                                                    true,
		"self.kept = list(csv.reader(open(path)))":                                                                              true,
		"self.kept = open(path).readlines()":                                                                                    true,
		"self.kept = [(p, os.path.basename(p)) for p in glob.glob(path)]":                                                       true,
		"self.kept = {p: [p, len(p)] for p in os.listdir(path)}":                                                                true,
		"self.kept = []\nfor p in os.listdir(path):\n    self.kept.append((p, 1))":                                              true,
		"kept = []\nfor p in os.listdir(path):\n    kept.append({'p': p})\nself.kept = sorted(kept)":                            true,
		"self.kept = []\nfor line in open(path):\n    self.kept.append(json.loads(line))":                                       true,
		"self.kept = []\nwith open(path) as f:\n    for line in f:\n        a = line.strip()\n        self.kept.append([a, 0])": true,
		"self.kept = []\nfor p in os.listdir(path):\n    self.kept.append(p)":                                                   false,
		"self.kept = []\nfor a, b in rows:\n    self.kept.append((a, b))":                                                       false,
		"self.kept = []\nfor p in os.listdir(path):\n    self.kept.append((p, torch.load(p)))":                                  false,
		"self.kept = []\nfor p in os.listdir(path):\n    x = torch.load(p)\n    self.kept.append((p, x))":                       false,
		"self.kept = []\nfor p in ('a', 'b'):\n    self.kept.append((p, len(p)))":                                               false,
		"self.kept = []\nfor i in range(3):\n    self.kept.append((str(i), 1))":                                                 false,
		"self.kept = [(str(i), 1) for i in range(len(rows))]":                                                                   true,
		"self.kept = torch.tensor(json.load(open(path)))":                                                                       false,
		"self.kept = rows": false,
		"self.kept = []\nself.kept.append((path, 1))": false,
		"self.other = json.load(open(path))":          false,
	} {
		loaders := facts(t, loading(code, "num_workers=4")).Loaders
		if !copied {
			assert.Empty(t, loaders, code)
			continue
		}
		require.Len(t, loaders, 1, code)
		assert.Equal(t, "kept", loaders[0].Name)
		assert.Equal(t, 4, loaders[0].Count)
		assert.Equal(t, "4", loaders[0].Workers.Text())
		assert.Equal(t, "self.kept[i]", loaders[0].Read.Text())
	}
}

func TestDataSetsWithinOthers(t *testing.T) {
	for dataset, copied := range map[string]bool{
		"Subset(Data(path, rows), rows)":                      true,
		"random_split(Data(path, rows), [4, 2])[0]":           true,
		"ConcatDataset([Data(path, rows), Data(path, rows)])": true,
		"Subset(rows, [1, 2])":                                false,
		"ConcatDataset(rows)":                                 false,
	} {
		src := strings.Replace(loading("self.kept = json.load(open(path))", "num_workers=4"), "DataLoader(Data(path, rows)", "DataLoader("+dataset, 1)
		src = strings.Replace(src, "import DataLoader, Dataset", "import ConcatDataset, DataLoader, Dataset, Subset, random_split", 1)
		assert.Len(t, facts(t, src).Loaders, map[bool]int{true: 1}[copied], dataset)
	}
}

func TestLoadersWithoutWorkers(t *testing.T) {
	for arguments, workers := range map[string]string{
		"num_workers=0": "", "batch_size=4": "", "**rows": "", "num_workers=workers": "workers", "4, False, None, None, 2": "2",
	} {
		loaders := facts(t, loading("self.kept = json.load(open(path))", arguments)).Loaders
		if workers == "" {
			assert.Empty(t, loaders, arguments)
			continue
		}
		require.Len(t, loaders, 1, arguments)
		assert.Equal(t, workers, loaders[0].Workers.Text())
	}
}
