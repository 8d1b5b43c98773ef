package names

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatAnAnalysisRestsOn(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	var d Dependencies
	d.Add(at("pkg/train.py"), 0, "meters", Import{Module: &Module{Path: at("meters.py")}})
	d.Add(at("pkg/train.py"), 0, "library.part", Import{Name: "library.part"})
	d.Add(at("pkg/train.py"), 0, "torch.nn", Import{Name: "torch.nn"})
	d.Add(at("pkg/train.py"), 1, "missing", Import{Name: ".missing"})
	d.Add(at("pkg/train.py"), 2, "data", Import{Module: &Module{Path: at("data/__init__.py")}})
	d.Add("", 1, "nowhere", Import{Name: ".nowhere"})
	assert.ElementsMatch(t, []string{at("meters.py"), at("data/__init__.py")}, d.Files())
	for name, want := range map[string]bool{
		"meters.py":                true,
		"data/__init__.py":         true,
		"pkg/meters.py":            true, // would be found first
		"meters/__init__.py":       true,
		"src/library/part.py":      true,
		"library/part/__init__.py": true,
		"pkg/missing.py":           true,
		"data.py":                  true,
		"missing.py":               false,
		"part.py":                  false,
		"library.py":               false,
		"torch/nn.py":              false,
		"meters2.py":               false,
		"pkg/train.py":             false,
		"nowhere.py":               false,
	} {
		assert.Equal(t, want, d.On(at(name)), name)
	}
	assert.False(t, Dependencies{}.On(at("meters.py")))
}
