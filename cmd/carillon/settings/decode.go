package settings

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/scheduler/document"
)

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	words        = [...]string{
		document.KindNull: "nothing", document.KindBool: "true or false", document.KindNumber: "a number", document.KindString: "a text",
		document.KindArray: "a list", document.KindObject: "a map",
	}
)

// form is how a file has the value of a flag.
type form struct {
	schema map[string]any // in JSON Schema
	what   string         // in messages
	kinds  []document.Kind
}

// textSchema is the schema of most values, and aText their name.
var textSchema = map[string]any{"type": "string"}

const aText = "a text"

// formOf returns the form of a flag's value.
func formOf(flag *kong.Flag) form {
	one := func(what string, kind document.Kind, schema map[string]any) form {
		return form{schema, what, []document.Kind{kind}}
	}
	switch t := flag.Target.Type(); {
	case t.Kind() == reflect.Bool:
		return one("true or false", document.KindBool, map[string]any{"type": "boolean"})
	case t.Kind() == reflect.Slice:
		return one("a list", document.KindArray, map[string]any{"type": "array", "items": textSchema})
	case t.Kind() == reflect.Map:
		return one("a map", document.KindObject, map[string]any{"type": "object", "additionalProperties": textSchema})
	case flag.Enum != "":
		return one(aText, document.KindString, map[string]any{"enum": flag.EnumSlice()})
	case t.Kind() == reflect.String && flag.Tag.Has("listed"):
		schema := map[string]any{"type": []string{"string", "array"}, "items": textSchema}
		return form{schema, aText, []document.Kind{document.KindString, document.KindArray}}
	case t == durationType:
		schema := map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`}
		return one("a duration such as 20s", document.KindString, schema)
	case t.Kind() == reflect.String:
		return one(aText, document.KindString, textSchema)
	case reflect.PointerTo(t).Implements(textType): // it knows its own words
		schema := map[string]any{"type": []string{"string", "integer"}}
		return form{schema, "a " + strings.ToLower(flag.PlaceHolder), []document.Kind{document.KindString, document.KindNumber}}
	case t.Kind() == reflect.Float64:
		return one("a number", document.KindNumber, map[string]any{"type": "number"})
	}
	return one("a number", document.KindNumber, map[string]any{"type": "integer"})
}

// decode reads the value of a flag. Errors repeat nothing that may be a password.
func decode(flag *kong.Flag, v document.Value) (reflect.Value, error) {
	into := reflect.New(flag.Target.Type()).Elem()
	if v.Kind() == document.KindNull {
		return into, errors.New("has no value; without the line it is the default")
	}
	f := formOf(flag)
	if err := want(v, f.what, f.kinds...); err != nil {
		return into, err
	}
	switch v.Kind() { //nolint:exhaustive // the others are texts for the flag
	case document.KindBool:
		into.SetBool(v.Bool())
		return into, nil
	case document.KindObject:
		texts, err := table(v)
		into.Set(reflect.ValueOf(texts))
		return into, err
	case document.KindArray:
		texts, err := list(v)
		if into.Kind() == reflect.Slice {
			into.Set(reflect.ValueOf(texts))
		} else {
			into.SetString(strings.Join(texts, flag.Tag.Get("listed")))
		}
		return into, err
	}
	return into, parse(flag, v, into)
}

// want makes sure that a value is of one of the kinds.
func want(v document.Value, what string, kinds ...document.Kind) error {
	if slices.Contains(kinds, v.Kind()) {
		return nil
	}
	hint := ""
	if what == aText && (v.Kind() == document.KindNumber || v.Kind() == document.KindBool) {
		hint = "; put it in quotes"
	}
	return fmt.Errorf("must be %s, not %s%s", what, words[v.Kind()], hint)
}

// parse parses a text or a number as the flag's value, in better words than the parser's.
func parse(flag *kong.Flag, v document.Value, into reflect.Value) error {
	text := v.Text()
	switch {
	case flag.Enum != "" && !slices.Contains(flag.EnumSlice(), text):
		return fmt.Errorf("%q is not one of %s", text, strings.Join(flag.EnumSlice(), ", "))
	case into.Kind() == reflect.String && (text == "" || flag.Tag.Type == ""):
		into.SetString(text)
		return nil
	case into.Type() == durationType:
		if _, err := time.ParseDuration(text); err != nil {
			return fmt.Errorf("%q is not a duration such as 20s, 15m or 1h30m", text)
		}
	case v.Kind() == document.KindNumber && into.Kind() != reflect.Float64:
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return fmt.Errorf("%s is not a whole number", text)
		}
	}
	value := *flag.Value
	err := value.Parse(kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: text}), into)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), flag.ShortSummary()+": "))
	}
	return nil
}

func list(v document.Value) ([]string, error) {
	texts := []string{}
	for i, item := range v.Items() {
		if err := want(item, aText, document.KindString); err != nil {
			return nil, fmt.Errorf("element %d %w", i+1, err)
		}
		texts = append(texts, item.Text())
	}
	return texts, nil
}

func table(v document.Value) (map[string]string, error) {
	texts := map[string]string{}
	for _, m := range v.Members() {
		if err := want(m.Value, aText, document.KindString); err != nil {
			return nil, fmt.Errorf("%s %w", m.Name, err)
		}
		texts[m.Name] = m.Value.Text()
	}
	return texts, nil
}
