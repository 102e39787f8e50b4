package admin

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/duration"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// The namespaces of types that XML Schema lacks, as DataContractSerializer of .NET, and so the service, has them.
const (
	serializationSpace = "http://schemas.microsoft.com/2003/10/Serialization/"
	systemSpace        = "http://schemas.datacontract.org/2004/07/System"
)

// keyValueItem is a value with its type.
type keyValueItem struct {
	typed

	Nil    string  `xml:"http://www.w3.org/2001/XMLSchema-instance nil,attr,omitempty"`
	None   string  `xml:"i:nil,attr,omitempty"` // Nil in an answer
	Schema string  `xml:"xmlns:d6p1,attr,omitempty"`
	Text   string  `xml:",chardata"`
	Time   *string `xml:"DateTime"`      // of a DateTimeOffset: the instant
	Offset *string `xml:"OffsetMinutes"` // of a DateTimeOffset: where that was its time
}

// parse returns the AMQP value. Types that AMQP lacks are encoded as .NET's clients encode them; see [filter.Span].
func (v keyValueItem) parse() (any, error) {
	if isNil, err := strconv.ParseBool(v.Nil); err == nil && isNil {
		return nil, nil //nolint:nilnil // null is a value
	}
	space, kind := splitName(v.Read)
	text := strings.TrimSpace(v.Text)
	switch space {
	case schemaSpace, serializationSpace, systemSpace:
	default:
		if v.Read == "" {
			return v.Text, nil
		}
		return nil, fmt.Errorf("%q is no type of a value", kind)
	}
	if kind == "DateTimeOffset" {
		t, err := parseTime(strings.TrimSpace(value(v.Time)))
		if err != nil || t.Location() == filter.Unzoned {
			return nil, malformedValue(value(v.Time), kind)
		}
		return filter.Offset(t), nil
	}
	parsed, err := parseValue(kind, text)
	if errors.Is(err, errUntrimmed) {
		return v.Text, nil
	}
	return parsed, err
}

// errUntrimmed makes the text itself the value.
var errUntrimmed = errors.New("text")

// parseValue returns the value of a type by its local name, which has the same meaning in each namespace that has it.
func parseValue(kind, text string) (parsed any, err error) {
	switch kind {
	case "string", "normalizedString", "token", "language", "Name", "NCName", "ID", "IDREF", "ENTITY", "NMTOKEN", "QName", "time", "date":
		return nil, errUntrimmed
	case "boolean":
		parsed, err = parseBoolean(text)
	case "double":
		parsed, err = strconv.ParseFloat(text, 64)
	case "decimal":
		parsed, err = parseDecimal(text)
	case "float":
		var f float64
		f, err = strconv.ParseFloat(text, 32)
		parsed = float32(f)
	case "dateTime":
		parsed, err = parseTime(text)
	case "duration":
		parsed, err = parseSpan(text)
	case "anyURI":
		parsed = amqp.Described{Descriptor: filter.URI, Value: text}
	case "guid":
		parsed, err = amqp.ParseUUID(text)
	case "char": // as a number
		parsed, err = parseChar(text)
	case "base64Binary":
		parsed, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	case "hexBinary":
		parsed, err = hex.DecodeString(text)
	default:
		return parseWhole(kind, text)
	}
	if err != nil {
		return nil, malformedValue(text, kind)
	}
	return parsed, nil
}

func malformedValue(text, kind string) error {
	return fmt.Errorf("%.100q is no value of type %s", text, kind)
}

// wholeTypes maps the integer types of XML Schema to AMQP.
var wholeTypes = map[string]string{
	"byte": "byte", "short": "short", "int": "int", "long": "long", "integer": "long", "positiveInteger": "long", "negativeInteger": "long",
	"nonPositiveInteger": "long", "nonNegativeInteger": "long",
	"unsignedByte": "ubyte", "unsignedShort": "ushort", "unsignedInt": "uint", "unsignedLong": "ulong",
}

