package wire

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestParseMessage(t *testing.T) {
	long := strings.Repeat("x", MaxText)
	tests := []struct {
		body string
		want string
		ok   bool
		code string
	}{
		{"", "", false, ""},
		{"<QueueMessage><MessageText>x</MessageText></QueueMessage>", "x", true, ""},
		{"\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<QueueMessage>\n <MessageText> x\n</MessageText>\n</QueueMessage>\n", " x\n", true, ""},
		{"<QueueMessage><MessageText></MessageText></QueueMessage>", "", true, ""},
		{"<QueueMessage><MessageText/></QueueMessage>", "", true, ""},
		{"<q:QueueMessage xmlns:q=\"u\"><q:MessageText>x</q:MessageText></q:QueueMessage>", "x", true, ""},
		{"<QueueMessage><MessageText>&lt;a&gt; <![CDATA[<b>]]><!-- c -->&#13;</MessageText></QueueMessage>", "<a> <b>\r", true, ""},
		{"<QueueMessage><MessageText>" + long + "</MessageText></QueueMessage>", long, true, ""},
		{"<QueueMessage><MessageText>" + long + "x</MessageText></QueueMessage>", "", false, "RequestBodyTooLarge"},
		{"<QueueMessage/>", "", false, ""},
		{"<Other/>", "", false, "InvalidXmlDocument"},
		{"x<QueueMessage/>", "", false, "InvalidXmlDocument"},
		{"<QueueMessage/>x", "", false, "InvalidXmlDocument"},
		{"<QueueMessage/><QueueMessage/>", "", false, "InvalidXmlDocument"},
		{"<QueueMessage><MessageText>x", "", false, "InvalidXmlDocument"},
		{"<QueueMessage>x<MessageText>x</MessageText></QueueMessage>", "", false, "InvalidXmlDocument"},
		{"<QueueMessage><MessageText>a</MessageText><MessageText>b</MessageText></QueueMessage>", "", false, "InvalidXmlDocument"},
		{"<!DOCTYPE a><QueueMessage/>", "", false, "InvalidXmlDocument"},
		{"<?xml version=\"1.0\" encoding=\"utf-16\"?><QueueMessage/>", "", false, "InvalidXmlDocument"},
		{"<QueueMessage><MessageText>\x01</MessageText></QueueMessage>", "", false, "InvalidXmlDocument"},
		{"<QueueMessage><MessageText>\xff</MessageText></QueueMessage>", "", false, "InvalidXmlDocument"},
		{"<QueueMessage><MessageText><a/></MessageText></QueueMessage>", "", false, "UnsupportedXmlNode"},
		{"<QueueMessage><Other/></QueueMessage>", "", false, "InvalidXmlDocument"},
		{"<QueueMessage>" + strings.Repeat("<a>", 100), "", false, "InvalidXmlDocument"},
		{"<QueueMessage>" + strings.Repeat("<a/>", 1000) + "</QueueMessage>", "", false, "InvalidXmlDocument"},
	}
	for _, test := range tests {
		got, ok, err := ParseMessage([]byte(test.body))
		if code(err) != test.code || err == nil && (got != test.want || ok != test.ok) {
			t.Errorf("%.100q: got %.100q, %v, %v", test.body, got, ok, err)
		}
	}
}

// code returns the code of an error, "" for none. Every error of a reader is an [Error].
func code(err error) string {
	if err == nil {
		return ""
	}
	return err.(Error).Code //nolint:errorlint // it is one
}

func TestMessages(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	m := []Message{{
		ID: "id", Text: "<x>", Inserted: at, Expires: Forever, Receipt: "a+b", NextVisible: at.Add(time.Minute), DequeueCount: 2,
	}}
	const head = `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage><MessageId>id</MessageId>` +
		`<InsertionTime>Fri, 02 Jan 2026 03:04:05 GMT</InsertionTime><ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>`
	const receipt = `<PopReceipt>a+b</PopReceipt><TimeNextVisible>Fri, 02 Jan 2026 03:05:05 GMT</TimeNextVisible>`
	const text = `<DequeueCount>2</DequeueCount><MessageText>&lt;x&gt;</MessageText>`
	const tail = `</QueueMessage></QueueMessagesList>`
	for face, want := range map[Face]string{Put: head + receipt + tail, Taken: head + receipt + text + tail, Peeked: head + text + tail} {
		if got := string(Messages(face, m)); got != want {
			t.Errorf("%d: got %s", face, got)
		}
	}
}

func TestErrorBody(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	got := string(OutOfRangeParameter.With("QueryParameterName", "a\x00<").Body("id", at))
	const want = `<?xml version="1.0" encoding="utf-8"?><Error><Code>OutOfRangeQueryParameterValue</Code>` +
		"<Message>One of the query parameters specified in the request URI is outside the permissible range.\nRequestId:id\n" +
		"Time:2026-01-02T03:04:05.6780000Z</Message><QueryParameterName>a\ufffd&lt;</QueryParameterName></Error>"
	if got != want {
		t.Errorf("got %s", got)
	}
	a, b := QueueNotFound.With("a", "1"), QueueNotFound.With("b", "2")
	if len(QueueNotFound.Details) != 0 || a.Error() != "QueueNotFound: The specified queue does not exist.; a: 1" || len(b.Details) != 1 {
		t.Errorf("got %v and %v", a, b)
	}
}

// FuzzMessage sends any text there and back.
func FuzzMessage(f *testing.F) {
	f.Add("x")
	f.Add("\r\n\t<&>]]>\"'")
	f.Fuzz(func(t *testing.T, text string) {
		body := Messages(Taken, []Message{{Text: text}})
		var list struct {
			Texts []string `xml:"QueueMessage>MessageText"`
		}
		must.Do(t, xml.Unmarshal(body, &list))
		// What no XML has is replaced; it cannot come in either.
		if utf8.ValidString(text) && !strings.ContainsFunc(text, unspeakable) && list.Texts[0] != text {
			t.Errorf("got %q, want %q", list.Texts[0], text)
		}
	})
}

func unspeakable(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
}

// FuzzParse reads any document as each kind. A text that is taken comes back the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte("<QueueMessage><MessageText>x</MessageText></QueueMessage>"))
	f.Add(Policies([]Policy{{ID: "a", Start: Forever, Expiry: Forever, Permission: "raup"}}))
	f.Add(sample().Body())
	f.Fuzz(func(t *testing.T, body []byte) {
		if text, ok, err := ParseMessage(body); err == nil && ok {
			if strings.ContainsFunc(text, unspeakable) || !utf8.ValidString(text) || len(text) > MaxText {
				t.Errorf("took %q", text)
			}
		} else {
			_ = code(err)
		}
		if policies, err := ParsePolicies(body); err != nil {
			_ = code(err)
		} else if again, err := ParsePolicies(Policies(policies)); err != nil || len(again) != len(policies) {
			t.Errorf("%v came back as %v, %v", policies, again, err)
		}
		if p, err := ParseProperties(body, DefaultProperties()); err != nil {
			_ = code(err)
		} else if _, err := ParseProperties(p.Body(), DefaultProperties()); err != nil {
			t.Errorf("%+v did not come back: %v", p, err)
		}
	})
}
