package crash

import (
	"fmt"
	"slices"
	"strings"
)

// Knowledge is a set of pages that fit together.
type Knowledge struct {
	pages      []*Page
	signatures []pageSignature // in the order in which they are tried
	byID       map[string]*Page
	byExit     map[int]*Page
	words      *literals // all of the signatures'
	wanted     *literals // these, and what else makes a line worth a look
	memory     *literals // of lines that show memory in use
}

// The pages that the engine itself refers to.
const (
	unknownID         = "unknown"
	pythonExceptionID = "python.exception"
	abortID           = "signal.abort"
	growthID          = "memory.growth"
	hostOOM           = "memory.host-oom."
)

// NewKnowledge checks that pages fit together.
func NewKnowledge(pages []Page) (*Knowledge, error) {
	k := &Knowledge{byID: make(map[string]*Page), byExit: make(map[int]*Page)}
	var words []string
	for i := range pages {
		p := &pages[i]
		if err := p.Validate(); err != nil {
			return nil, fmt.Errorf("page %s: %w", p.ID, err)
		}
		if k.byID[p.ID] != nil {
			return nil, fmt.Errorf("page %s: there are two of them", p.ID)
		}
		k.byID[p.ID] = p
		k.pages = append(k.pages, p)
		for _, s := range p.Signatures {
			words = append(words, s.Literals...)
		}
		for _, code := range p.ExitCodes {
			if other := k.byExit[code]; other != nil {
				return nil, fmt.Errorf("page %s: exit code %d is that of %s", p.ID, code, other.ID)
			}
			k.byExit[code] = p
		}
	}
	for _, p := range k.pages {
		if p.Refines == "" {
			continue
		}
		base := k.byID[p.Refines]
		switch {
		case base == nil:
			return nil, fmt.Errorf("page %s: refines %s, which does not exist", p.ID, p.Refines)
		case refiners[base.ID] == nil:
			return nil, fmt.Errorf("page %s: refines %s, which nothing tells apart", p.ID, p.Refines)
		}
	}
	for _, p := range k.pages {
		for what, ids := range map[string][]string{"confirms": p.Confirms, "follows": p.Follows} {
			for _, id := range ids {
				if k.byID[id] == nil {
					return nil, fmt.Errorf("page %s: %s %s, which does not exist", p.ID, what, id)
				}
			}
		}
		for _, r := range p.rivals() {
			if k.byID[r.Failure] == nil {
				return nil, fmt.Errorf("page %s: the alternative %s does not exist", p.ID, r.Failure)
			}
		}
	}
	for _, id := range append([]string{unknownID, pythonExceptionID}, refinedIDs()...) {
		if k.byID[id] == nil {
			return nil, fmt.Errorf("page %s is missing", id)
		}
	}
	k.words = newLiterals(words)
	k.wanted = newLiterals(slices.Concat(words, coreLiterals, censusLiterals, extraLiterals))
	k.memory = newLiterals(memoryWords)
	for _, p := range k.pages {
		for i := range p.Signatures {
			k.signatures = append(k.signatures, pageSignature{p, &p.Signatures[i]})
		}
	}
	slices.SortStableFunc(k.signatures, func(a, b pageSignature) int { return b.Strength - a.Strength })
	return k, nil
}

// rivals are the alternatives of the page and of all its signatures.
func (p *Page) rivals() []Rival {
	list := slices.Clone(p.Rivals)
	for _, s := range p.Signatures {
		list = append(list, s.Rivals...)
	}
	return list
}

// pageSignature is a signature with its page.
type pageSignature struct {
	page *Page
	*Signature
}

// recognise finds the page whose signature matches text. Signatures of what can
// start an incident come before those of what only follows from one. Of a page
// the first that matches counts, of several pages that whose literal is the
// longest: it is the most exact.
func (k *Knowledge) recognise(text string, scope Scope) (*Page, *Signature, map[string]string) {
	text = clip(text)
	if !k.words.in(text) {
		return nil, nil, nil
	}
	var best pageSignature
	var fields map[string]string
	length := 0
	for _, s := range k.signatures {
		if fields != nil && s.Strength < best.Strength {
			break
		}
		if s.page == best.page || s.Scope != scope && s.Scope != Anywhere {
			continue
		}
		if n := s.literal(text); n > length {
			if m := s.match(text); m != nil {
				best, fields, length = s, m, n
			}
		}
	}
	return best.page, best.Signature, fields
}

// Bounds on the text that patterns are tried on. Their time is linear in it, but
// there are hundreds of them.
const (
	clipHead = 6000
	clipTail = 2000
)

// clip keeps the start and the end of a long text.
func clip(text string) string {
	if len(text) <= clipHead+clipTail {
		return text
	}
	return strings.ToValidUTF8(text[:clipHead]+" "+text[len(text)-clipTail:], "")
}

// complete adds to fields what other signatures of the page find in the text:
// people paste several messages on one line.
func (k *Knowledge) complete(p *Page, text string, scope Scope, fields map[string]string) {
	text = clip(text)
	for i := range p.Signatures {
		s := &p.Signatures[i]
		if s.Scope != scope && s.Scope != Anywhere || s.literal(text) == 0 {
			continue
		}
		for name, value := range s.match(text) {
			if fields[name] == "" {
				fields[name] = value
			}
		}
	}
}

// Recognise names the page and the signature that know a message, if any do.
func (k *Knowledge) Recognise(message string, scope Scope) (id, signature string) {
	page, sig, _ := k.recognise(message, scope)
	if page == nil {
		return "", ""
	}
	return page.ID, sig.Name
}
