package failures

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPagesFitTogether(t *testing.T) {
	pages := Pages()
	assert.NotEmpty(t, pages)
}
