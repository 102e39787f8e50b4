package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
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
	p := maps.Clone(formOf(flag).schema)
	p["description"] = flag.Help
	if d, ok := byDefault(flag); ok {
		p["default"] = d
	}
	return p
}

// byDefault is the default of a flag as the file would have it.
func byDefault(flag *kong.Flag) (any, bool) {
	switch {
	case flag.Target.Kind() == reflect.Bool:
		return false, true
	case !flag.HasDefault || flag.Default == "":
		return nil, false
	case flag.Target.Kind() == reflect.Slice:
		return strings.Split(flag.Default, ","), true
	}
	if n, err := strconv.ParseFloat(flag.Default, 64); err == nil {
		return n, true
	}
	return flag.Default, true
}

// Row is a setting as it is shown, without passwords.
type Row struct {
	Name     string `json:"name"`
	Value    any    `json:"value"`
	Origin   string `json:"origin"`             // flag, variable, file or default
	Variable string `json:"variable,omitempty"` // which, for variable
	File     string `json:"file,omitempty"`     // which, for file
	Line     int    `json:"line,omitempty"`     // from 1, in the file
	Live     bool   `json:"live"`               // it changes with the file, without a restart

	text string
	from Origin
}

// Columns are the row for people.
func (r Row) Columns() []string { return []string{r.Name, r.text, r.from.String()} }

// Rows are all settings as they are shown: programs get numbers, lists and maps as JSON has them.
func (s Set) Rows() []Row {
	return terminal.All(s, func(one Setting) Row {
		o := one.Origin
		return Row{
			Name: one.Name, Origin: word(o), Variable: o.Variable, File: o.File, Line: o.Line, Live: one.Live(),
			Value: one.shown(), text: one.text(), from: o,
		}
	})
}

func word(o Origin) string {
	first, _, _ := strings.Cut(o.String(), " ")
	if o.Line > 0 {
		return "file"
	}
	return first
}

// shown is a value for programs.
func (s Setting) shown() any {
	switch v := s.value().(type) {
	case time.Duration:
		return duration(v)
	case fmt.Stringer:
		return v.String()
	case string:
		return masked(s.flag, v)
	case []string:
		return terminal.All(v, func(text string) string { return masked(s.flag, text) })
	case map[string]string:
		all := make(map[string]string, len(v))
		for name, text := range v {
			all[name] = masked(s.flag, text)
		}
		return all
	default:
		return v
	}
}

// text is a value for people.
func (s Setting) text() string {
	var text string
	switch v := s.shown().(type) {
	case []string:
		text = strings.Join(v, ", ")
	case map[string]string:
		text = terminal.Pairs(v, ", ")
	default:
		text = fmt.Sprint(v)
	}
	if text == "" {
		return "-"
	}
	return text
}

// duration omits zero units: 1440h instead of 1440h0m0s.
func duration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// userinfo matches a URL up to the last @, because a password can contain an @.
var userinfo = regexp.MustCompile(`://\S*@`)

// hidden replaces secret values.
const hidden = "…"

// masked is a text without what may be a password.
func masked(flag *kong.Flag, text string) string {
	if !flag.Tag.Has("userinfo") {
		return userinfo.ReplaceAllString(text, "://"+hidden+"@")
	}
	parts := []string{text}
	between := flag.Tag.Get("listed")
	if between != "" {
		parts = strings.Split(text, between)
	}
	for i, part := range parts {
		at := strings.LastIndexByte(part, '@')
		if at < 0 {
			continue
		}
		scheme := ""
		if before, _, ok := strings.Cut(part[:at], "://"); ok {
			scheme = before + "://"
		}
		parts[i] = scheme + hidden + part[at:]
	}
	return strings.Join(parts, between)
}
