package torch

import (
	"path"
	"strings"
)

// TorchMetrics updates and computes without recording graphs, so sums keep none.
// What a metric stores as it is given, such as CatMetric, keeps its graph. The
// value that a call of a metric returns has one.
var torchmetrics = Library{
	Packages: []string{"torchmetrics"},
	Source:   "TorchMetrics documentation, Overview and Implementing a Metric; its sources metric.py and aggregation.py",
	Calls: map[Role]string{
		MakesHelper: `[A-Z]*[a-z] [A-Z]*[A-Z]`,
		Collects:    `CatMetric.update`,
		Shows:       `*.update`,
		Cuts:        `*.compute`,
		Resets:      `*.reset`,
		Passes:      `CatMetric.forward *.forward`,
	},
	Hosts: []Host{{
		Class: "Metric",
		Hooks: map[When]string{
			EpochStart: `reset()`,
			Step:       `update(preds target)`,
			EpochEnd:   `compute()`,
		},
		Unrecorded: `update compute`,
		Calls:      `update`,
	}},
}

// KeepsSamples reports whether the state of a metric, by the dotted name of its
// class, grows with every update: it keeps predictions and targets as they are.
// Most metrics keep a few sums instead. isGiven says which arguments it was made
// with; those that make it count in bins bound it. Source: what the classes of
// TorchMetrics pass to add_state, and those of Ignite that derive from EpochMetric.
func KeepsSamples(dotted string, isGiven func(argument string) bool) bool {
	first, _, _ := strings.Cut(dotted, ".")
	_, class := cutLast(dotted)
	switch first {
	case "ignite":
		return igniteSamples[class]
	case "torchmetrics":
		if torchmetricsSamples[class] {
			return true
		}
		for _, curve := range curves {
			if ok, _ := path.Match(curve, class); ok {
				return !isGiven("thresholds")
			}
		}
	}
	return false
}

// KeepsOnHost reports whether a metric that keeps samples moves them to the host
// unless it is told otherwise.
func KeepsOnHost(dotted string) bool { return strings.HasPrefix(dotted, "ignite.") }

// CollectsMetrics reports whether a class does with several metrics what it is
// told to do.
func CollectsMetrics(dotted string) bool {
	_, class := cutLast(dotted)
	return class == "MetricCollection" && strings.HasPrefix(dotted, "torchmetrics.")
}

var (
	torchmetricsSamples = set(`CatMetric SpearmanCorrCoef KendallRankCorrCoef CosineSimilarity
		CalibrationError BinaryCalibrationError MulticlassCalibrationError
		MeanAveragePrecision IntersectionOverUnion GeneralizedIntersectionOverUnion DistanceIntersectionOverUnion CompleteIntersectionOverUnion
		RetrievalMAP RetrievalMRR RetrievalNormalizedDCG RetrievalPrecision RetrievalRecall RetrievalHitRate RetrievalFallOut
		RetrievalRPrecision RetrievalAUROC RetrievalPrecisionRecallCurve RetrievalRecallAtFixedPrecision
		InceptionScore KernelInceptionDistance MemorizationInformedFrechetInceptionDistance
		SpectralDistortionIndex SpatialDistortionIndex QualityWithNoReference
		ErrorRelativeGlobalDimensionlessSynthesis RelativeAverageSpectralError
		AdjustedRandScore RandScore MutualInfoScore AdjustedMutualInfoScore NormalizedMutualInfoScore
		HomogeneityScore CompletenessScore VMeasureScore FowlkesMallowsIndex CalinskiHarabaszScore DaviesBouldinScore DunnIndex
		BERTScore InfoLM`)
	// curves are the metrics over all thresholds, unless those are given.
	curves = strings.Fields(`*AUROC *ROC *AveragePrecision *PrecisionRecallCurve *RecallAtFixedPrecision *PrecisionAtFixedRecall
		*SensitivityAtSpecificity *SpecificityAtSensitivity`)
	igniteSamples = set(`EpochMetric ROC_AUC RocCurve AveragePrecision PrecisionRecallCurve MatthewsCorrCoef MedianAbsoluteError
		MedianAbsolutePercentageError MedianRelativeAbsoluteError SpearmanRankCorrelation KendallRankCorrelation
		SilhouetteScore DaviesBouldinScore CalinskiHarabaszScore`)
)
