// Package failures is the knowledge about how runs fail, as pages: one Markdown
// file for each failure id. Its front matter is what the diagnosis runs on
// (signatures, role, fixes, verification, missing facts), its text is what
// people read.
package failures
