package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// measuring is a loop over epochs in which a metric is updated, with code at the
// end of each.
func measuring(metric, update, end string) string {
	return strings.NewReplacer("METRIC", metric, "UPDATE", update, "END", end).Replace(`import torchmetrics
from ignite.metrics import ROC_AUC

def run(model: nn.Module, loader, epochs, device, logger, targets):
    metric = METRIC
    for epoch in range(epochs):
        for x, y in loader:
            with torch.no_grad():
                UPDATE
        END
`)
}

func TestMetricsThatNothingResets(t *testing.T) {
	const auroc, update, compute = "torchmetrics.AUROC(task='binary')", "metric.update(model(x), y)", "print(metric.compute())"
	for _, c := range []struct {
		name, metric, update, end string
		kept                      bool
	}{
		{"computed", auroc, update, compute, true},
		{"on a device", auroc + ".to(device)", update, compute, true},
		{"a copy", auroc + ".clone()", update, compute, true},
		{"called", auroc, "value = metric(model(x), y)", "print(value)", true},
		{"called and computed", auroc, "metric(model(x), y)", compute, true},
		{"several", "torchmetrics.MetricCollection({'a': " + auroc + "})", update, compute, true},
		{"of Ignite", "ROC_AUC()", "metric.update((model(x), y))", compute, true},
		{"reset", auroc, update, compute + "\n        metric.reset()", false},
		{"reset now and then", auroc, update, compute + "\n        if epoch % 5 == 0: metric.reset()", false},
		{"never computed", auroc, update, "pass", false},
		{"in bins", "torchmetrics.AUROC(task='binary', thresholds=100)", update, compute, false},
		{"without bins", "torchmetrics.AUROC(task='binary', thresholds=None)", update, compute, true},
		{"with arguments from elsewhere", "torchmetrics.AUROC(**targets)", update, compute, false},
		{"sums", "torchmetrics.Accuracy(task='binary')", update, compute, false},
		{"several that are sums", "torchmetrics.MetricCollection([torchmetrics.Accuracy(task='binary')])", update, compute, false},
		{"handed on", auroc, update, compute + "\n        logger.log(metric)", false},
		{"handed on with others", auroc, update, compute + "\n        logger.log({'auroc': metric})", false},
		{"computed in each step", auroc, update + "; print(metric.compute())", "pass", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			metrics := facts(t, measuring(c.metric, c.update, c.end)).Metrics
			if !c.kept {
				assert.Empty(t, metrics)
				return
			}
			require.Len(t, metrics, 1)
			m := metrics[0]
			assert.Equal(t, "metric", m.Object.Text())
			assert.Contains(t, m.Loop.Text(), "for x, y in")
			assert.Contains(t, m.Around.Text(), "for epoch in")
			assert.Equal(t, strings.Contains(c.end, "compute"), m.Computed != nil)
		})
	}
}
