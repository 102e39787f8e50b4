package queues

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// How much of a body is shown.
const (
	maxText = 128 << 10
	maxHex  = 16 << 10
	maxJSON = 1 << 20 // of a body that is parsed as a whole
)

// The ways to look at a body.
const (
	asJSON   = "json"
	asText   = "text"
	asHex    = "hex"
	asBase64 = "base64" // the decoded text of a storage queue's message
)

// shownBody is a body for people.
type shownBody struct {
	View    string   // how it is shown
	Views   []string // how it can be shown
	Text    string
	Shown   int64 // bytes; less than Size when it is large
	Size    int64
	Kind    string // data, value, sequence or none
	Type    string // of a value
	Invalid bool   // requested as JSON, but not JSON
}

// showBody shows a body in a view; "" selects a suitable one.
func showBody(b browse.Body, view string) shownBody {
	switch {
	case b.Kind == "none":
		return shownBody{Kind: b.Kind}
	case b.Kind == "data":
		s := showData(b.Data, b.Size, view)
		s.Kind = b.Kind
		return s
	case b.Text != "" && view != asHex:
		return shownBody{
			Kind: b.Kind, Type: b.Type, View: asText, Views: []string{asText, asHex}, Text: frame.Visible(cut(b.Text, maxText)),
			Size: b.Size, Shown: b.Size,
		}
	}
	s := showData([][]byte{b.Raw}, b.Size, asHex)
	s.Kind, s.Type, s.Views = b.Kind, b.Type, []string{asText, asHex}
	if b.Text == "" {
		s.Views = []string{asHex}
	}
	return s
}

// showData shows bytes.
func showData(sections [][]byte, size int64, view string) shownBody {
	s := shownBody{View: view, Views: []string{asJSON, asText, asHex}, Size: size}
	if view == "" {
		s.View = detect(sections, size)
	}
	switch s.View {
	case asJSON:
		if pretty, ok := prettyJSON(sections, size); ok {
			s.Text, s.Shown = frame.Visible(cut(pretty, 4*maxText)), size
			return s
		}
		s.Invalid, s.View = true, asText
	case asHex:
		b := joined(sections, maxHex)
		s.Text, s.Shown = strings.TrimSuffix(hex.Dump(b), "\n"), int64(len(b))
		return s
	default:
		s.View = asText
	}
	b := joined(sections, maxText)
	if int64(len(b)) < size {
		b = whole(b)
	}
	s.Text, s.Shown = frame.Visible(string(b)), int64(len(b))
	return s
}

// detect chooses the view that fits.
func detect(sections [][]byte, size int64) string {
	beginning := joined(sections, 4096)
	if int64(len(beginning)) < size {
		beginning = whole(beginning)
	}
	if !isText(beginning) {
		return asHex
	}
	if _, ok := prettyJSON(sections, size); ok {
		return asJSON
	}
	return asText
}

// isText reports whether bytes are text as people write it.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	odd := 0
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' {
			odd++
		}
	}
	return odd*20 <= len(b) && (odd == 0 || !bytes.ContainsRune(b, 0))
}

// prettyJSON indents an object, an array or another value, unless it is too large.
func prettyJSON(sections [][]byte, size int64) (string, bool) {
	if size > maxJSON || size == 0 {
		return "", false
	}
	b := bytes.TrimSpace(joined(sections, maxJSON))
	if len(b) == 0 || !strings.ContainsRune(`{["`, rune(b[0])) && !json.Valid(b) {
		return "", false
	}
	var out bytes.Buffer
	if json.Indent(&out, b, "", "  ") != nil || out.Len() > 8*maxJSON {
		return "", false
	}
	return out.String(), true
}

// joined returns the first bytes of sections, without a copy if there is only one.
func joined(sections [][]byte, most int) []byte {
	if len(sections) == 1 {
		return sections[0][:min(len(sections[0]), most)]
	}
	var all []byte
	for _, s := range sections {
		all = append(all, s[:min(len(s), most-len(all))]...)
	}
	return all
}

// whole cuts off a character that is not there as a whole.
func whole(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if at := b[len(b)-i:]; utf8.RuneStart(at[0]) {
			if !utf8.FullRune(at) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// reader reads the content of a download: the data, the text of a value, or another value's encoding.
func reader(b browse.Body) (io.Reader, int64) {
	if b.Kind == "data" {
		parts := make([]io.Reader, len(b.Data))
		for i, s := range b.Data {
			parts[i] = bytes.NewReader(s)
		}
		return io.MultiReader(parts...), b.Size
	}
	if b.Kind == "value" && (b.Type == "string" || b.Type == "symbol") && b.Text != "" {
		return strings.NewReader(b.Text), int64(len(b.Text))
	}
	return bytes.NewReader(b.Raw), int64(len(b.Raw))
}

// decoded decodes base64, which many clients of storage queues use.
func decoded(text string) ([]byte, bool) {
	text = strings.TrimSpace(text)
	if len(text) < 4 || len(text)%4 != 0 {
		return nil, false
	}
	b, err := base64.StdEncoding.DecodeString(text)
	return b, err == nil && len(b) > 0
}

// encoded writes a text in base64.
func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// short returns the beginning of a text, in one line.
func short(s string, most int) string {
	s = frame.Visible(strings.Join(strings.Fields(cut(s, 4*most)), " "))
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

// cut returns the beginning of a text, which does not end within a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// length formats a duration in words: its two largest units.
func length(d time.Duration) string {
	units := []struct {
		key string
		of  time.Duration
	}{{"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute}, {"seconds", time.Second}}
	var parts []string
	for _, u := range units {
		if n := d / u.of; n > 0 && len(parts) < 2 {
			parts = append(parts, words.Count("queues.length."+u.key, int(n)))
			d %= u.of
		}
	}
	if len(parts) == 0 {
		return d.String()
	}
	return strings.Join(parts, " ")
}

// spanText writes a length of time as forms have it: 14d, 1d12h, 90s; nothing for none.
func spanText(d time.Duration) string {
	const day = 24 * time.Hour
	if d <= 0 {
		return ""
	}
	text := ""
	if days := d / day; days > 0 {
		text = strconv.FormatInt(int64(days), 10) + "d"
	}
	if rest := d % day; rest > 0 {
		short := rest.String()
		if strings.HasSuffix(short, "m0s") {
			short = strings.TrimSuffix(short, "0s")
		}
		if strings.HasSuffix(short, "h0m") {
			short = strings.TrimSuffix(short, "0m")
		}
		text += short
	}
	return text
}

var errSpan = errors.New("it is no length of time")

// parseSpan parses a duration as [time.ParseDuration] does, with optional days in front. Empty is 0.
func parseSpan(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, errSpan
	}
	total := time.Duration(n) * 24 * time.Hour
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || total+d < total {
			return 0, errSpan
		}
		total += d
	}
	return total, nil
}
