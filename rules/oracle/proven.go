package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// shown is what PyTorch shows of one rule: of how many findings in its fixtures that
// what they say is kept is kept, and of how many functions and classes in which it is
// silent that it is right to be.
type shown struct {
	Fired  int `json:"fired"`
	Silent int `json:"silent"`
}

// record is what was shown by one PyTorch. The table of rules is written from it.
type record struct {
	PyTorch string           `json:"pytorch"` // its version, without the last part
	Rules   map[string]shown `json:"rules"`
}

func readRecord(path string) (record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return record{}, err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r record) write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// compare says where less is shown than was recorded, and whether anything else is.
func (r record) compare(now record) (less []string, more bool) {
	for _, rule := range slices.Sorted(maps.Keys(r.Rules)) {
		before, after := r.Rules[rule], now.Rules[rule]
		if after.Fired < before.Fired {
			less = append(less, fmt.Sprintf("%s: %d findings are proven, %d were", rule, after.Fired, before.Fired))
		}
		if after.Silent < before.Silent {
			less = append(less, fmt.Sprintf("%s: %d silent ones are proven, %d were", rule, after.Silent, before.Silent))
		}
	}
	return less, len(less) == 0 && !maps.Equal(r.Rules, now.Rules)
}
