package syntax

func repair(t *Tree, p *parser) (*Tree, error) { return t, nil }
