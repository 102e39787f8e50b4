package plainjson_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/carillon-sched/carillon/scheduler/internal/plainjson"
)

// all has a member of each kind, each left out when it is zero but the first four.
type all struct {
	Int     int             `json:"int"`
	Uint    uint64          `json:"uint"`
	Time    time.Time       `json:"time"`
	Text    string          `json:"text"`
	OptInt  int             `json:"optInt,omitempty"`
	OptUint uint64          `json:"optUint,omitempty"`
	OptTime time.Time       `json:"optTime,omitzero"`
	OptText string          `json:"optText,omitempty"`
	Ints    []int64         `json:"ints,omitempty"`
	True    bool            `json:"true,omitempty"`
	Word    string          `json:"word,omitempty"`
	Number  json.Number     `json:"number,omitempty"`
	Inner   inner           `json:"inner,omitzero"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Last    int             `json:"last,omitempty"`
}

type inner struct {
	A int `json:"a,omitempty"`
	B int `json:"b,omitempty"`
}

func (a *all) code(c *plainjson.Codec) {
	c.Int("int", &a.Int)
	c.Uint("uint", &a.Uint)
	c.Time("time", &a.Time)
	c.Text("text", &a.Text)
	c.OptInt("optInt", &a.OptInt)
	c.OptUint("optUint", &a.OptUint)
	c.OptTime("optTime", &a.OptTime)
	c.OptText("optText", &a.OptText)
	c.OptInts("ints", &a.Ints)
	c.OptTrue("true", &a.True)
	c.OptWord("word", &a.Word, "known", "wörd")
	if c.Reads() {
		a.Number = json.Number(c.ReadNumber("number"))
	} else if a.Number != "" {
		c.Number("number", []byte(a.Number))
	}
	if at, there := c.OptBegin("inner"); there {
		c.OptInt("a", &a.Inner.A)
		c.OptInt("b", &a.Inner.B)
		c.OptEnd(at)
	}
	c.OptRaw("raw", (*[]byte)(&a.Raw))
	c.OptInt("last", &a.Last)
}

func (a *all) write() ([]byte, error) {
	c := plainjson.NewWriter(0)
	a.code(&c)
	return c.Bytes()
}

func read(t *testing.T, text string) (a all, ok bool) {
	t.Helper()
	c := plainjson.NewReader([]byte(text))
	a.code(&c)
	ok = c.Done()
	var shared all
	c = plainjson.NewReader([]byte(text))
	c.Share(text + "more")
	shared.code(&c)
	if c.Done() != ok || !reflect.DeepEqual(shared, a) {
		t.Errorf("%s is read as %+v, %t, and with shared memory as %+v", text, a, ok, shared)
	}
	return a, ok
}

// TestShare checks that a string without escapes is a part of the text.
func TestShare(t *testing.T) {
	const before, text = `{"text":"`, `{"text":"plain"}`
	var a all
	c := plainjson.NewReader([]byte(text))
	c.Share(text)
	a.code(&c)
	if !c.Done() || unsafe.StringData(a.Text) != unsafe.StringData(text[len(before):]) {
		t.Errorf("%q is a copy", a.Text)
	}
}

const (
	leastText = `{"int":0,"uint":0,"time":"0001-01-01T00:00:00Z","text":""}`
	mostText  = `{"int":-9223372036854775808,"uint":18446744073709551615,"time":"2026-03-02T09:00:00.123456789+05:30",` +
		`"text":"\u003ca\"\\\n\u2028ß😀\u0000","optInt":1,"optUint":2,"optTime":"2026-03-02T09:00:00Z","optText":"b",` +
		`"ints":[-1,9223372036854775807],"true":true,"word":"known","number":-0.25,"inner":{"b":3},"raw":{"a":{"b":["}\"{",1e9]},"c":null},"last":4}`
)

// TestWhatIsWrittenIsRead: a writer writes what encoding/json does, and a reader reads that as it does.
func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, text := range []string{leastText, mostText} {
		var want all
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		got, ok := read(t, text)
		mustEqual(t, &got, text)
		if !ok || !got.Time.Equal(want.Time) {
			t.Errorf("%s is read as %+v, %t", text, got, ok)
		}
		if written, err := got.write(); err != nil || string(written) != text {
			t.Errorf("%s is written as %s, %v", text, written, err)
		}
	}
}

