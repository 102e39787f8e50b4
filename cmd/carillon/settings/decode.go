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

// decode reads the value of a flag. Errors repeat nothing that may be a password.
func decode(flag *kong.Flag, v document.Value) (reflect.Value, error) {
	into := reflect.New(flag.Target.Type()).Elem()
	if v.Kind() == document.KindNull {
		return into, errors.New("has no value; without the line it is the default")
	}
	var err error
	switch flag.Target.Kind() {
	case reflect.Bool:
		if err = want(v, "true or false", document.KindBool); err == nil {
			into.SetBool(v.Bool())
		}
	case reflect.Slice:
		var texts []string
		texts, err = list(v)
		into.Set(reflect.ValueOf(texts))
	case reflect.Map:
		var texts map[string]string
		texts, err = table(v)
		into.Set(reflect.ValueOf(texts))
	case reflect.String:
		var text string
		text, err = line(flag, v)
		into.SetString(text)
	default:
		err = scalar(flag, v, into)
	}
	return into, err
}

// aText is what most values are.
const aText = "a text"

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

// line decodes a text, or a list that replaces one.
func line(flag *kong.Flag, v document.Value) (string, error) {
	if between := flag.Tag.Get("listed"); between != "" && v.Kind() == document.KindArray {
		texts, err := list(v)
		return strings.Join(texts, between), err
	}
	if err := want(v, aText, document.KindString); err != nil {
		return "", err
	}
	if flag.Enum != "" && !slices.Contains(flag.EnumSlice(), v.Text()) {
		return "", fmt.Errorf("%q is not one of %s", v.Text(), strings.Join(flag.EnumSlice(), ", "))
	}
	if v.Text() == "" || flag.Tag.Type == "" {
		return v.Text(), nil
	}
	into := reflect.New(flag.Target.Type()).Elem()
	return into.String(), parse(flag, v.Text(), into)
}

// scalar decodes a number, a duration, or a text.
func scalar(flag *kong.Flag, v document.Value, into reflect.Value) error {
	what, kinds := formOf(flag)
	if err := want(v, what, kinds...); err != nil {
		return err
	}
	if into.Kind() == reflect.Float64 {
		n, err := strconv.ParseFloat(v.Text(), 64)
		into.SetFloat(n)
		return err
	}
	if _, err := strconv.ParseInt(v.Text(), 10, 64); v.Kind() == document.KindNumber && err != nil {
		return fmt.Errorf("%s is not a whole number", v.Text())
	}
	if into.Type() == durationType {
		if _, err := time.ParseDuration(v.Text()); err != nil {
			return fmt.Errorf("%q is not a duration such as 20s, 15m or 1h30m", v.Text())
		}
	}
	return parse(flag, v.Text(), into)
}

// formOf says how a value is written that is neither a text nor made of several.
func formOf(flag *kong.Flag) (what string, kinds []document.Kind) {
	switch t := flag.Target.Type(); {
	case t == durationType:
		return "a duration such as 20s", []document.Kind{document.KindString}
	case reflect.PointerTo(t).Implements(textType): // it knows its own words
		return "a " + strings.ToLower(flag.PlaceHolder), []document.Kind{document.KindString, document.KindNumber}
	}
	return "a number", []document.Kind{document.KindNumber}
}

// parse parses a text as the flag's value.
func parse(flag *kong.Flag, text string, into reflect.Value) error {
	value := *flag.Value
	err := value.Parse(kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: text}), into)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), flag.ShortSummary()+": "))
	}
	return nil
}

func list(v document.Value) ([]string, error) {
	if err := want(v, "a list", document.KindArray); err != nil {
		return nil, err
	}
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
	if err := want(v, "a map", document.KindObject); err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, m := range v.Members() {
		if err := want(m.Value, aText, document.KindString); err != nil {
			return nil, fmt.Errorf("%s %w", m.Name, err)
		}
		texts[m.Name] = m.Value.Text()
	}
	return texts, nil
}