// parseWhole returns a number of a type of whole numbers.
func parseWhole(kind, text string) (any, error) {
	of, ok := wholeTypes[kind]
	if !ok {
		return nil, fmt.Errorf("%q is no type of a value", kind)
	}
	if of[0] == 'u' { // strconv refuses a sign
		text = strings.TrimPrefix(text, "+")
	}
	parsed, err := amqp.ParseInteger(of, text)
	if err != nil {
		return nil, malformedValue(text, kind)
	}
	return parsed, nil
}

// parseBoolean reads what XML Schema calls a boolean, and the spelling of .NET and Python.
func parseBoolean(text string) (bool, error) {
	switch text {
	case "true", "True", "1":
		return true, nil
	case "false", "False", "0":
		return false, nil
	}
	return false, strconv.ErrSyntax
}

// parseDecimal reads a number without an exponent. Filters calculate with it as with a double.
func parseDecimal(text string) (float64, error) {
	if strings.Trim(text, "+-.0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

// parseTime reads a time, which has a zone or not.
func parseTime(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UTC(), nil
	}
	return time.ParseInLocation("2006-01-02T15:04:05", text, filter.Unzoned)
}

func parseSpan(text string) (any, error) {
	rest, negative := strings.CutPrefix(text, "-")
	d, err := duration.Parse(rest)
	if err != nil {
		return nil, err
	}
	if d == 0 && strings.ContainsAny(rest, "123456789") { // 292 years
		return nil, strconv.ErrRange
	}
	if negative {
		d = -d
	}
	return filter.Span(d), nil
}

func parseChar(text string) (amqp.Char, error) {
	code, err := strconv.ParseUint(text, 10, 16)
	return amqp.Char(rune(code)), err
}

// newValue writes a value. Its type always has the same prefix, as there are clients that know no other.
func newValue(value any) keyValueItem {
	if value == nil {
		return keyValueItem{None: "true"}
	}
	if t, ok := filter.OffsetTime(value); ok {
		return keyValueItem{
			typed: typed{Write: "d6p1:DateTimeOffset"}, Schema: systemSpace, Time: new(formatTime(t)), Offset: new("0"),
		}
	}
	space, kind, text := formatValue(value)
	return keyValueItem{typed: typed{Write: "d6p1:" + kind}, Schema: space, Text: text}
}

// xmlTypes maps types of AMQP to XML Schema.
var xmlTypes = map[string]string{
	"boolean": "boolean", "byte": "byte", "short": "short", "int": "int", "long": "long", "ubyte": "unsignedByte",
	"ushort": "unsignedShort", "uint": "unsignedInt", "ulong": "unsignedLong", "float": "float", "double": "double",
	"timestamp": "dateTime", "binary": "base64Binary", "uuid": "guid", "char": "char",
}

// formatValue returns the type of a value and how it is written.
func formatValue(value any) (space, kind, text string) {
	space, kind, text = schemaSpace, cmp.Or(xmlTypes[amqp.TypeOf(value)], "string"), fmt.Sprint(value)
	switch v := value.(type) {
	case float32:
		text = formatFloat(float64(v), 32)
	case float64:
		text = formatFloat(v, 64)
	case time.Time:
		text = formatTime(v)
	case []byte:
		text = base64.StdEncoding.EncodeToString(v)
	case amqp.UUID:
		space = serializationSpace
	case amqp.Char:
		space, text = serializationSpace, strconv.Itoa(int(v))
	case amqp.Described:
		if d, ok := filter.SpanLength(value); ok {
			return serializationSpace, "duration", formatSpan(d)
		}
		if v.Descriptor == filter.URI {
			return schemaSpace, "anyURI", fmt.Sprint(v.Value)
		}
		kind = "string"
	}
	return space, kind, text
}

// formatTime writes a time, with a zone if it has one.
func formatTime(t time.Time) string {
	if t.Location() == filter.Unzoned {
		return t.Format("2006-01-02T15:04:05.999999999")
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func formatSpan(d time.Duration) string {
	switch {
	case d == 0:
		return "PT0S"
	case d < 0:
		return "-" + duration.Format(-d)
	default:
		return duration.Format(d)
	}
}

// formatFloat writes a number in the shortest form that reads back, and NaN and infinities with the names of XML
// Schema.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	default:
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
}
