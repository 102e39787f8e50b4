package servicebus

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
)

// A Rule has the messages that a subscription takes, and what is changed on them.
type Rule = broker.Rule

// A Filter says which messages a [Rule] is for. The zero value matches every message.
type Filter = filter.Filter

// An Action changes the messages of a [Rule].
type Action = filter.Action

// A CorrelationFilter matches messages whose properties are equal to all of its own that are not empty; see
// [NewCorrelation].
type CorrelationFilter = filter.CorrelationFilter

// Properties are names, or the names of parameters with their "@", and their values: text, numbers, booleans or times.
type Properties = amqp.Map

// ParseFilter compiles a SQL expression such as "sys.Label = 'x' AND price > @limit". It fails on a mistake of syntax,
// with its place.
func ParseFilter(expression string, parameters Properties) (Filter, error) {
	return filter.ParseSQL(expression, parameters)
}

// NewCorrelation makes a filter. It fails on a property whose value is a list or map.
func NewCorrelation(fields CorrelationFilter) (Filter, error) { return filter.NewCorrelation(fields) }

// ParseAction compiles an action such as "SET total = price * 2; REMOVE price". It fails as ParseFilter does.
func ParseAction(expression string, parameters Properties) (*Action, error) {
	return filter.ParseAction(expression, parameters)
}
