package server

import (
	"encoding/json"
	"fmt"

	"go.lsp.dev/protocol"
)

// section is the name under which the user's editor keeps our settings.
const section = "graphleak"

// settings are what the user has chosen in the editor. See docs/settings.md.
type settings struct {
	// Scan says which files are checked: those that are open, or all of the
	// workspace.
	Scan scanMode `json:"scan"`
}

type scanMode string

const (
	scanOpenFiles scanMode = "openFiles"
	scanWorkspace scanMode = "workspace"
)

// parseSettings reads settings as the client sends them: the section itself, or
// an object that holds it. What is missing has its default, what is not
// understood too, and the error says so.
func parseSettings(raw protocol.LSPAny) (settings, error) {
	out := settings{Scan: scanOpenFiles}
	var nested map[string]json.RawMessage
	if json.Unmarshal(raw, &nested) == nil {
		if inner, ok := nested[section]; ok {
			raw = protocol.LSPAny(inner)
		}
	}
	if len(raw) == 0 || string(raw) == "null" {
		return out, nil
	}
	var read settings
	if err := json.Unmarshal(raw, &read); err != nil {
		return out, fmt.Errorf("the settings of graphleak are not understood: %w", err)
	}
	switch read.Scan {
	case "", scanOpenFiles:
	case scanWorkspace:
		out.Scan = read.Scan
	default:
		return out, fmt.Errorf("graphleak.scan is %q, which is neither %q nor %q", read.Scan, scanOpenFiles, scanWorkspace)
	}
	return out, nil
}

// configure makes what the user has chosen take effect.
func (s *server) configure(view *snapshot, raw protocol.LSPAny) {
	chosen, err := parseSettings(raw)
	if err != nil {
		s.log.warnf("%v", err)
	}
	if chosen == view.settings {
		return
	}
	next := *view
	next.settings = chosen
	s.session.set(&next)
	s.scan.keep(&next, chosen.Scan == scanWorkspace)
}

// didChangeConfiguration is told that settings have changed. Clients that can be
// asked for them say no more than that.
func (s *server) didChangeConfiguration(params *protocol.DidChangeConfigurationParams) error {
	view := s.session.snapshot()
	if view.client.configuration {
		go s.fetchSettings()
		return nil
	}
	s.configure(view, params.Settings)
	return nil
}

// fetchSettings asks the client for the settings. One question at a time: what
// takes effect last is then what the client has said last.
func (s *server) fetchSettings() {
	s.asking.Lock()
	defer s.asking.Unlock()
	name := section
	values, err := s.client.Configuration(s.ctx, &protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: &name}}})
	switch {
	case s.ctx.Err() != nil:
	case err != nil:
		s.log.warnf("asking for the settings: %v", err)
	case len(values) == 1:
		s.update(func(view *snapshot) { s.configure(view, values[0]) })
	}
}
