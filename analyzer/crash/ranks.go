package crash

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	rankInName = regexp.MustCompile(`(?i)(?:rank|worker|process|proc|gpu|task)[-_.]?(\d{1,6})`)
	rankAsName = regexp.MustCompile(`(?i)(?:^|/)rank[-_.]?(\d{1,6})(?:\.\w+)*$`)
	torchrunID = regexp.MustCompile(`(?:^|/)attempt_\d+/(\d{1,6})/[^/]*$`)
	// The words for the two outputs of one process.
	outputWord = regexp.MustCompile(`(?i)\b(?:std)?(?:out|err)\b`)
	numberRun  = regexp.MustCompile(`\d+`)
)

// inputRanks reads the rank off the name of each input: "rank3.log",
// "attempt_0/3/stderr.log", or the one number in which the names differ. Where
// none has one, several inputs are ranks in their order, the standard output and
// the standard error of a process being one. One input alone is most often the
// output of all ranks, so only a name that says nothing else counts.
func inputRanks(inputs []Input) []int {
	ranks := make([]int, len(inputs))
	names := make([]string, len(inputs))
	found := false
	for i, in := range inputs {
		names[i] = filepath.ToSlash(in.Name)
		ranks[i] = rankOfName(names[i], len(inputs) == 1)
		found = found || ranks[i] >= 0
	}
	if found || len(inputs) < 2 {
		return ranks
	}
	if numbered := ranksByNumber(names); numbered != nil {
		return numbered
	}
	var stems []string
	for i, name := range names {
		stem := outputWord.ReplaceAllString(name, "")
		if !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
		ranks[i] = slices.Index(stems, stem)
	}
	if len(stems) == 1 {
		for i := range ranks {
			ranks[i] = -1
		}
	}
	return ranks
}

// rankOfName is the rank that a name says, or -1. The part nearest to the file
// counts.
func rankOfName(name string, alone bool) int {
	if alone {
		if m := rankAsName.FindStringSubmatch(name); m != nil {
			return number(m[1])
		}
		return -1
	}
	if m := torchrunID.FindStringSubmatch(name); m != nil {
		return number(m[1])
	}
	parts := strings.Split(name, "/")
	for i := len(parts) - 1; i >= max(0, len(parts)-4); i-- {
		if m := rankInName.FindStringSubmatch(parts[i]); m != nil {
			return number(m[1])
		}
	}
	return -1
}

// ranksByNumber finds the number that differs between names that are otherwise
// alike, nil if they are not or if several numbers could be it.
func ranksByNumber(names []string) []int {
	shape := func(name string) string {
		return numberRun.ReplaceAllString(outputWord.ReplaceAllString(name, ""), "0")
	}
	var columns [][]int
	for i, name := range names {
		if shape(name) != shape(names[0]) {
			return nil
		}
		runs := numberRun.FindAllString(name, -1)
		if i == 0 {
			columns = make([][]int, len(runs))
		}
		if len(runs) != len(columns) {
			return nil
		}
		for c, run := range runs {
			columns[c] = append(columns[c], number(run))
		}
	}
	var ranks []int
	for _, column := range columns {
		if distinct := slices.Compact(slices.Sorted(slices.Values(column))); len(distinct) < 2 || distinct[0] < 0 {
			continue
		}
		if ranks != nil {
			return nil
		}
		ranks = column
	}
	return ranks
}
