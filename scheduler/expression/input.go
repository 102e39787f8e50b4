package expression

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// Input holds the values of the variables.
type Input struct {
	Event Event
	Job   map[string]any // the fields name, collection, labels and data; a missing one is an error where it is read
}

// Event is the value of the variable event.
type Event struct {
	ID, Topic, Collection, Name string
	Sequence                    uint64
	Time                        time.Time
	Attributes                  map[string]string
	Data                        any // as encoding/json decodes it, with numbers of type float64 or json.Number
}

// objects are the fields of the variables. The name of a variable is the name of its type, too.
var objects = map[string]map[string]*types.Type{
	"event": {
		"id": types.StringType, "topic": types.StringType, "collection": types.StringType, "name": types.StringType,
		"sequence": types.IntType, "time": types.TimestampType,
		"attributes": types.NewMapType(types.StringType, types.StringType), "data": types.DynType,
	},
	"job": {
		"name": types.StringType, "collection": types.StringType,
		"labels": types.NewMapType(types.StringType, types.StringType), "data": types.DynType,
	},
}

// variables returns the values that an evaluation reads.
func (in Input) variables() map[string]any {
	e := in.Event
	job := in.Job
	if job == nil {
		job = map[string]any{}
	}
	return map[string]any{
		"event": map[string]any{
			"id": e.ID, "topic": e.Topic, "collection": e.Collection, "name": e.Name,
			"sequence": int64(min(e.Sequence, math.MaxInt64)), "time": e.Time,
			"attributes": e.Attributes, "data": e.Data,
		},
		"job": job,
	}
}

// environment returns the variables and functions of all expressions.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	provider := provider{registry}
	return cel.NewEnv(
		cel.CustomTypeAdapter(provider), cel.CustomTypeProvider(provider),
		cel.Variable("event", cel.ObjectType("event")), cel.Variable("job", cel.ObjectType("job")),
		cel.CrossTypeNumericComparisons(true),
		ext.Strings(ext.StringsMaxPrecision(maxPrecision)), ext.Math(), ext.Sets(),
		cel.ASTValidators(cel.ValidateComprehensionNestingLimit(maxLoops)),
	)
})

// provider adds the types of the variables and of decoded JSON to the types of CEL.
type provider struct{ *types.Registry }

// FindStructType implements [types.Provider].
func (p provider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := objects[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames implements [types.Provider].
func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	if fields, ok := objects[name]; ok {
		return slices.Sorted(maps.Keys(fields)), true
	}
	return p.Registry.FindStructFieldNames(name)
}

// FindStructFieldType implements [types.Provider].
func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields, ok := objects[name]
	if !ok {
		return p.Registry.FindStructFieldType(name, field)
	}
	kind, ok := fields[field]
	if !ok {
		return nil, false
	}
	value := func(target any) any {
		object, _ := target.(map[string]any)
		return object[field]
	}
	return &types.FieldType{
		Type:  kind,
		IsSet: func(target any) bool { return value(target) != nil },
		GetFrom: func(target any) (any, error) {
			if object, _ := target.(map[string]any); object != nil {
				if v, ok := object[field]; ok {
					return v, nil
				}
			}
			return nil, fmt.Errorf("no such key: %s", field)
		},
	}, true
}

// NativeToValue implements [types.Adapter].
func (p provider) NativeToValue(value any) ref.Val {
	switch v := value.(type) {
	case map[string]any:
		return types.NewStringInterfaceMap(p, v)
	case []any:
		return types.NewDynamicList(p, v)
	case json.Number:
		return jsonNumber(v)
	default:
		return p.Registry.NativeToValue(value)
	}
}

// jsonNumber returns a double, as for a float64, unless it would lose digits of an integer.
func jsonNumber(n json.Number) ref.Val {
	const exact = 1 << 53
	if i, err := n.Int64(); err == nil && (i > exact || i < -exact) {
		return types.Int(i)
	}
	f, err := n.Float64()
	if err != nil {
		return types.NewErr("not a number: %s", shown(string(n)))
	}
	return types.Double(f)
}
