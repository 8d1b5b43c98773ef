package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMentionsTorch(t *testing.T) {
	for src, want := range map[string]bool{
		"import torch": true, "from transformers import Trainer": true, "loss.backward()": true,
		"import os, lightning.pytorch as pl\nx": true, "x = 1\nfrom timm.models import vit\n": true, "if x: import dgl": true,
		"import ctrl, transformers_like": false, "transformers = 1": false, "import os\ntimm = 1\nimport sys": false,
		"": false, "import django": false, "def backward(): pass": false,
	} {
		assert.Equal(t, want, MentionsTorch([]byte(src)), src)
	}
}
