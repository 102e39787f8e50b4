package edit

import (
	"regexp"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// again replaces a typed secret in a text that is shown again. The scheduler refuses it with its path.
const again = `{secretRef: ""}`

// redact removes secrets from the typed text before it is shown again. If it cannot remove them by line, it formats the
// document again, without comments.
func (e *editing) redact(v document.Value, secrets []string) {
	var texts []string
	for _, path := range secrets {
		if s := jobform.At(v, path).Text(); s != "" {
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 {
		return
	}
	t := &e.Text
	redacted, _ := redact(t.Text, e.room.form().IsSecret)
	if holds(redacted, texts) || !sameBut(redacted, v, secrets) {
		empty := document.ObjectValue(document.Member{Name: "secretRef", Value: document.StringValue("")})
		redacted = string(jobform.Replaced(v, secrets, empty).YAML())
	}
	t.Text, t.Redacted = redacted, true
}

// sameBut reports whether a text is a document except for its secrets.
func sameBut(text string, v document.Value, secrets []string) bool {
	all, err := document.ParseFile([]byte(text))
	if err != nil || len(all.Documents) != 1 {
		return false
	}
	empty := document.ObjectValue(document.Member{Name: "secretRef", Value: document.StringValue("")})
	return all.Documents[0].Equal(jobform.Replaced(v, secrets, empty))
}

// holds reports whether a text contains one of some others, in any of its encodings.
func holds(text string, texts []string) bool {
	for _, t := range texts {
		quoted := document.StringValue(t).String()
		for _, form := range []string{t, quoted[1 : len(quoted)-1], strings.ReplaceAll(t, "'", "''")} {
			if strings.Contains(text, form) {
				return true
			}
		}
		for line := range strings.Lines(t) {
			if line = strings.TrimSpace(line); len(line) > 5 && strings.Contains(text, line) {
				return true
			}
		}
	}
	return false
}

// member matches the beginning of a field: its indentation with list markers, its name, and the rest of the line.
var member = regexp.MustCompile(`^([ \t]*(?:- +)*)(["']?)([A-Za-z0-9_$.\-]+)(["']?)[ \t]*:(.*)$`)

// flow matches a field in braces.
var flow = regexp.MustCompile(`(["']?)([A-Za-z0-9_$.\-]+)(["']?)[ \t]*:[ \t]*("(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^,{}\[\]\n]*)`)

// redact removes the values of secret fields from a text, which may be an invalid document.
func redact(text string, isSecret func(name string) bool) (redacted string, some bool) {
	var out []string
	deeper := -1    // lines with a deeper indentation belong to a secret
	perhaps := -1   // or belong to one unless they name a shared secret
	var name string // of that field
	for line := range strings.SplitSeq(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if trimmed := strings.TrimSpace(line); perhaps >= 0 && trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			if indent > perhaps && !strings.Contains(trimmed, "secretRef") {
				out[len(out)-1], deeper, some = name+": "+again, perhaps, true
			}
			perhaps = -1
		}
		if deeper >= 0 && (strings.TrimSpace(line) == "" || indent > deeper) {
			some = true
			continue
		}
		deeper = -1
		m := member.FindStringSubmatch(line)
		inside := strings.ContainsAny(line, "{") || m == nil || strings.HasSuffix(strings.TrimSpace(line), ",")
		switch {
		case m != nil && !inside && isSecret(m[3]):
			value := strings.TrimSpace(m[5])
			if value == "" || strings.HasPrefix(value, "#") {
				perhaps, name = len(m[1]), m[1]+m[2]+m[3]+m[4]
				break
			}
			line, some = m[1]+m[2]+m[3]+m[4]+": "+again, true
			deeper = len(m[1])
		case inside:
			line = flow.ReplaceAllStringFunc(line, func(found string) string {
				f := flow.FindStringSubmatch(found)
				if !isSecret(f[2]) || strings.TrimSpace(f[4]) == "" {
					return found
				}
				some = true
				return f[1] + f[2] + f[3] + `: {"secretRef": ""}`
			})
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n"), some
}