// mustEqual checks that encoding/json writes text of a.
func mustEqual(t *testing.T, a *all, text string) {
	t.Helper()
	if data, err := json.Marshal(a); err != nil || string(data) != text {
		t.Errorf("encoding/json writes %s, %v\nand not %s", data, err, text)
	}
}

// TestReaderTakes what no writer writes, but what means the same to everybody.
func TestReaderTakes(t *testing.T) {
	for text, want := range map[string]all{
		`{}`:                            {},
		`{"int":-0}`:                    {},
		`{"optInt":0,"last":5}`:         {Last: 5},
		`{"text":"\u003C\u000a\ufffd"}`: {Text: "<\n\ufffd"},
		`{"word":"w\u00f6rd"}`:          {Word: "wörd"},
		`{"word":"other"}`:              {Word: "other"},
		`{"inner":{}}`:                  {},
		`{"number":1.0}`:                {Number: "1.0"},
	} {
		got, ok := read(t, text)
		if data, err := json.Marshal(want); err != nil || !ok {
			t.Errorf("%s is refused: %v", text, err)
		} else {
			mustEqual(t, &got, string(data))
		}
	}
}

// TestReaderRefuses what is no JSON, what a writer does not write, and what does not fit.
func TestReaderRefuses(t *testing.T) {
	for _, text := range []string{
		"", "{", "}", "[]", `{"int":1`, `{"int":1}}`, `{"int":1} `, ` {"int":1}`, `{"int":1,}`, `{,"int":1}`, `{"int" :1}`, `{"int": 1}`,
		`{"uint":1,"int":1}`, `{"int":1,"int":2}`, `{"INT":1}`, `{"other":1}`, `{"int":1,"other":1}`, `{"int":1"uint":1}`, `{int:1}`,
		`{"int":}`, `{"int":-}`, `{"int":01}`, `{"int":1.0}`, `{"int":1.}`, `{"int":1e1}`, `{"int":+1}`, `{"int":0x1}`, `{"int":1_0}`,
		`{"int":9223372036854775808}`, `{"int":"1"}`, `{"int":null}`, `{"uint":-1}`, `{"uint":18446744073709551616}`, `{"uint":1.5}`,
		`{"number":1.}`, `{"number":.5}`, `{"number":1e3}`, `{"number":-}`, `{"number":00}`, `{"number":"1"}`, `{"number":`,
		`{"time":"nine"}`, `{"time":"2026-02-30T09:00:00Z"}`, `{"time":"2026-03-02T09:00:00"}`,
		`{"time":"2026-03-02T09:00:00\u005a"}`, `{"time":null}`, `{"time":1}`, `{"time":"`,
		`{"text":"}`, `{"text":"\"}`, `{"text":"\`, "{\"text\":\"\n\"}", "{\"text\":\"\x00\"}", "{\"text\":\"\xff\"}", "{\"text\":\"\xe2\x80\"}",
		`{"text":"\'"}`, `{"text":"\/"}`, `{"text":"\u12"}`, `{"text":"\u12g4"}`, `{"text":"\u+123"}`, `{"text":"\ud83d\ude00"}`, `{"text":"\ud800"}`,
		`{"text":null}`, `{"text":1}`, `{"word":"\x"}`, `{"word":known}`,
		`{"ints":[]}`, `{"ints":[1,]}`, `{"ints":[,1]}`, `{"ints":[1 ,2]}`, `{"ints":[1}`, `{"ints":[1,2`, `{"ints":[1.5]}`, `{"ints":1}`, `{"ints":null}`,
		`{"true":false}`, `{"true":tru`, `{"true":"true"}`, `{"inner":{"b":1,"a":1}}`, `{"inner":{"a":1}`, `{"inner":null}`, `{"inner":[]}`,
		`{"inner":{"a":1},}`, `{"inner":{"a":1}"last":1}`, `{"inner":{"a":1,}}`, `{"raw":1}`, `{"raw":null}`, `{"raw":[{}]}`, `{"raw":{"a":1,}}`, `{"raw":{"a":1}`, `{"raw":{"}`,
	} {
		if a, ok := read(t, text); ok {
			t.Errorf("%q is read as %+v", text, a)
		}
	}
}

// TestWriterRefusesLateYears: the year 9999 is the last one that JSON can tell.
func TestWriterRefusesLateYears(t *testing.T) {
	a := all{OptTime: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	const want = "optTime: Time.AppendText: year outside of range [0,9999]"
	if text, err := a.write(); err == nil || err.Error() != want {
		t.Errorf("written as %s, %v; want the error %q", text, err, want)
	}
}
