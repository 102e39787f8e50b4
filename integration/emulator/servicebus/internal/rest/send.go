package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// batchType is the type of a body that has several messages.
const batchType = "application/vnd.microsoft.servicebus.json"

// contentType is the default content type of messages, and the type of errors.
const contentType = "application/xml; charset=utf-8"

// maxOverhead limits the size of a batch beyond the messages in it.
const maxOverhead = 1 << 20

// send accepts one message, or a whole batch.
func (c *call) send() error {
	target, err := c.broker.Target(c.path)
	if err != nil {
		return err
	}
	limit := target.MaxMessageSize()
	kind, _, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	isBatch := kind == batchType
	if isBatch {
		limit += maxOverhead
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return tooLarge(target.MaxMessageSize())
	} else if err != nil {
		return badRequest("The body could not be read: " + err.Error())
	}
	messages, err := c.messages(body, isBatch)
	if err != nil {
		return err
	}
	size := 0
	for _, m := range messages {
		size += m.Len()
	}
	if int64(size) > target.MaxMessageSize() {
		return tooLarge(target.MaxMessageSize())
	}
	if err = broker.Written(target.Send(messages, nil)); err == nil {
		c.w.Header().Set("Content-Type", contentType)
		c.w.WriteHeader(http.StatusCreated)
	}
	return err
}

func tooLarge(limit int64) error {
	return amqp.Errorf(broker.MessageSizeExceeded, "The message or batch exceeds the maximum size of %d bytes.", limit)
}

// messages reads the request's messages.
func (c *call) messages(body []byte, isBatch bool) ([]amqp.Message, error) {
	if isBatch {
		return batch(body)
	}
	var g given
	if text := c.r.Header.Get(propertiesHeader); text != "" {
		if err := json.Unmarshal([]byte(text), &g); err != nil {
			return nil, badRequest(propertiesHeader + ": " + problem(err))
		}
	}
	g.ContentType = c.r.Header.Get("Content-Type")
	m, err := build(&g, custom(c.r.Context(), c.r.Header), body)
	return []amqp.Message{m}, err
}

// build returns the message of a sender.
func build(g *given, properties amqp.Map, body []byte) (amqp.Message, error) {
	raw, err := g.appendTo(nil)
	if err != nil {
		return amqp.Message{}, err
	}
	if len(properties) > 0 {
		raw = amqp.AppendApplicationProperties(raw, properties)
	}
	return amqp.ParseMessage(amqp.AppendData(raw, body))
}

// batch reads the messages of a body.
func batch(body []byte) ([]amqp.Message, error) {
	var items []struct {
		Body             string         `json:"Body"`
		BrokerProperties given          `json:"BrokerProperties"`
		UserProperties   map[string]any `json:"UserProperties"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&items); err != nil {
		return nil, badRequest("The body is no batch of messages in JSON: " + problem(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, badRequest("The body has more than one batch of messages in JSON.")
	}
	if len(items) == 0 {
		return nil, badRequest("The batch has no message.")
	}
	messages := make([]amqp.Message, 0, len(items))
	for i := range items {
		properties := amqp.Map{}
		for name, value := range items[i].UserProperties {
			plain, err := plainValue(value)
			if err != nil {
				return nil, badRequest(fmt.Sprintf("[%d].UserProperties.%s: %v", i, name, err))
			}
			properties = append(properties, amqp.Pair{Key: name, Value: plain})
		}
		slices.SortFunc(properties, func(a, b amqp.Pair) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
		m, err := build(&items[i].BrokerProperties, properties, []byte(items[i].Body))
		if err != nil {
			return nil, badRequest(fmt.Sprintf("[%d].%v", i, err))
		}
		messages = append(messages, m)
	}
	return messages, nil
}

// problem describes an error in JSON.
func problem(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		place := cmp.Or(wrong.Field, "the whole")
		return fmt.Sprintf("%s cannot be %s", place, strings.TrimSpace(wrong.Value))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// plainValue returns a value of JSON as AMQP has it.
func plainValue(value any) (any, error) {
	switch v := value.(type) {
	case nil, bool, string:
		return v, nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return smallest(n), nil
		}
		return v.Float64()
	default:
		return nil, errors.New("a property is text, a number, true, false or null")
	}
}
