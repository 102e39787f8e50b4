package jobform

import (
	"slices"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// refMember is the field that names a shared secret.
const refMember = "secretRef"

// longSecrets are secrets with several lines.
var longSecrets = map[string]bool{"credentials": true}

// secret creates the field of a secret. The document has the name of a shared secret or nothing, because pages contain
// no secrets. The input states whether a secret is stored.
func (w *walker) secret(s *document.Shape, at spot, base got) (*Field, got) {
	ref, isRef := base.v.Member(refMember)
	switch base.v.Kind() {
	case document.KindNull, document.KindString:
	default:
		if !isRef || len(base.v.Members()) != 1 || ref.Kind() != document.KindString {
			return w.leaf(s, at, base)
		}
	}
	f := newField(KindSecret, s, at)
	secret := &Secret{Name: at.name, Shared: w.in.Secrets, Lines: longSecrets[lastName(at.key)]}
	f.Secret = secret
	stored := slices.Contains(w.in.Stored, at.was)
	how := howNone
	switch {
	case isRef:
		how = howRef
	case stored:
		how = howKeep
	case base.ok && base.v.Kind() == document.KindString, s.Required:
		how = howText
	}
	secret.Ref = ref.Text()
	now := base
	if base.ok && !isRef { // a document that contains the secret
		secret.Again = w.values == nil && base.v.Kind() == document.KindString
	}
	if chosen, ok := w.typed(at.name + "~how"); ok {
		how, now = w.chooseSecret(f, at, chosen, base)
	} else if now.ok && !isRef {
		w.reading.Typed = append(w.reading.Typed, at.path)
	} else if how == howKeep {
		w.keeps(f, at)
	}
	secret.How = hows(how, s.Required, stored)
	return f, now
}

// chooseSecret parses the source and text of a secret. A typed text takes precedence.
func (w *walker) chooseSecret(f *Field, at spot, how string, base got) (string, got) {
	secret := f.Secret
	text, _ := w.typed(at.name + "~text")
	secret.Ref, _ = w.typed(at.name + "~ref")
	if text != "" && (how == howKeep || how == howNone) {
		how = howText
	}
	switch how {
	case howKeep:
		w.keeps(f, at)
		return how, got{}
	case howRef:
		return how, got{reference(base, secret.Ref), true}
	case howText:
		secret.Again = text != ""
		if text == "" {
			return how, got{base.v, base.ok && base.v.Kind() == document.KindNull}
		}
		w.reading.Typed = append(w.reading.Typed, at.path)
		return how, got{document.StringValue(Plain(text)), true}
	}
	isNull := base.ok && base.v.Kind() == document.KindNull
	return howNone, got{document.Value{}, slices.Contains(w.in.Stored, at.was) || isNull} // null removes it
}

// keeps records that a stored secret stays.
func (w *walker) keeps(f *Field, at spot) {
	w.kept = append(w.kept, kept{at.path, at.was, func(message string) { w.wrong(f, message) }})
}

// reference returns the value that names a shared secret.
func reference(base got, name string) document.Value {
	if was, ok := base.v.Member(refMember); ok && (was.Text() == name || line(was.Text()) == line(name)) {
		return base.v
	}
	return document.ObjectValue(document.Member{Name: refMember, Value: document.StringValue(name)})
}

// hows returns the possible sources of a secret.
func hows(how string, required, stored bool) []Choice {
	all := []string{howText, howRef}
	if stored {
		all = slices.Insert(all, 0, howKeep)
	}
	if !required || stored {
		all = append(all, howNone)
	}
	choices := asChoices("jobform.secret.", all, how)
	if last := &choices[len(choices)-1]; last.Value == howNone && stored {
		last.Text = words.Say("jobform.secret.remove")
	}
	return choices
}

// asChoices returns choices with labels of the catalogue.
func asChoices(prefix string, all []string, chosen string) []Choice {
	var choices []Choice
	for _, one := range all {
		choices = append(choices, Choice{one, words.Say(prefix + one), one == chosen})
	}
	return choices
}

// keep collects the stored secrets that stay, and adds problems for those that cannot, because they belong to their
// positions.
func (w *walker) keep() {
	for _, k := range w.kept {
		if k.path != k.was {
			k.wrong(words.Say("jobform.secret.moved"))
			continue
		}
		w.reading.Kept = append(w.reading.Kept, k.path)
	}
}
