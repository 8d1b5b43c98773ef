package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/config"
)

// section is the name under which the user's editor keeps our settings.
const section = "graphleak"

// settings are what the user has chosen in the editor. See docs/settings.md.
type settings struct {
	// Scan says which files are checked: those that are open, or all of the
	// workspace.
	Scan scanMode `json:"scan"`
	// What is said here about rules comes on top of the configuration files.
	config.Layer
}

type scanMode string

const (
	scanOpenFiles scanMode = "openFiles"
	scanWorkspace scanMode = "workspace"
)

// chosen are the settings in a workspace. Clients may have others for some of the
// folders.
type chosen struct {
	window  settings
	folders map[uri.URI]settings
}

// layer is what is set about the rules for the file at path.
func (v *snapshot) layer(path string) config.Layer {
	best, layer := "", v.chosen.window.Layer
	for id, s := range v.chosen.folders {
		if dir := id.FsPath(); path != "" && len(dir) > len(best) && within(path, []string{dir}) {
			best, layer = dir, s.Layer
		}
	}
	return layer
}

// parseSettings reads settings as the client sends them: the section itself, or
// an object that holds it. What is missing has its default, what is not
// understood too, and the error says so.
func parseSettings(raw protocol.LSPAny, all []*rules.Rule) (settings, error) {
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
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return out, fmt.Errorf("the settings of graphleak are not understood: %w", err)
	}
	var faults []error
	take := func(key string, value any) {
		if raw, ok := values[key]; ok {
			if err := json.Unmarshal(raw, value); err != nil {
				faults = append(faults, fmt.Errorf("the settings of graphleak are not understood: %s.%s: %w", section, key, err))
			}
		}
	}
	var read settings
	take("scan", &read.Scan)
	take("select", &read.Select)
	take("ignore", &read.Ignore)
	take("severity", &read.Severity)
	switch read.Scan {
	case "", scanOpenFiles:
	case scanWorkspace:
		out.Scan = read.Scan
	default:
		faults = append(faults, fmt.Errorf("graphleak.scan is %q, which is neither %q nor %q", read.Scan, scanOpenFiles, scanWorkspace))
	}
	sound, wrong := read.Layer.Sound(all)
	for _, err := range wrong {
		faults = append(faults, fmt.Errorf("%s.%w", section, err))
	}
	out.Layer = sound
	return out, errors.Join(faults...)
}

// configure makes what the user has chosen take effect: which rules run and how
// loud they are, in all that is checked, and which files are.
func (s *server) configure(view *snapshot, now chosen) {
	before := view.chosen
	if reflect.DeepEqual(now, before) {
		return
	}
	next := *view
	next.chosen = now
	if reflect.DeepEqual(now.layers(), before.layers()) {
		s.session.set(&next)
	} else {
		view := s.anew(&next)
		s.checkAgain(view, view.files(func(*program) bool { return true }), 0)
		s.scan.anew()
	}
	s.scan.keep(s.session.snapshot(), now.window.Scan == scanWorkspace)
}

// layers are all that c says about rules.
func (c chosen) layers() map[uri.URI]config.Layer {
	out := map[uri.URI]config.Layer{"": c.window.Layer}
	for id, s := range c.folders {
		out[id] = s.Layer
	}
	return out
}

// didChangeConfiguration is told that settings have changed. Clients that can be
// asked for them say no more than that.
func (s *server) didChangeConfiguration(params *protocol.DidChangeConfigurationParams) error {
	view := s.session.snapshot()
	if view.client.configuration {
		go s.fetchSettings()
		return nil
	}
	s.configure(view, chosen{window: s.understood(params.Settings, s.rules)})
	return nil
}

// understood are the settings in raw that can be understood. The log says which
// are not.
func (s *server) understood(raw protocol.LSPAny, all []*rules.Rule) settings {
	out, err := parseSettings(raw, all)
	if err != nil {
		s.log.warnf("%v", err)
	}
	return out
}

// fetchSettings asks the client for the settings, those of each folder too. One
// question at a time: what takes effect last is then what the client has said
// last.
func (s *server) fetchSettings() {
	s.asking.Lock()
	defer s.asking.Unlock()
	name := section
	items := []protocol.ConfigurationItem{{Section: &name}}
	folders, all := s.session.snapshot().folders, s.rules
	for _, f := range folders {
		items = append(items, protocol.ConfigurationItem{Section: &name, ScopeURI: &f.URI})
	}
	values, err := s.client.Configuration(s.ctx, &protocol.ConfigurationParams{Items: items})
	switch {
	case s.ctx.Err() != nil:
	case err != nil:
		s.log.warnf("asking for the settings: %v", err)
	case len(values) > 0:
		now := chosen{window: s.understood(values[0], all)}
		for i, raw := range values[1:min(len(values), len(items))] {
			f := folders[i]
			own, _ := parseSettings(raw, all) // what is wrong was said for the window
			if reflect.DeepEqual(own.Layer, now.window.Layer) {
				continue
			}
			if now.folders == nil {
				now.folders = make(map[uri.URI]settings)
			}
			now.folders[f.URI] = own
		}
		s.update(func(view *snapshot) { s.configure(view, now) })
	}
}
