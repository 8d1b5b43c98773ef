package crash

import (
	"fmt"
	"regexp"
	"strings"
)

// Redacted is a copy of d without what identifies people and machines: home
// directories, user and host names, addresses, tokens. The same thing gets the
// same mask everywhere, so the text can still be followed.
func (d *Diagnosis) Redacted() *Diagnosis {
	r := &redactor{masks: make(map[string]string), counts: make(map[string]int)}
	c := *d
	// The names first: they are masked wherever they stand.
	texts := []string{d.Cause}
	for _, e := range d.Evidence {
		texts = append(texts, e.Text)
	}
	for _, e := range d.Collateral {
		r.host(e.Host)
		texts = append(texts, e.Event)
	}
	if d.Initiating != nil {
		r.host(d.Initiating.Host)
	}
	for _, t := range texts {
		r.learn(t)
	}
	c.Cause = r.text(d.Cause)
	c.Evidence = each(d.Evidence, func(e Evidence) Evidence {
		e.Text, e.Why, e.Input = r.text(e.Text), r.text(e.Why), r.text(e.Input)
		return e
	})
	c.Collateral = each(d.Collateral, func(e Collateral) Collateral {
		e.Host, e.Event, e.Input = r.text(e.Host), r.text(e.Event), r.text(e.Input)
		return e
	})
	c.Fix = each(d.Fix, func(f Fix) Fix { return Fix{r.text(f.Title), r.text(f.Detail)} })
	c.Suspects = each(d.Suspects, func(s Suspect) Suspect {
		s.Path, s.Message = r.text(s.Path), r.text(s.Message)
		return s
	})
	c.Alternatives = each(d.Alternatives, func(a Alternative) Alternative {
		a.Why = r.text(a.Why)
		return a
	})
	c.Arithmetic = each(d.Arithmetic, r.text)
	c.Missing = each(d.Missing, r.text)
	if d.Initiating != nil {
		i := *d.Initiating
		i.Host, i.Input = r.text(i.Host), r.text(i.Input)
		c.Initiating = &i
	}
	return &c
}

func each[T any](list []T, f func(T) T) []T {
	out := make([]T, 0, len(list))
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
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

var (
	homePath = regexp.MustCompile(`((?:/home|/Users|/mnt/home|/root/home|[A-Za-z]:\\Users)[/\\])([^/\\\s"':]+)`)
	email    = regexp.MustCompile(`\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b`)
	userHost = regexp.MustCompile(`\b([a-z_][\w-]*)@([A-Za-z][\w-]*)\b`)
	ipv4     = regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}\b`)
	ipv6     = regexp.MustCompile(`(?i)\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b|\bfe80::[0-9a-f:]+\b`)
	token    = regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[A-Z0-9]{16}|xox[abpr]-[\w-]{10,}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|[0-9a-f]{40})\b`)
	secret   = regexp.MustCompile(`(?i)((?:api[_-]?key|token|secret|password|passwd|credential)[A-Za-z_]*["']?\s*[:=]\s*["']?|bearer\s+)([^\s"',;&<]{6,})`)
	urlLogin = regexp.MustCompile(`(://)([^/\s:@]+:[^/\s@]+)(@)`)
	hostName = regexp.MustCompile(`(?i)\b(?:host(?:name)?|node)\s*[:=]\s*([A-Za-z][\w.-]*)`)
)

// host remembers the name of a machine.
func (r *redactor) host(name string) { r.name("host", name) }

// name remembers a word to mask wherever it stands. Words that tell nothing
// stay.
func (r *redactor) name(kind, name string) {
	switch strings.ToLower(name) {
	case "", "localhost", "root", "user", "ubuntu", "runner", "jovyan", "shared", "public":
		return
	}
	if ipv4.MatchString(name) || len(name) < 3 || r.masks[name] != "" {
		return
	}
	r.mask(kind, name)
	r.names = append(r.names, name)
}

// learn finds the names of users and machines in a text.
func (r *redactor) learn(s string) {
	for _, m := range homePath.FindAllStringSubmatch(s, -1) {
		r.name("user", m[2])
	}
	for _, m := range hostName.FindAllStringSubmatch(s, -1) {
		r.name("host", m[1])
	}
	for _, m := range userHost.FindAllStringSubmatch(s, -1) {
		r.name("user", m[1])
		r.name("host", m[2])
	}
}

// text masks all that identifies in s.
func (r *redactor) text(s string) string {
	if s == "" {
		return s
	}
	s = urlLogin.ReplaceAllStringFunc(s, func(m string) string {
		p := urlLogin.FindStringSubmatch(m)
		return p[1] + r.mask("login", p[2]) + p[3]
	})
	s = token.ReplaceAllStringFunc(s, func(m string) string { return r.mask("token", m) })
	s = secret.ReplaceAllStringFunc(s, func(m string) string {
		p := secret.FindStringSubmatch(m)
		return p[1] + r.mask("secret", p[2])
	})
	s = email.ReplaceAllStringFunc(s, func(m string) string { return r.mask("email", m) })
	s = ipv4.ReplaceAllStringFunc(s, func(m string) string {
		if m == "127.0.0.1" || m == "0.0.0.0" {
			return m
		}
		return r.mask("ip", m)
	})
	s = ipv6.ReplaceAllStringFunc(s, func(m string) string { return r.mask("ip", m) })
	for _, name := range r.names {
		s = replaceWord(s, name, r.masks[name])
	}
	return s
}

// replaceWord replaces name where it is a word of its own.
func replaceWord(s, name, mask string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, name)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := i + len(name)
		whole := (i == 0 || !wordByte(s[i-1])) && (end == len(s) || !wordByte(s[end]))
		b.WriteString(s[:i])
		if whole {
			b.WriteString(mask)
		} else {
			b.WriteString(name)
		}
		s = s[end:]
	}
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
