package leaks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/graphleak/graphleak/rules"
)

// catalogue is the page with the table of all rules, which stands between marks.
const (
	catalogue  = "../../docs/rules.md"
	tableStart = "<!-- rules: go test ./rules/leaks -update -->\n"
	tableEnd   = "<!-- /rules -->\n"
)

func TestTheTableOfRules(t *testing.T) {
	page, err := os.ReadFile(catalogue)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(page), tableStart)
	require.True(t, found)
	_, after, found := strings.Cut(rest, tableEnd)
	require.True(t, found)
	want := table(t)
	if *update {
		require.NoError(t, os.WriteFile(catalogue, []byte(before+tableStart+want+tableEnd+after), 0o644))
		return
	}
	const how = "go test ./rules/leaks -run TestTheTableOfRules -update"
	got, _, _ := strings.Cut(rest, tableEnd)
	assert.Equal(t, counts.ReplaceAllString(want, "$3$4"), counts.ReplaceAllString(got, "$3$4"), how)
	there, said := counts.FindAllStringSubmatch(want, -1), counts.FindAllStringSubmatch(got, -1)
	require.Len(t, said, len(there), how)
	for i, row := range said { // fixtures may be added without a change of the page
		for j, n := range row[1:3] {
			least, err := strconv.Atoi(n)
			require.NoError(t, err)
			number, err := strconv.Atoi(there[i][j+1])
			require.NoError(t, err)
			assert.GreaterOrEqual(t, number, least, "%s: %s", row[0], how)
		}
	}
}

// counts are the numbers at the end of a line of the table: of fixtures, and of what
// is proven of them.
var counts = regexp.MustCompile(`(?m) (\d+) \| (\d+) \|( \d+ \|)( \d+ \|)$`)

// table has a line for each rule: what it finds, its severities, and in how many
// places of its fixtures it speaks and is silent.
func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| rule | finds | severity | fixtures: fired | silent | proven by PyTorch: fired | silent |\n|---|---|---|---|---|---|---|\n")
	proven := proven(t)
	for _, rule := range All() {
		fired, silent := shown(t, rule)
		severities := map[string]bool{}
		for _, want := range fired {
			severities[strings.Fields(want)[1]] = true
		}
		var graded []string
		for _, s := range []rules.Severity{rules.Error, rules.Warning, rules.Hint} {
			if severities[string(s)] {
				graded = append(graded, string(s))
			}
		}
		_, finds, _ := strings.Cut(rule.Title(), ": ")
		shown := proven[rule.Code]
		assert.LessOrEqual(t, shown.Fired, len(fired), "%s: go run ./rules/oracle -update", rule.Code)
		assert.LessOrEqual(t, shown.Silent, silent, "%s: go run ./rules/oracle -update", rule.Code)
		fmt.Fprintf(&b, "| [%s](../rules/leaks/%s/doc.md) %s | %s | %s | %d | %d | %d | %d |\n",
			rule.Code, rule.Name, rule.Name, finds, strings.Join(graded, ", "), len(fired), silent, shown.Fired, shown.Silent)
	}
	return b.String()
}

// proven is what the last run of rules/oracle showed by PyTorch, by rule.
func proven(t *testing.T) map[string]struct{ Fired, Silent int } {
	data, err := os.ReadFile("../oracle/proven.json")
	require.NoError(t, err)
	var record struct {
		Rules map[string]struct{ Fired, Silent int }
	}
	require.NoError(t, json.Unmarshal(data, &record))
	return record.Rules
}

// shown is what fixtures show of a rule: what it reports in them, and in how many
// functions and classes of silent_*.py it must not.
func shown(t testing.TB, rule *rules.Rule) (fired []string, silent int) {
	for _, path := range fixtures(t) {
		if !strings.HasPrefix(path, rule.Name+string(filepath.Separator)) || strings.HasSuffix(path, fixedSuffix) {
			continue
		}
		src := string(read(t, path).Text)
		for _, e := range expectations(src) {
			if strings.HasPrefix(e.want, rule.Code) {
				fired = append(fired, e.want)
			}
		}
		if strings.HasPrefix(filepath.Base(path), "silent_") {
			assert.Empty(t, expectations(src), path)
			silent += topLevelFunctions(src)
		}
	}
	return fired, silent
}

// TestRulesAreListedByCode holds All to the order in which people look for rules.
func TestRulesAreListedByCode(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(All(), func(a, b *rules.Rule) int { return strings.Compare(a.Code, b.Code) }))
}
