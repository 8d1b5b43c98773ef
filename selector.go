package main

import (
	"github.com/graphleak/graphleak/rules/config"
	"github.com/graphleak/graphleak/rules/leaks"
)

// selector names rules on the command line.
type selector config.Selector

// UnmarshalText is called by kong for each element of a list.
func (s *selector) UnmarshalText(text []byte) error {
	*s = selector(text)
	return config.Selector(text).Check(leaks.All())
}

// selectors are those of a flag, nil if it was not given.
func selectors(flag []selector) []config.Selector {
	var out []config.Selector
	for _, s := range flag {
		out = append(out, config.Selector(s))
	}
	return out
}
