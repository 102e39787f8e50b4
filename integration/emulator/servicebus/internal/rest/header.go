package rest

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// reserved are the headers, in lower case, that are of HTTP, of the service or of those between, and so no properties.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`accept accept-charset accept-encoding accept-language access-control-request-headers
		access-control-request-method authorization brokerproperties cache-control connection content-disposition content-encoding
		content-language content-length content-location content-md5 content-range content-type cookie date dnt expect forwarded from
		host http2-settings if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive last-modified location
		max-forwards origin pragma proxy-authenticate proxy-authorization proxy-connection range referer request-id server set-cookie
		strict-transport-security te traceparent tracestate trailer transfer-encoding upgrade upgrade-insecure-requests user-agent vary
		via warning www-authenticate x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-real-ip
		servicebusauthorization servicebussupplementaryauthorization servicebusdlqsupplementaryauthorization`) {
		names[name] = true
	}
	return names
}()

// isReserved reports whether a header is no property.
func isReserved(name string) bool {
	name = strings.ToLower(name)
	return reserved[name] || strings.HasPrefix(name, "x-ms-") || strings.HasPrefix(name, "sec-")
}

// custom returns the properties that a sender has put into headers, by name, so that their order is no matter of chance.
func custom(ctx context.Context, header http.Header) amqp.Map {
	var properties amqp.Map
	for name, values := range header {
		if !isReserved(name) {
			properties = append(properties, amqp.Pair{Key: spelling.Of(ctx, name), Value: parseProperty(strings.Join(values, ","))})
		}
	}
	slices.SortFunc(properties, func(a, b amqp.Pair) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
	return properties
}

// parseProperty reads the value of a header: text in double quotes, true, false, or a number. What is none of them is text too.
func parseProperty(text string) any {
	if !utf8.ValidString(text) { // there are clients that write headers as Latin-1
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1]
	}
	switch strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return smallest(n)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f
	}
	return text
}

// smallest returns a number as an int if it is one for .NET, and else as a long.
func smallest(n int64) any {
	if n == int64(int32(n)) {
		return int32(n)
	}
	return n
}

// setCustom writes the properties of the application as headers. A property whose name no header can have is left out.
func setCustom(header http.Header, properties amqp.Map) {
	for _, pair := range properties {
		name, ok := pair.Key.(string)
		if text, has := formatProperty(pair.Value); ok && has && !isReserved(name) {
			header[name] = []string{printable(text)}
		}
	}
}

// printable returns text with spaces for the characters that no header can have: there are clients that refuse the whole answer.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// formatProperty writes the value of a property as a header has it. Null has no header.
func formatProperty(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", false
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), true
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case time.Time:
		return `"` + v.UTC().Format(http.TimeFormat) + `"`, true
	case amqp.Char:
		return `"` + string(rune(v)) + `"`, true
	case []byte:
		return `"` + base64.StdEncoding.EncodeToString(v) + `"`, true
	default:
		return `"` + fmt.Sprint(v) + `"`, true
	}
}
