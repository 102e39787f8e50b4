package openapi

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Schema is a JSON Schema (draft 2020-12), the form that OpenAPI 3.1 uses.
type Schema map[string]any

// Simple schemas.
var (
	Text    = Schema{"type": "string"}
	Truth   = Schema{"type": "boolean"}
	Instant = Schema{"type": "string", "format": "date-time"}
	name    = Schema{"type": "string", "pattern": "^[A-Za-z][-_A-Za-z0-9]{0,99}$"}
	count   = Schema{"type": "integer"}
)

// Between returns the schema of a whole number with bounds.
func Between(least, most int) Schema {
	return Schema{"type": "integer", "minimum": least, "maximum": most}
}

// AtLeast returns the schema of a whole number without an upper bound.
func AtLeast(least int) Schema { return Schema{"type": "integer", "minimum": least} }

// OneOf returns the schema of an enumeration.
func OneOf[T ~string](words ...T) Schema {
	return Schema{"type": "string", "enum": slices.Clone(words)}
}

// reference returns a reference to a component.
func reference(name string) Schema { return Schema{"$ref": "#/components/schemas/" + name} }

// coded are the schemas of types whose fields do not determine their JSON.
var coded = map[reflect.Type]Schema{
	reflect.TypeFor[time.Time]():         Instant,
	reflect.TypeFor[scheduler.Seconds](): {"type": "number", "description": "seconds"},
	reflect.TypeFor[json.RawMessage]():   {},
	reflect.TypeFor[document.Value]():    {"type": "object"},
}

// reflected derives schemas from Go types by their JSON tags, with a component for each struct.
type reflected struct {
	components map[string]Schema
	sources    map[string]source // descriptions of types
}

// of returns the schema of a type. Slices are arrays and never null, because answers encode empty ones as [].
func (r *reflected) of(t reflect.Type) Schema {
	if s, ok := coded[t]; ok {
		return s
	}
	switch t.Kind() { //nolint:exhaustive // answers have no others
	case reflect.Pointer:
		return r.of(t.Elem())
	case reflect.Slice:
		return Schema{"type": "array", "items": r.of(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": r.of(t.Elem())}
	case reflect.Struct:
		return r.component(t)
	case reflect.Bool:
		return Truth
	case reflect.Int, reflect.Int64:
		return count
	case reflect.Uint64:
		return AtLeast(0)
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		if values := r.sources[t.String()].Values; values != nil {
			return Schema{"type": "string", "enum": values}
		}
		return Text
	}
	panic("openapi: " + t.String() + " has no schema") // a defect: a test generates the document
}

// nameOf returns the name of the component for a type.
func nameOf(t reflect.Type) string {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if strings.HasPrefix(t.String(), "awx.") {
		name = "AWX" + name
	}
	return cmp.Or(named[t], name)
}

// repeating matches type comments that only repeat the operation.
var repeating = regexp.MustCompile(`^\w+ is the (body|answer) of the operation \w+\.$`)

// component adds a component for a struct, if missing, and returns a reference to it.
func (r *reflected) component(t reflect.Type) Schema {
	name := nameOf(t)
	if _, known := r.components[name]; !known {
		s := Schema{"type": "object"}
		r.components[name] = s // before its fields, which may be recursive
		properties, required := map[string]Schema{}, []string{}
		r.fields(t, properties, &required)
		s["properties"] = properties
		if len(required) > 0 {
			s["required"] = required
		}
		if text := r.sources[t.String()].Text; !repeating.MatchString(text) {
			s["description"] = text
		}
	}
	return reference(name)
}

// fields adds the encoded fields of a struct.
func (r *reflected) fields(t reflect.Type, properties map[string]Schema, required *[]string) {
	for f := range t.Fields() {
		member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case f.Anonymous && member == "":
			r.fields(embedded, properties, required)
			continue
		case member == "-" || !f.IsExported():
			continue
		}
		s := r.of(f.Type)
		absent := strings.Contains(options, "omit")
		if f.Type.Kind() == reflect.Pointer && !absent {
			s = Schema{"anyOf": []any{s, Schema{"type": "null"}}}
		}
		if text := r.sources[t.String()].Fields[member]; text != "" {
			s = with(s, "description", text)
		}
		properties[member] = s
		if !absent {
			*required = append(*required, member)
		}
	}
}

// with returns a schema with an additional keyword.
func with(s Schema, keyword string, value any) Schema {
	all := Schema{keyword: value}
	for k, v := range s {
		if k != keyword {
			all[k] = v
		}
	}
	return all
}
