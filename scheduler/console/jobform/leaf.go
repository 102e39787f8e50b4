package jobform

import (
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// leaf creates the field of a value that is typed as one text. An untouched value stays unchanged.
func (w *walker) leaf(s *document.Shape, at location, base optionalValue) (*Field, optionalValue) {
	word, isWord := s.Form(document.FormWord)
	_, isBoolean := s.Form(document.FormBoolean)
	if isBoolean && len(s.Forms) == 1 && (!base.ok || base.v.Kind() == document.KindBool || base.v.Kind() == document.KindNull) {
		return w.boolean(s, at, base)
	}
	f := newField(KindText, s, at)
	name := lastName(at.key)
	f.Code = slices.Contains(codes, name)
	f.Text = written(base.v)
	now := base
	if text, ok := w.typed(at.name); ok && Plain(text) != Plain(f.Text) {
		f.Text = text
		now = w.read(f, s, breaks(base.v.Text(), text))
	}
	if isWord && !strings.ContainsAny(f.Text, "\r\n") {
		f.Kind, f.Choices = KindWord, choices(f, word.Words)
		return f, now
	}
	if at.name == "collection" && len(w.in.Collections) > 0 {
		f.Kind, f.Required, f.Choices = KindWord, true, choices(f, w.in.Collections)
	}
	if slices.Contains(areas, name) || strings.ContainsAny(f.Text, "\r\n") {
		f.Kind = KindArea
	}
	return f, now
}

// choices returns the words of a field, its current value, and none if that is valid.
func choices(f *Field, words []string) []Choice {
	var all []Choice
	if !f.Required || f.Text == "" {
		all = append(all, Choice{"", nothing(f), f.Text == ""})
	}
	known := f.Text == ""
	for _, word := range words {
		chosen := strings.EqualFold(word, f.Text)
		known = known || chosen
		value := word
		if chosen {
			value = f.Text // in the spelling of the choice
		}
		all = append(all, Choice{value, frame.State(word), chosen})
	}
	if !known {
		all = append(all, Choice{f.Text, f.Text, true})
	}
	return all
}

// nothing returns the label of the empty choice.
func nothing(f *Field) string {
	switch {
	case f.Required:
		return words.Text("jobform.choose")
	case f.Default != "":
		return words.Text("jobform.default", frame.State(f.Default))
	}
	return words.Text("jobform.none")
}

// boolean creates the field of a boolean.
func (w *walker) boolean(s *document.Shape, at location, base optionalValue) (*Field, optionalValue) {
	f := newField(KindBoolean, s, at)
	f.On = base.v.Bool()
	text, ok := w.typed(at.name)
	if on := text == "true"; ok && on != f.On {
		f.On = on
		return f, optionalValue{document.BoolValue(on), on}
	}
	return f, base
}

// written returns a value as the text of a field.
func written(v document.Value) string {
	switch v.Kind() { //nolint:exhaustive // the others stand there as JSON
	case document.KindNull:
		return ""
	case document.KindString, document.KindNumber:
		return v.Text()
	case document.KindArray:
		if text, ok := joined(v.Items()); ok {
			return text
		}
	}
	return v.String()
}

// joined returns a list as the text of a field: its elements with commas, if that is unambiguous.
func joined(items []document.Value) (string, bool) {
	var texts []string
	for _, item := range items {
		text := item.Text() // "" unless it is a text or number
		odd := text == "" || strings.ContainsAny(text, ",\r\n[]{}\"") || strings.TrimSpace(text) != text
		if odd || item.Kind() != document.KindNumber && numeric.MatchString(text) {
			return "", false
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", "), len(texts) > 0
}

// numeric matches a JSON number.
var numeric = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`)

// read parses the text of a field by the forms of the shape. Text in another form stays a text, and the parser of jobs
// reports the problem.
func (w *walker) read(f *Field, s *document.Shape, text string) optionalValue {
	_, isText := s.Form(document.FormText)
	list, isList := s.Form(document.FormList)
	_, isObject := s.Form(document.FormObject)
	trimmed := strings.TrimSpace(text)
	switch {
	case text == "", trimmed == "" && !isText:
		return optionalValue{}
	case isList:
		return optionalValue{w.list(f, trimmed, list), true}
	case isObject:
		if v, err := document.Parse([]byte(trimmed)); err == nil {
			return optionalValue{v, true}
		}
		return optionalValue{document.StringValue(text), true}
	case isText:
		return optionalValue{document.StringValue(text), true}
	}
	for _, form := range s.Forms {
		if v, ok := scalar(form.Kind, trimmed); ok {
			return optionalValue{v, true}
		}
	}
	return optionalValue{document.StringValue(trimmed), true}
}

// scalar parses a number or a boolean; ok is false for other kinds and texts.
func scalar(kind document.FormKind, text string) (v document.Value, ok bool) {
	switch {
	case (kind == document.FormInteger || kind == document.FormNumber) && numeric.MatchString(text):
		return document.NumberValue(text), true
	case kind == document.FormBoolean && (text == "true" || text == "false"):
		return document.BoolValue(text == "true"), true
	}
	return v, false
}

// list parses a list with commas, or as JSON.
func (w *walker) list(f *Field, text string, form document.Form) document.Value {
	if strings.HasPrefix(text, "[") {
		if v, err := document.Parse([]byte(text)); err == nil {
			return v
		}
		w.wrong(f, words.Text("jobform.list"))
	}
	var items []document.Value
	for one := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		one = strings.TrimSpace(one)
		switch {
		case one == "":
		case form.Of == document.FormInteger && numeric.MatchString(one):
			items = append(items, document.NumberValue(one))
		default:
			items = append(items, document.StringValue(one))
		}
	}
	return document.ArrayValue(items...)
}

// Plain normalizes the line ends of a submitted text and removes NUL characters.
func Plain(text string) string { return plainer.Replace(text) }

var plainer = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD")

// breaks returns a typed text with the line ends of the original.
func breaks(was, text string) string {
	text = plainer.Replace(text)
	if strings.Contains(was, "\r\n") && !strings.Contains(strings.ReplaceAll(was, "\r\n", ""), "\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// data creates the field of an object with free content, which is typed as YAML or JSON.
func (w *walker) data(s *document.Shape, at location, base optionalValue) (*Field, optionalValue) {
	f := newField(KindArea, s, at)
	f.Code = true
	if base.ok && base.v.Kind() != document.KindNull {
		f.Text = strings.TrimSuffix(string(base.v.YAML()), "\n")
	}
	text, ok := w.typed(at.name)
	if !ok || Plain(text) == Plain(f.Text) {
		return f, base
	}
	f.Text = text
	if strings.TrimSpace(text) == "" {
		return f, optionalValue{}
	}
	v, err := document.Parse([]byte(text))
	if err != nil {
		w.wrong(f, err.Error())
		return f, base
	}
	return f, optionalValue{v, true}
}

// refMember is the field that names a shared secret.
const refMember = "secretRef"

// longSecrets are secrets with several lines.
var longSecrets = map[string]bool{"credentials": true}

// secret creates the field of a secret. The document has the name of a shared secret or nothing, because pages contain
// no secrets. The input states whether a secret is stored.
func (w *walker) secret(s *document.Shape, at location, base optionalValue) (*Field, optionalValue) {
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
		w.keeps(at.path, at.was, func(message string) { w.wrong(f, message) })
	}
	secret.How = hows(how, s.Required, stored)
	return f, now
}

// chooseSecret parses the source and text of a secret. A typed text takes precedence.
func (w *walker) chooseSecret(f *Field, at location, how string, base optionalValue) (string, optionalValue) {
	secret := f.Secret
	text, _ := w.typed(at.name + "~text")
	secret.Ref, _ = w.typed(at.name + "~ref")
	if text != "" && (how == howKeep || how == howNone) {
		how = howText
	}
	switch how {
	case howKeep:
		w.keeps(at.path, at.was, func(message string) { w.wrong(f, message) })
		return how, optionalValue{}
	case howRef:
		return how, optionalValue{reference(base, secret.Ref), true}
	case howText:
		secret.Again = text != ""
		if text == "" {
			return how, optionalValue{base.v, base.ok && base.v.Kind() == document.KindNull}
		}
		w.reading.Typed = append(w.reading.Typed, at.path)
		return how, optionalValue{document.StringValue(Plain(text)), true}
	}
	isNull := base.ok && base.v.Kind() == document.KindNull
	return howNone, optionalValue{document.Value{}, slices.Contains(w.in.Stored, at.was) || isNull} // null removes it
}

// keeps records that a stored secret stays. A moved secret cannot stay, because it belongs to its position.
func (w *walker) keeps(path, was string, wrong func(message string)) {
	if path != was {
		wrong(words.Text("jobform.secret.moved"))
		return
	}
	w.reading.Kept = append(w.reading.Kept, path)
}

// reference returns the value that names a shared secret.
func reference(base optionalValue, name string) document.Value {
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
		last.Text = words.Text("jobform.secret.remove")
	}
	return choices
}

// asChoices returns choices with labels of the catalogue.
func asChoices(prefix string, all []string, chosen string) []Choice {
	var choices []Choice
	for _, one := range all {
		choices = append(choices, Choice{one, words.Text(prefix + one), one == chosen})
	}
	return choices
}
