package store

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// noResponders is the status of an answer that the server gives for a subject
// on which nobody listens.
const noResponders = "503"

// readAck reads the acknowledgement of a published message: the sequence that
// it has in its stream, or the error that the stream answered.
func readAck(m *nats.Msg) (sequence uint64, err error) {
	if len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
		return 0, jetstream.ErrNoStreamResponse
	}
	if sequence, ok := plainAck(m.Data); ok {
		return sequence, nil
	}
	var ack struct {
		Error    *jetstream.APIError `json:"error"`
		Stream   string              `json:"stream"`
		Sequence uint64              `json:"seq"`
	}
	switch err := json.Unmarshal(m.Data, &ack); {
	case err != nil:
		return 0, jetstream.ErrInvalidJSAck
	case ack.Error != nil:
		return 0, ack.Error
	case ack.Stream == "":
		return 0, jetstream.ErrInvalidJSAck
	}
	return ack.Sequence, nil
}

// plainAck reads the form that acknowledgements nearly always have, which spares
// reflection: {"stream":"NAME","seq":1}, with a domain in between where the
// server has one.
func plainAck(data []byte) (sequence uint64, ok bool) {
	rest, ok := plainField(data, `{"stream":"`)
	if !ok {
		return 0, false
	}
	if r, domain := plainField(rest, `,"domain":"`); domain {
		rest = r
	}
	rest, ok = bytes.CutPrefix(rest, []byte(`,"seq":`))
	if !ok {
		return 0, false
	}
	digits, ok := bytes.CutSuffix(rest, []byte("}"))
	if !ok || len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	sequence, err := strconv.ParseUint(string(digits), 10, 64)
	return sequence, err == nil
}

// plainField cuts off a field that begins as given, up to its closing quote. Its
// value is made of plain characters, and not empty.
func plainField(data []byte, begin string) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(data, []byte(begin))
	if !ok {
		return nil, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 1 {
		return nil, false
	}
	for _, c := range rest[:end] {
		if c == '\\' || c < ' ' || c > '~' {
			return nil, false
		}
	}
	return rest[end+1:], true
}
