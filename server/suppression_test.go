package server

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"

	"github.com/graphleak/graphleak/analyzer/text"
	"github.com/graphleak/graphleak/rules"
	"github.com/graphleak/graphleak/rules/leaks"
)

func TestCommentsThatSilenceALine(t *testing.T) {
	for line, want := range map[string]string{
		"x = leak":                             "x = leak  # graphleak: ignore[GL101]",
		"x = leak  ":                           "x = leak  # graphleak: ignore[GL101]",
		"x = leak  # why":                      "x = leak  # why  # graphleak: ignore[GL101]",
		"x = leak  # graphleak: ignore[GL102]": "x = leak  # graphleak: ignore[GL102, GL101]",
		"x = leak  #graphleak:ignore[] later":  "x = leak  #graphleak:ignore[GL101] later",
		"x = leak  # graphleak: ignore":        "",
		"x = leak + \\":                        "",
		"x = leak + \"\"\"text":                "",
		"x = leak + '''text":                   "",
		"x = leak  # noqa: GL102":              "x = leak  # noqa: GL102  # graphleak: ignore[GL101]",
	} {
		src := []byte("first\n" + line + "\nlast\n")
		edit, ok := ignoreOnLine(src, text.Span{Start: 6, End: 6 + len(line)}, "GL101")
		require.Equal(t, want != "", ok, line)
		if ok {
			got, err := text.Apply(src, []text.Edit{edit})
			require.NoError(t, err)
			assert.Equal(t, "first\n"+want+"\nlast\n", string(got))
		}
	}
}

func TestCommentThatSilencesAFile(t *testing.T) {
	const comment = "# graphleak: skip-file\n"
	for _, src := range []string{"|x = 1\n", "|", "#!/usr/bin/env python\n|x", "#!/bin/x\n# -*- coding: latin-1 -*-\n|x", "# coding: utf-8\n|\n", "|# comment\n", "%%time\n|x = 1", "|#!/bin/python"} {
		before, after, _ := strings.Cut(src, "|")
		edit := skipFile([]byte(before + after))
		got, err := text.Apply([]byte(before+after), []text.Edit{edit})
		require.NoError(t, err)
		assert.Equal(t, before+comment+after, string(got))
	}
}

func TestSuppressionsOfANotebookAreInItsCells(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{}`)
	e.openNotebook(trainingCells...)
	d := e.diagnosticsOf(cellURI("c"), 1)[0]
	actions, err := e.codeActions(cellURI("c"), d.Range)
	require.NoError(t, err)
	edits := make(map[string]protocol.TextEdit)
	for _, a := range actions {
		for id, list := range a.Edit.Changes {
			edits[a.Title+" "+string(id)] = list[0]
		}
	}
	line := edits["Ignore GL101 on this line "+string(cellURI("c"))]
	assert.Equal(t, "  # graphleak: ignore[GL101]", line.NewText)
	assert.Equal(t, uint32(2), line.Range.Start.Line)
	file := edits["Ignore all findings in this file "+string(cellURI("a"))]
	assert.Equal(t, "# graphleak: skip-file\n", file.NewText)
}

const silenced = "x = 1  # graphleak: ignore[GL101, GL103]\ny = 2  # noqa: E501, GL102\nz = \"GL101\"  # graphleak: ignore\n"

func TestCodesInCommentsLeadToTheirPages(t *testing.T) {
	e := launch(t, rules.NewChecker(leaks.All()...))
	e.initialize(`{"textDocument":{"hover":{"contentFormat":["markdown"]}}}`)
	e.open(script, 1, silenced)
	links, err := e.server.DocumentLink(e.context(), &protocol.DocumentLinkParams{TextDocument: protocol.TextDocumentIdentifier{URI: script}})
	require.NoError(t, err)
	var got []string
	m := text.NewMapper([]byte(silenced))
	for _, link := range links {
		got = append(got, silenced[offset(m, link.Range.Start, text.UTF16):offset(m, link.Range.End, text.UTF16)])
		assert.Contains(t, string(*link.Target), "https://")
	}
	assert.Equal(t, []string{"GL101", "GL103", "GL102"}, got)

	at := bytes.IndexByte([]byte(silenced), '[') + 1
	hover, err := e.hover(script, protocol.Position{Character: uint32(at)})
	require.NoError(t, err)
	require.NotNil(t, hover)
	assert.Contains(t, hover.Contents.(*protocol.MarkupContent).Value, "**GL101** accumulate-with-graph: ")
	assert.Equal(t, links[0].Range, *hover.Range)

	links, err = e.server.DocumentLink(e.context(), &protocol.DocumentLinkParams{TextDocument: protocol.TextDocumentIdentifier{URI: "file:///not/open.py"}})
	require.NoError(t, err)
	assert.Empty(t, links)
}
