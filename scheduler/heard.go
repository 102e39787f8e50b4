package scheduler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

// Heard holds the events and jobs that a job listens to or waits for, the jobs that it starts, and the job that its
// condition asks.
type Heard struct {
	Events []Selection `json:"topics,omitempty"`
	Jobs   []Key       `json:"jobs,omitempty"`
	Starts []Key       `json:"starts,omitempty"`
	Asks   []Key       `json:"asks,omitempty"`
}

// Selection is a topic, and what its events need to affect a job.
type Selection struct {
	Topic Topic
	Need  expression.Need
}

// MarshalText returns the topic, and the field and the value of a need: "sales.orders event.data.type \"paid\"".
func (s Selection) MarshalText() ([]byte, error) {
	if s.Need == (expression.Need{}) {
		return s.Topic.MarshalText()
	}
	value, err := json.Marshal(s.Need.Value)
	return fmt.Appendf(nil, "%s %s %s", s.Topic, s.Need.Field, value), err
}

// UnmarshalText parses a selection.
func (s *Selection) UnmarshalText(text []byte) (err error) {
	topic, need, narrow := strings.Cut(string(text), " ")
	if narrow {
		field, value, _ := strings.Cut(need, " ")
		s.Need.Field, err = field, json.Unmarshal([]byte(value), &s.Need.Value)
	}
	return errors.Join(err, s.Topic.UnmarshalText([]byte(topic)))
}

// Topics returns the topics of all events, each once, in order.
func (h Heard) Topics() (topics []Topic) {
	for _, s := range h.Events {
		if !slices.Contains(topics, s.Topic) {
			topics = append(topics, s.Topic)
		}
	}
	return topics
}

// Need returns what all events on a topic need to affect the job.
func (h Heard) Need(t Topic) (need expression.Need) {
	selections := 0
	for _, s := range h.Events {
		if s.Topic == t {
			need = s.Need
			selections++
		}
	}
	if selections > 1 {
		return expression.Need{}
	}
	return need
}

// IsEmpty reports whether the job has no links.
func (h Heard) IsEmpty() bool { return len(h.Events)+len(h.Jobs)+len(h.Starts)+len(h.Asks) == 0 }

// Equal reports whether both have the same in the same order.
func (h Heard) Equal(other Heard) bool {
	return slices.Equal(h.Events, other.Events) && slices.Equal(h.Jobs, other.Jobs) && slices.Equal(h.Starts, other.Starts) &&
		slices.Equal(h.Asks, other.Asks)
}

// Includes reports whether h has all that other has.
func (h Heard) Includes(other Heard) bool { return other.Union(h).Equal(h) }

// Union returns what h or other has, first what only h has.
func (h Heard) Union(other Heard) Heard {
	return Heard{
		union(h.Events, other.Events), union(h.Jobs, other.Jobs), union(h.Starts, other.Starts), union(h.Asks, other.Asks),
	}
}

func union[T comparable](a, b []T) []T {
	inB := func(one T) bool { return slices.Contains(b, one) }
	return append(slices.DeleteFunc(slices.Clone(a), inB), b...)
}

// Hears returns the links of the job k of the definition.
func (d *Definition) Hears(k Key) (h Heard) {
	add := func(list *[]Key, one Key) {
		if !slices.Contains(*list, one) {
			*list = append(*list, one)
		}
	}
	for _, l := range d.Links(k) {
		switch {
		case l.Starts:
			add(&h.Starts, l.Job)
		case l.Asks:
			add(&h.Asks, l.Job)
			if d.OnlyIf.WaitUpTo > 0 {
				add(&h.Jobs, l.Job)
			}
		case l.Job != (Key{}):
			add(&h.Jobs, l.Job)
		case l.Topic != (Topic{}) && !slices.Contains(h.Events, Selection{l.Topic, l.Need}):
			h.Events = append(h.Events, Selection{l.Topic, l.Need})
		}
	}
	return h
}

// StoredLinks returns a definition that has only the links of a stored job, without their programs; none if it
// cannot be decoded.
func StoredLinks(data []byte) *Definition {
	d := &Definition{}
	_, properties, err := SplitStored(data)
	linked := func(field string) bool { return bytes.Contains(properties, []byte(field)) }
	if err != nil || !linked(`"trigger":`) && !linked(`"onSuccess":`) && !linked(`"onFailure":`) && !linked(`"onlyIf":`) {
		return d
	}
	v, err := document.Parse(properties)
	if err != nil {
		return d
	}
	reader := document.NewReader()
	reader.Stored = true
	o := reader.Object(v, "")
	if to, ok := o.Object("trigger"); ok {
		d.Trigger = &Trigger{}
		d.Trigger.readOn(to, readSelection)
	}
	d.OnSuccess, d.OnFailure = readStarts(o, "onSuccess"), readStarts(o, "onFailure")
	d.readOnlyIf(o, &DefinitionDecoder{})
	return d
}
