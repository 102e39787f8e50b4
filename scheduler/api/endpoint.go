package api

import "strings"

// Endpoint is a subject of the NATS service, below <prefix>.api.
type Endpoint struct {
	*Operation

	Name    string // in the listing of the service
	Subject string // with names as in paths
	Live    bool   // it answers with a live tail
}

// Verb is the first token of the subject.
func (e *Endpoint) Verb() string { return Verb(e.Subject) }

// Verb is the first token of a subject.
func Verb(subject string) string {
	verb, _, _ := strings.Cut(subject, ".")
	return verb
}

// Endpoints are the subjects of all operations.
func Endpoints() []Endpoint {
	var all []Endpoint
	verbs := map[string]string{} // the subject with the most names of each verb
	add := func(op *Operation, subject string, live bool) {
		if subject == "" {
			return
		}
		all = append(all, Endpoint{op, "", subject, live})
		if verb := Verb(subject); len(subject) > len(verbs[verb]) {
			verbs[verb] = subject
		}
	}
	for i := range Operations {
		op := &Operations[i]
		add(op, op.Subject, false)
		add(op, op.Follow, true)
		if op.Scoped {
			all = append(all, Endpoint{op, Verb(op.Subject) + "-collection", op.Subject + ".{c}", false})
		}
	}
	for i := range all {
		e := &all[i]
		if e.Name == "" {
			e.Name = e.Verb() + extent(e.Subject, verbs[e.Verb()])
		}
	}
	return all
}

// extent is the suffix of the name of an endpoint whose verb has a subject with more names.
func extent(subject, longest string) string {
	switch {
	case subject == longest:
		return ""
	case strings.Contains(subject, "."):
		return "-collection"
	}
	return "-all"
}

// Heeds reports whether requests over NATS may depend on an ETag.
func (op *Operation) Heeds() bool {
	return op.Conditional || op.ConditionalNATS || op.Tagged && !op.Changes()
}

// Published are the operations that are also available as published specs, by verb: on <prefix>.spec.<verb>.<collection>.<job>.
func Published() map[string]*Operation {
	all := map[string]*Operation{}
	for i := range Operations {
		if op := &Operations[i]; op.Published {
			all[Verb(op.Subject)] = op
		}
	}
	return all
}
