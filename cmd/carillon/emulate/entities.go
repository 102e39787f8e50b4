package emulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// readEntities reads a config.json of Microsoft's emulator, if there is to be one. Problems come with their places.
func readEntities(file string) (servicebus.Entities, error) {
	if file == "" {
		return servicebus.Entities{}, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return servicebus.Entities{}, terminal.Usagef("--config: %s: %w", file, terminal.WithoutPath(err))
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	entities, err := servicebus.ReadConfig(bytes.NewReader(raw))
	return entities, placed(file, raw, err)
}

// placed says where in a file the problems are.
func placed(file string, raw []byte, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := position(raw, e.Offset)
		return fmt.Errorf("%s:%d:%d: %w", file, line, column, err)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		line, _ := position(raw, e.Offset)
		field := e.Field
		if field != "" {
			field += ": "
		}
		return fmt.Errorf("%s:%d: %s%s is not %s", file, line, field, e.Value, kindName(e.Type))
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("%s: %w", file, err)
	}
	var problems []error
	for _, problem := range several.Unwrap() {
		problems = append(problems, fmt.Errorf("%s: %w", file, problem))
	}
	return errors.Join(problems...)
}

// position returns the line and the column, both from 1, of what ends at an offset.
func position(raw []byte, offset int64) (line, column int) {
	before := raw[:min(max(offset-1, 0), int64(len(raw)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// kindName is what JSON calls the values of a type.
func kindName(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // others do not occur
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}
