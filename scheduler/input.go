package scheduler

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Limits for the data of a run and for the schema that validates it. The number of schema parts limits the cost of a
// validation, because each part visits each value of the data at most once.
const (
	MaxRunData    = 4 << 10 // length in bytes as JSON: the baton and every record of the run carry it
	maxInputParts = 1000    // objects and arrays of a schema; each use of a $ref counts its target again
	maxInputRange = 400     // largest decimal exponent of a number
)

// ReadRun parses the body of a run request, {"data": {…}}, and returns the data as JSON, nil for none.
func ReadRun(v document.Value) (json.RawMessage, error) {
	r := document.NewReader()
	o := r.Object(v, "")
	var data json.RawMessage
	if _, ok := o.Object("data"); ok {
		given, _ := o.Value("data")
		data = given.JSON()
		if len(data) > MaxRunData {
			o.Problem("data", "is %d bytes long as JSON, at most %d are allowed: send a reference to what is larger", len(data), MaxRunData)
		}
	}
	o.Done()
	return data, AsInvalid(r.Err())
}

// CheckRun returns [ErrInvalid] if a run of the job cannot have this data. The schema input decides; without one, a
// template must use each field.
func (d *Definition) CheckRun(data json.RawMessage) error {
	v := document.ObjectValue()
	if data != nil {
		var err error
		if v, err = document.Parse(data); err != nil {
			return Invalid("data", err.Error())
		}
	}
	r := document.NewReader()
	switch {
	case d.Input.Kind() == document.KindObject:
		schema, err := compileInput(d.Input)
		if err == nil {
			err = checkNumbers(v)
		}
		if err == nil {
			err = schema.Validate(plainValue(v))
		}
		reportSchema(r, "data", err)
	default:
		for _, m := range v.Members() {
			if !d.UsesData(m.Name) {
				r.Problem("data."+m.Name, "no template of the job uses it: correct the name, or declare it in the job's input")
			}
		}
	}
	return AsInvalid(r.Err())
}

// compileInput compiles a JSON Schema. It rejects references to other documents, and schemas that are too expensive to
// apply.
func compileInput(v document.Value) (*jsonschema.Schema, error) {
	b := schemaBounds{root: v}
	if err := cmp.Or(checkNumbers(v), b.walk(v)); err != nil {
		return nil, err
	}
	const url = "carillon:///input"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // loads no other document
	c.AssertFormat()
	if err := c.AddResource(url, plainValue(v)); err != nil {
		return nil, err
	}
	return c.Compile(url)
}

// plainValue converts a value for the schema library.
func plainValue(v document.Value) any {
	plain, _ := jsonschema.UnmarshalJSON(bytes.NewReader(v.JSON())) // a value always encodes to JSON
	return plain
}

// schemaBounds counts the parts of a schema.
type schemaBounds struct {
	root  document.Value
	parts int
}

func (b *schemaBounds) walk(v document.Value) error {
	b.parts++
	if b.parts > maxInputParts {
		return fmt.Errorf("has more than %d parts, what its $ref repeat included; one must not refer to itself", maxInputParts)
	}
	for _, m := range v.Members() {
		if m.Value.Kind() != document.KindString {
			continue
		}
		switch m.Name {
		case "$ref":
			to, ok := b.find(m.Value.Text())
			if !ok {
				return fmt.Errorf("$ref %q: only parts of the same schema can be referred to, such as #/$defs/order", m.Value.Text())
			}
			if err := b.walk(to); err != nil {
				return err
			}
		case "$id", "id", "$dynamicRef", "$recursiveRef":
			return fmt.Errorf("%s is not supported: refer to parts of the schema by $ref", m.Name)
		case "$schema":
			if !strings.Contains(m.Value.Text(), "/draft/2020-12/schema") {
				return fmt.Errorf("$schema %q is not supported: leave it out, or use https://json-schema.org/draft/2020-12/schema",
					m.Value.Text())
			}
		}
	}
	for _, inner := range innerValues(v) {
		if inner.Kind() == document.KindObject || inner.Kind() == document.KindArray {
			if err := b.walk(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns the part of the schema at a JSON pointer that begins with #.
func (b *schemaBounds) find(pointer string) (v document.Value, ok bool) {
	v = b.root
	if pointer == "#" {
		return v, true
	}
	rest, ok := strings.CutPrefix(pointer, "#/")
	if !ok {
		return v, false
	}
	for name := range strings.SplitSeq(rest, "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(v.Items()) {
			v = v.Items()[n]
		} else if v, ok = v.Member(name); !ok {
			return v, false
		}
	}
	return v, v.Kind() == document.KindObject || v.Kind() == document.KindBool
}

// innerValues returns the field values of an object, or the items of an array.
func innerValues(v document.Value) []document.Value {
	inner := v.Items()
	for _, m := range v.Members() {
		inner = append(inner, m.Value)
	}
	return inner
}

// checkNumbers rejects numbers whose exact value is too expensive to compute with.
func checkNumbers(v document.Value) error {
	for _, inner := range innerValues(v) {
		if err := checkNumbers(inner); err != nil {
			return err
		}
	}
	_, exponent, _ := strings.Cut(strings.ToLower(v.Text()), "e")
	if n, err := strconv.Atoi(exponent); v.Kind() == document.KindNumber && exponent != "" && (err != nil || max(n, -n) > maxInputRange) {
		return fmt.Errorf("the number %s is out of range: its exponent is beyond %d", v.Text(), maxInputRange)
	}
	return nil
}

// reportSchema reports the problems in an error of the schema library at their paths below path.
func reportSchema(r *document.Reader, path string, err error) {
	if wrong, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = wrong.Err
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		if err != nil {
			r.Problem(path, "%v", err)
		}
		return
	}
	for _, cause := range invalid.Causes {
		reportSchema(r, path, cause)
	}
	if len(invalid.Causes) == 0 {
		r.Problem(strings.Join(append([]string{path}, invalid.InstanceLocation...), "."), "%s", invalid.BasicOutput().Error)
	}
}
