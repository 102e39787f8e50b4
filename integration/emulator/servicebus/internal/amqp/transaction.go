package amqp

// Discharge ends a transaction.
type Discharge struct {
	TxnID []byte
	Fail  bool // roll back
}

// Declare begins a transaction.
type Declare struct{}

// ParseRequest returns what the body of a message to the coordinator asks for: a [Declare] or a [Discharge].
func ParseRequest(m Message) (any, error) {
	value, _ := m.Value()
	described, ok := value.(Described)
	if !ok {
		return nil, malformed("%T where a described value is due", value)
	}
	items, _ := described.Value.(List)
	switch described.Descriptor {
	case uint64(descDeclare), Symbol("amqp:declare:list"):
		return Declare{}, nil
	case uint64(descDischarge), Symbol("amqp:discharge:list"):
		discharge := Discharge{}
		if len(items) > 0 {
			discharge.TxnID, _ = items[0].([]byte)
		}
		if len(items) > 1 {
			discharge.Fail, _ = items[1].(bool)
		}
		return discharge, nil
	default:
		return nil, malformed("descriptor %v where a request to the coordinator is due", described.Descriptor)
	}
}

// Append appends the request as a message.
func (d Discharge) Append(dst []byte) []byte {
	return AppendValue(dst, Described{uint64(descDischarge), List{d.TxnID, d.Fail}})
}

// Append appends the request as a message.
func (Declare) Append(dst []byte) []byte {
	return AppendValue(dst, Described{uint64(descDeclare), List{nil}})
}
