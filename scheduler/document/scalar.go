package document

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// String returns a string field.
func (o *Object) String(name string) (string, bool) {
	o.wants(name, Form{Kind: FormText})
	v, ok := o.of(name, KindString)
	return v.text, ok
}

// Bool returns a boolean field.
func (o *Object) Bool(name string) (value, ok bool) {
	o.wants(name, Form{Kind: FormBoolean})
	v, ok := o.of(name, KindBool)
	return v.truth, ok
}

// Number returns a numeric field as it was written.
func (o *Object) Number(name string) (string, bool) {
	o.wants(name, Form{Kind: FormNumber})
	v, ok := o.of(name, KindNumber)
	return v.text, ok
}

// Int returns an integer field in min…max. The notation counts: 2.0 and 2e0 are not integers.
func (o *Object) Int(name string, minimum, maximum int64) (int64, bool) {
	o.wants(name, Form{Kind: FormInteger, Least: minimum, Most: maximum})
	v, ok := o.Value(name)
	if !ok {
		return 0, false
	}
	return o.reader.integer(v, o.location(name), minimum, maximum)
}

// Enum returns a field with one of the allowed words, in the spelling of allowed. It accepts any letter case.
func (o *Object) Enum(name string, allowed ...string) (string, bool) {
	o.wants(name, Form{Kind: FormWord}, allowed...)
	if o.kind != "" && name == typeMember {
		return o.kind, true
	}
	v, ok := o.Value(name)
	if !ok {
		return "", false
	}
	word, ok := o.reader.word(v, o.location(name), allowed)
	if ok {
		o.members[o.find(name)].Value = StringValue(word)
	}
	return word, ok
}

// Time returns a field with a date or an instant in a format of [ParseTime], in UTC. YAML parses a date in basic
// format, 20261207, as a number. The tree gets the extended format of RFC 3339.
func (o *Object) Time(name string) (time.Time, bool) {
	o.wants(name, Form{Kind: FormTime})
	v, ok := o.Value(name)
	if !ok {
		return time.Time{}, false
	}
	if v.kind == KindNumber && len(v.text) == 8 && digits(v.text) == 8 {
		v = StringValue(v.text)
	}
	if v.kind != KindString {
		o.reader.mismatch(o.location(name), KindString, v)
		return time.Time{}, false
	}
	t, err := ParseTime(v.text)
	if err != nil {
		o.reader.Problem(o.Path(name), "%v", err)
		return t, false
	}
	if form := time.RFC3339Nano; digits(v.text) == 8 {
		if len(v.text) == 8 {
			form = time.DateOnly
		}
		o.Set(name, StringValue(t.Format(form)))
	}
	return t, true
}

// Duration returns a field with a duration in a format of [ParseDuration], or a number of seconds. The tree gets ISO
// 8601. Exception: hh:mm:ss stays, because .NET clients, which write it, read no other format.
func (o *Object) Duration(name string) (Duration, bool) {
	o.wants(name, Form{Kind: FormLength})
	return o.duration(name)
}

// ExactDuration returns a duration from least to most, without years and months, because their length varies.
func (o *Object) ExactDuration(name string, least, most time.Duration) (time.Duration, bool) {
	o.wants(name, lengths(least, most))
	d, ok := o.duration(name)
	if !ok {
		return 0, false
	}
	switch {
	case d.Months > 0:
		o.Problem(member("", name), "%s must not use years or months, whose length varies", d)
	case d.Exact > most:
		o.Problem(member("", name), "%s is longer than the allowed %s", d, Duration{Exact: most})
	default:
		return d.Exact, o.NotShorter(name, d.Exact, least)
	}
	return 0, false
}

// NotShorter reports a field whose duration d is shorter than least.
func (o *Object) NotShorter(name string, d, least time.Duration) bool {
	if d < least {
		o.Problem(member("", name), "%s is shorter than the allowed %s", Duration{Exact: d}, Duration{Exact: least})
	}
	return d >= least
}

func (o *Object) duration(name string) (Duration, bool) {
	v, ok := o.Value(name)
	switch {
	case !ok:
		return Duration{}, false
	case v.kind != KindString && v.kind != KindNumber:
		o.Problem(member("", name), "must be a duration such as 30s or PT1H30M, not %s", v.kind)
		return Duration{}, false
	}
	d, err := ParseDuration(v.text)
	if err != nil {
		o.Problem(member("", name), "%v", err)
		return d, false
	}
	if !strings.HasPrefix(v.text, "P") && !strings.Contains(v.text, ":") {
		o.Set(name, StringValue(d.String()))
	}
	return d, true
}

// integer parses v as an integer in minimum…maximum.
func (r *Reader) integer(v Value, at location, minimum, maximum int64) (int64, bool) {
	if v.kind != KindNumber {
		r.Problem(at.path(), "must be a whole number, not %s", v.kind)
		return 0, false
	}
	if strings.ContainsAny(v.text, ".eE") {
		r.Problem(at.path(), "must be a whole number, not %s", v.text)
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	tooLarge := n > maximum || err != nil && v.text[0] != '-'
	switch {
	case tooLarge && maximum >= math.MaxInt32:
		r.Problem(at.path(), "%s is too large; the most is %d", v.text, maximum)
	case err != nil || n < minimum || n > maximum:
		r.Problem(at.path(), "%s is not %s", v.text, interval(minimum, maximum))
	default:
		return n, true
	}
	return 0, false
}

// interval describes the numbers from minimum to maximum. A maximum that means "any" is omitted.
func interval(minimum, maximum int64) string {
	from, to := strconv.FormatInt(minimum, 10), strconv.FormatInt(maximum, 10)
	switch {
	case maximum >= math.MaxInt32:
		return "at least " + from
	case minimum < 0:
		return "in " + from + " to " + to
	}
	return "in " + from + "-" + to
}

// word parses v as one of the allowed words.
func (r *Reader) word(v Value, at location, allowed []string) (string, bool) {
	if v.kind != KindString {
		r.mismatch(at, KindString, v)
		return "", false
	}
	for _, word := range allowed {
		if strings.EqualFold(word, v.text) {
			return word, true
		}
	}
	hint := ""
	if near := Nearest(v.text, allowed); near != "" {
		hint = "; did you mean " + strconv.Quote(near) + "?"
	}
	r.Problem(at.path(), "%q is not one of %s%s", v.text, strings.Join(allowed, ", "), hint)
	return "", false
}
