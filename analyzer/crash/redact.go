package crash

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Redacted is a copy of d without what identifies people and machines: home
// directories, user and host names, addresses, accounts, tokens. The same thing
// gets the same mask everywhere, so the text can still be followed.
func (d *Diagnosis) Redacted() *Diagnosis {
	r := &redactor{masks: make(map[string]string), counts: make(map[string]int)}
	// The names first: they are masked wherever they stand.
	if d.Initiating != nil {
		r.name("host", d.Initiating.Host)
	}
	for _, c := range d.Collateral {
		r.name("host", c.Host)
	}
	c := *d
	eachText(reflect.ValueOf(&c).Elem(), func(s string) string {
		s = r.secrets(s) // which are no names
		r.learn(s)
		return s
	})
	slices.SortStableFunc(r.names, func(a, b string) int { return len(b) - len(a) }) // a name may be a part of another
	eachText(reflect.ValueOf(&c).Elem(), r.named)
	return &c
}

// fixedFields hold what programs read, and nothing of the log.
var fixedFields = map[string]bool{
	"Diagnosis.Failure": true, "Diagnosis.Family": true, "Diagnosis.Title": true, "Alternative.Failure": true, "Suspect.Code": true,
	"MemoryPart.Kind": true, "QuickFix.Safety": true,
	"Growth.Quantity": true, "Growth.Unit": true, "Growth.Shape": true,
}

// eachText replaces every text within v, in copies of what v refers to. Texts of
// types of their own, such as a confidence, are no texts.
func eachText(v reflect.Value, replace func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(replace(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			eachText(c.Elem(), replace)
			v.Set(c)
		}
	case reflect.Slice:
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		for i := range c.Len() {
			eachText(c.Index(i), replace)
		}
		v.Set(c)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !fixedFields[v.Type().Name()+"."+f.Name] {
				eachText(v.Field(i), replace)
			}
		}
	}
}

// redactor gives every secret its mask.
type redactor struct {
	masks  map[string]string // secret → mask
	counts map[string]int    // by kind
	names  []string          // words to mask wherever they stand
}

func (r *redactor) mask(kind, secret string) string {
	if m := r.masks[secret]; m != "" {
		return m
	}
	r.counts[kind]++
	m := fmt.Sprintf("<%s-%d>", kind, r.counts[kind])
	r.masks[secret] = m
	return m
}

// name remembers a word to mask wherever it stands. Words that tell nothing
// stay.
func (r *redactor) name(kind, name string) {
	name = strings.Trim(name, ".,;")
	if len(name) < 3 || telling[strings.ToLower(name)] || strings.HasPrefix(name, "<") || r.masks[name] != "" || strings.Trim(name, "0123456789.") == "" {
		return
	}
	r.mask(kind, name)
	r.names = append(r.names, name)
	// The first part of a machine's full name names it too.
	if short, _, full := strings.Cut(name, "."); full && kind == "host" && len(short) > 3 && !telling[short] && r.masks[short] == "" {
		r.masks[short] = r.masks[name]
		r.names = append(r.names, short)
	}
}

// learn finds the names of people, accounts and machines in a text.
func (r *redactor) learn(s string) {
	for _, p := range namePatterns {
		for _, m := range p.pattern.FindAllStringSubmatch(s, -1) {
			for _, name := range m[1:] {
				r.name(p.kind, name)
			}
		}
	}
	for _, m := range userHost.FindAllStringSubmatch(s, -1) {
		r.name("user", m[1])
		// What has a domain is an address for mail, and masked as a whole.
		if !strings.Contains(m[2], ".") {
			r.name("host", m[2])
		}
	}
}

// secrets masks what is secret by its shape or by what stands before it.
func (r *redactor) secrets(s string) string {
	for _, p := range secretPatterns {
		s = replaceGroup(s, p, func(secret string) string {
			if telling[strings.ToLower(secret)] || strings.HasPrefix(secret, "<") {
				return secret
			}
			return r.mask(p.kind, secret)
		})
	}
	return s
}

// named masks the names that were learned.
func (r *redactor) named(s string) string {
	for _, name := range r.names {
		s = replaceWord(s, name, r.masks[name])
	}
	return s
}

// replaceGroup replaces the group of a pattern wherever it matches.
func replaceGroup(s string, p secretPattern, replace func(string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range p.pattern.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[2*p.group], m[2*p.group+1]
		if from < at {
			continue
		}
		b.WriteString(s[at:from])
		b.WriteString(replace(s[from:to]))
		at = to
	}
	b.WriteString(s[at:])
	return b.String()
}

// replaceWord replaces name where it is a word of its own.
func replaceWord(s, name, mask string) string {
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(s[at:], name)
		if i < 0 {
			b.WriteString(s[at:])
			return b.String()
		}
		i += at
		end := i + len(name)
		b.WriteString(s[at:i])
		if (i == 0 || !wordByte(s[i-1])) && (end == len(s) || !wordByte(s[end])) {
			b.WriteString(mask)
		} else {
			b.WriteString(name)
		}
		at = end
	}
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
