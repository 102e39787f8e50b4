package document

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// quoted is the styles of scalars that are always text.
const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// isNull reports whether a node is null.
func isNull(node *yaml.Node) bool {
	v, wrong := scalarValue(node)
	return node.Kind == yaml.ScalarNode && v.kind == KindNull && wrong == ""
}

// scalarValue converts a scalar by the core schema of YAML 1.2, and also accepts signs, other bases and underscores in
// numbers; or it returns what is wrong. No message quotes the input: it may be an unquoted password.
func scalarValue(node *yaml.Node) (v Value, wrong string) {
	if node.Style&quoted != 0 {
		return StringValue(node.Value), ""
	}
	switch node.Value {
	case "", "~", "null", "Null", "NULL":
		return Value{}, ""
	case "true", "True", "TRUE":
		return BoolValue(true), ""
	case "false", "False", "FALSE":
		return BoolValue(false), ""
	case ".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF", "+.inf", "+.Inf", "+.INF":
		return Value{}, "inf is not supported"
	case ".nan", ".NaN", ".NAN":
		return Value{}, "nan is not supported"
	}
	canonical, ok := plainNumber(node.Value)
	if !ok {
		return StringValue(node.Value), ""
	}
	return numberValue(node.Value, canonical)
}

// numberValue returns a number with its original text if that is valid JSON, else (0x1F, +5, .5) with canonical text.
// It refuses leading zeros, because YAML parsers read 010 as eight or as ten.
func numberValue(written, canonical string) (v Value, wrong string) {
	if numberLength(written) == len(written) {
		return NumberValue(written), ""
	}
	if bare := strings.TrimLeft(written, "+-"); len(bare) > 1 && bare[0] == '0' && digits(bare[1:]) > 0 {
		return Value{}, "a number has a leading zero; drop it, or put text in quotes"
	}
	if numberLength(canonical) != len(canonical) {
		return Value{}, "not a number that JSON can hold; put text in quotes"
	}
	return NumberValue(canonical), ""
}

// longestNumber is the maximum length of a number in a notation other than JSON's.
const longestNumber = 400

// plainNumber returns the canonical text of a number: a 64-bit integer, or a number with a decimal point. A number with
// an exponent and no point, such as 12e4 in a checksum, or with more digits, is text.
func plainNumber(written string) (canonical string, ok bool) {
	if len(written) > longestNumber {
		return "", false
	}
	bare, negative := strings.CutPrefix(written, "-")
	if !negative {
		bare = strings.TrimPrefix(written, "+")
	}
	if bare == "" || bare[0] != '.' && (bare[0] < '0' || bare[0] > '9') {
		return "", false
	}
	bare = strings.ReplaceAll(bare, "_", "")
	sign := ""
	if negative {
		sign = "-"
	}
	if strings.Contains(bare, ".") {
		f, err := strconv.ParseFloat(sign+bare, 64)
		return strconv.FormatFloat(f, 'g', -1, 64), err == nil && strings.Trim(bare, "0123456789.eE+-") == ""
	}
	text, base := bare, 10
	switch {
	case strings.HasPrefix(bare, "0x"):
		text, base = bare[2:], 16
	case strings.HasPrefix(bare, "0o"):
		text, base = bare[2:], 8
	case strings.HasPrefix(bare, "0b"):
		text, base = bare[2:], 2
	case len(bare) > 1 && bare[0] == '0':
		base = 8 // to some
	}
	if negative {
		i, err := strconv.ParseInt(sign+text, base, 64)
		return strconv.FormatInt(i, 10), err == nil
	}
	u, err := strconv.ParseUint(text, base, 64)
	return strconv.FormatUint(u, 10), err == nil
}

// The YAML library follows YAML 1.1 where the two versions disagree about text. Documents are YAML 1.2.

// oldBreaks are line breaks of YAML 1.1, which are text in 1.2.
var oldBreaks = []string{"\u0085", "\u2028", "\u2029"}

// hideBreaks replaces the line breaks of YAML 1.1 with private-use characters that the text does not contain. back
// restores them.
func hideBreaks(text string) (hidden string, back *strings.Replacer) {
	if !strings.Contains(text, oldBreaks[0]) && !strings.Contains(text, oldBreaks[1]) && !strings.Contains(text, oldBreaks[2]) {
		return text, strings.NewReplacer()
	}
	var hide, show []string
	private := '\U000F0000'
	for _, old := range oldBreaks {
		for strings.ContainsRune(text, private) {
			private++
		}
		hide, show = append(hide, old, string(private)), append(show, string(private), old)
		private++
	}
	return strings.NewReplacer(hide...).Replace(text), strings.NewReplacer(show...)
}

// asOld changes a version directive 1.2 to 1.1, because the library refuses 1.2.
func asOld(text string) string {
	const current, old = "%YAML 1.2", "%YAML 1.1"
	from := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, current) {
			return text[:from] + old + text[from+len(old):]
		}
		if !isPrelude(line) {
			break
		}
		from += len(line)
	}
	return text
}

// isPrelude reports whether a line precedes a document: empty, a comment or a directive.
func isPrelude(line string) bool {
	line = strings.TrimRight(line, " \t\r\n")
	return line == "" || line[0] == '#' || line[0] == '%'
}
