package settings

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// Schema returns the JSON Schema (draft 2020-12) of a file of settings of a command.
func Schema(command *kong.Node) ([]byte, error) {
	properties := map[string]any{}
	for _, flag := range Flags(command) {
		properties[flag.Name] = property(flag)
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "Settings of carillon " + command.Name,
		"type":                 "object",
		"additionalProperties": false,
		"properties":           properties,
	}, "", "  ")
	return append(text, '\n'), err
}

// property is the schema of one setting.
func property(flag *kong.Flag) map[string]any {
	p := kind(flag)
	p["description"] = flag.Help
	if d, ok := byDefault(flag); ok {
		p["default"] = d
	}
	return p
}

func kind(flag *kong.Flag) map[string]any {
	text := map[string]any{"type": "string"}
	t := flag.Target.Type()
	switch {
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case isList(flag):
		return map[string]any{"type": "array", "items": text}
	case isMap(flag):
		return map[string]any{"type": "object", "additionalProperties": text}
	case flag.Enum != "":
		return map[string]any{"enum": flag.EnumSlice()}
	case t.Kind() == reflect.String && flag.Tag.Has("listed"):
		return map[string]any{"type": []string{"string", "array"}, "items": text}
	case t == durationType:
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`}
	case t.Kind() == reflect.String:
		return text
	case reflect.PointerTo(t).Implements(textType):
		return map[string]any{"type": []string{"string", "integer"}}
	case t.Kind() == reflect.Float64:
		return map[string]any{"type": "number"}
	}
	return map[string]any{"type": "integer"}
}

// byDefault is the default of a flag as the file would have it.
func byDefault(flag *kong.Flag) (any, bool) {
	switch {
	case flag.Target.Kind() == reflect.Bool:
		return false, true
	case !flag.HasDefault || flag.Default == "":
		return nil, false
	case isList(flag):
		return strings.Split(flag.Default, ","), true
	}
	if n, err := strconv.ParseFloat(flag.Default, 64); err == nil {
		return n, true
	}
	return flag.Default, true
}
