package fixes

import (
	"fmt"
	"strconv"

	"github.com/graphleak/graphleak/analyzer/flow"
	"github.com/graphleak/graphleak/rules"
)

// stepsOnDevice is after how many steps of an evaluation its predictions are
// moved to the host: few enough to matter, enough to be no burden.
const stepsOnDevice = 16

// MovePredictions is the fix of a Trainer that keeps all predictions on the
// device: they are moved to the host every few steps. They go there in the end
// anyway, so that the metrics are the same.
func MovePredictions(k flow.KeptPredictions) []rules.Fix {
	if k.Settings == nil || k.Settings.Module != k.Trainer.Module {
		return nil
	}
	edit := keyword(*k.Settings, "eval_accumulation_steps", strconv.Itoa(stepsOnDevice))
	return []rules.Fix{{
		Title:  fmt.Sprintf("Move the predictions to the host every %d steps", stepsOnDevice),
		Safety: rules.Safe, Edits: []rules.FileEdit{{Path: k.Settings.Module.Path, Edit: edit}},
	}}
}
