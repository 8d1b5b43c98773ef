package rules

// Preferences are what the user wants to hear about a source. The zero value
// wants all rules, each with its own severity.
type Preferences struct {
	Off      map[string]bool     // by code: rules that do not run
	Severity map[string]Severity // by code: in place of what the finding has
}
