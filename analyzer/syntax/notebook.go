package syntax

func blankMagics(s string) string { return s }
