package flow

import (
	"cmp"
	"slices"

	"github.com/graphleak/graphleak/analyzer/syntax"
	"github.com/graphleak/graphleak/analyzer/torch"
)

// KeptPredictions is a Trainer that keeps the predictions of a whole evaluation
// on the device.
type KeptPredictions struct {
	// Trainer is the call that makes it.
	Trainer Location
	// Metrics is its argument for which it keeps them.
	Metrics Location
	// Model is the call that made the model, whose predictions are wide.
	Model Location
	// Settings is the call that made its settings, if one did.
	Settings *Location
}

// newSettings are the settings of a Trainer.
func (in *interpreter) newSettings(n syntax.NodeID, name string, args arguments) *Value {
	id, info := in.newObject(objectKey{at: in.site(n), kind: objectUnknown, name: name})
	in.renew(id)
	info.args = args
	return object(id)
}

// newTrainer notes a Trainer that is made at n with arguments.
func (in *interpreter) newTrainer(n syntax.NodeID, args arguments) {
	metrics, settings, model := args.named("compute_metrics"), args.at(1, "args"), args.at(0, "model")
	if in.frame.module != in.main || args.star != nil || metrics == nil || !metrics.is(KindObject) ||
		isSet(args.named("preprocess_logits_for_metrics")) || isSet(args.named("model_init")) || model == nil {
		return
	}
	kept := KeptPredictions{Trainer: Location{in.main, n}, Metrics: Location{in.main, args.source(-1, "compute_metrics", n)}}
	for _, id := range model.objects {
		if at := in.wideModel(id); at.Module != nil {
			kept.Model = at
		}
	}
	if kept.Model.Module == nil || settings != nil && !in.keepsAll(settings, &kept) {
		return
	}
	in.predictions[codeKey{in.main, n}] = kept
}

// isSet reports whether an argument is there and not None.
func isSet(v *Value) bool { return v != nil && v.kinds != KindNone }

// wideModel is the call that made a model with wide predictions, or the zero
// Location.
func (in *interpreter) wideModel(id ObjectID) Location {
	for range maxReach {
		info := in.objects[id]
		if info.kind != objectModule {
			break
		}
		if torch.WideOutput(info.name) {
			return Location{info.at.module, info.at.node}
		}
		id = info.parent // of an adapter: what it was put on
	}
	return Location{}
}

// keepsAll reports whether settings are known, and let all predictions stay on
// the device.
func (in *interpreter) keepsAll(settings *Value, kept *KeptPredictions) bool {
	for _, id := range settings.objects {
		info := in.objects[id]
		if info.kind != objectUnknown || !torch.EvaluationSettings(info.name) || info.args.star != nil {
			return false
		}
		for bound := range torch.BoundsPredictions {
			if v := info.args.named(bound); isSet(v) && v.literal != false || in.state.get(Place{id, in.symbol(bound)}) != nil {
				return false
			}
		}
		kept.Settings = &Location{info.at.module, info.at.node}
	}
	return kept.Settings != nil
}

// keptPredictions are the Trainers that keep predictions, by position.
func (in *interpreter) keptPredictions() []KeptPredictions {
	var out []KeptPredictions
	for _, k := range in.predictions {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b KeptPredictions) int { return cmp.Compare(a.Trainer.Node, b.Trainer.Node) })
	return out
}

// evaluatesByItself reports whether a class of the program says how it
// evaluates.
func (in *interpreter) evaluatesByItself(class ObjectID) bool {
	for name := range torch.OwnEvaluation {
		if v, _ := in.classAttribute(class, in.symbol(name)); v != nil {
			return true
		}
	}
	return false
}
