package expression

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Limits of the package comment.
const (
	maxText = 4096
	maxKey  = 256
)

// Program is a compiled expression over the variables event and job. It is safe for concurrent use.
type Program struct {
	text    string
	want    string // describes the values that it may yield
	program cel.Program
	reads   map[int64]path // the fields of variables that the expression reads, by the ID of their node
	fields  []path         // the longest of them that belong to event
}

// Condition compiles an expression that yields a bool.
func Condition(text string) (*Program, error) {
	return compile(text, "a bool", types.BoolKind)
}

// Text compiles an expression that yields a key: a string, int, uint, double, bool or timestamp.
func Text(text string) (*Program, error) {
	return compile(text, "a string, number, bool or timestamp",
		types.StringKind, types.IntKind, types.UintKind, types.DoubleKind, types.BoolKind, types.TimestampKind)
}

// Instant compiles an expression that yields a timestamp, a string with an RFC 3339 time, or a duration after
// event.time.
func Instant(text string) (*Program, error) {
	return compile(text, "a timestamp, RFC 3339 string or duration",
		types.TimestampKind, types.StringKind, types.DurationKind)
}

// compile compiles an expression whose value has one of the kinds; want describes them. A value whose type is known
// only at evaluation is checked then.
func compile(text, want string, kinds ...types.Kind) (_ *Program, err error) {
	defer func() { // a defect of CEL must not end the process
		if cause := recover(); cause != nil {
			err = fmt.Errorf("cannot be compiled: %v", cause)
		}
	}()
	switch {
	case len(text) > maxText:
		return nil, fmt.Errorf("must have at most %d bytes, got %d", maxText, len(text))
	case !utf8.ValidString(text):
		return nil, errors.New("must be valid UTF-8")
	case strings.TrimSpace(text) == "":
		return nil, errors.New("must not be empty")
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, firstIssue(issues, nil)
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, firstIssue(issues, parsed.NativeRep())
	}
	yields := checked.OutputType()
	if !slices.Contains(append(kinds, types.DynKind, types.TypeParamKind, types.AnyKind), yields.Kind()) {
		return nil, fmt.Errorf("must yield %s, got %s", want, cel.FormatCELType(yields))
	}
	program, err := plan(env, checked)
	if err != nil {
		return nil, err
	}
	reads, fields := readsOf(checked.NativeRep())
	return &Program{text: text, want: want, program: program, reads: reads, fields: fields}, nil
}

// String returns the source text.
func (p *Program) String() string { return p.text }

// Bool evaluates a [Condition].
func (p *Program) Bool(in Input) (bool, error) {
	value, err := p.value(in)
	if err != nil {
		return false, err
	}
	if b, ok := value.(types.Bool); ok {
		return bool(b), nil
	}
	return false, p.unwanted(value, in)
}

// Text evaluates an expression of [Text]. Whole numbers have no exponent, and timestamps are in RFC 3339 and UTC. A key
// of more than 256 bytes is an error.
func (p *Program) Text(in Input) (string, error) {
	value, err := p.value(in)
	if err != nil {
		return "", err
	}
	key, ok := keyText(value.Value())
	switch {
	case !ok:
		return "", p.unwanted(value, in)
	case len(key) > maxKey:
		return "", fmt.Errorf("must yield at most %d bytes, got %d", maxKey, len(key))
	case !utf8.ValidString(key):
		return "", errors.New("must yield valid UTF-8")
	}
	return key, nil
}

func keyText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64:
		return number(v), true
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano), true
	case bool, int, int64, uint64:
		return fmt.Sprint(v), true
	default:
		return "", false
	}
}

// number returns a number as JSON writes it: without an exponent, if it is of usual size.
func number(f float64) string {
	if f > -1e21 && f < 1e21 && (f == 0 || f < -1e-6 || f > 1e-6) {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// Instant evaluates an expression of [Instant]. The result is in UTC.
func (p *Program) Instant(in Input) (time.Time, error) {
	value, err := p.value(in)
	if err != nil {
		return time.Time{}, err
	}
	var instant time.Time
	switch v := value.(type) {
	case types.Timestamp:
		instant = v.Time
	case types.Duration:
		instant = in.Event.Time.Add(v.Duration)
	case types.String:
		if instant, err = time.Parse(time.RFC3339, string(v)); err != nil {
			return time.Time{}, fmt.Errorf("must yield an RFC 3339 time, got %s", shown(string(v)))
		}
	default:
		return time.Time{}, p.unwanted(value, in)
	}
	instant = instant.UTC()
	if instant.Year() < 1 || instant.Year() > 9999 {
		return time.Time{}, fmt.Errorf("must yield a year between 1 and 9999, got %d", instant.Year())
	}
	return instant, nil
}

func (p *Program) value(in Input) (ref.Val, error) {
	vars := in.variables()
	value, _, err := p.program.Eval(vars)
	if err != nil {
		return nil, p.evaluationError(err, vars)
	}
	return value, nil
}

// unwanted is the error of a value of the wrong type.
func (p *Program) unwanted(value ref.Val, in Input) error {
	got := value.Type().TypeName()
	if t, ok := value.Type().(*types.Type); ok {
		got = cel.FormatCELType(t)
	}
	return p.withFields(fmt.Sprintf("must yield %s, got %s", p.want, got), in.variables())
}
