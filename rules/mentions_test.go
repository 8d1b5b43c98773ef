package rules

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMentionsTorch(t *testing.T) {
	for src, want := range map[string]bool{
		"import torch": true, "from transformers import Trainer": true, "loss.backward()": true,
		"": false, "import django": false, "def backward(): pass": false,
	} {
		assert.Equal(t, want, MentionsTorch([]byte(src)), src)
	}
}
