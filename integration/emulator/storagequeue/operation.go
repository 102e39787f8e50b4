package storagequeue

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
)

// An operation is a call of the service.
type operation struct {
	name   string
	level  level
	method string
	comp   string // query parameter that names it; "" for none
	need   auth.Need
	body   bool // has one
	run    func(*call) error
}

// operations are the calls of the service. A signature of a queue permits only some of those on messages, and reading metadata;
// no signature permits those on access policies.
var operations = []operation{
	{"ListQueues", serviceLevel, "GET", "list", auth.Need{Resource: 's', Account: "l"}, false, (*call).listQueues},
	{"GetServiceProperties", serviceLevel, "GET", "properties", auth.Need{Resource: 's', Account: "r"}, false, (*call).getProperties},
	{"SetServiceProperties", serviceLevel, "PUT", "properties", auth.Need{Resource: 's', Account: "w"}, true, (*call).setProperties},
	{"GetServiceStats", serviceLevel, "GET", "stats", auth.Need{Resource: 's', Account: "r"}, false, (*call).getStatistics},
	{"CreateQueue", queueLevel, "PUT", "", auth.Need{Resource: 'c', Account: "cw"}, false, (*call).createQueue},
	{"DeleteQueue", queueLevel, "DELETE", "", auth.Need{Resource: 'c', Account: "d"}, false, (*call).deleteQueue},
	{"GetQueueMetadata", queueLevel, "GET", "metadata", auth.Need{Resource: 'c', Account: "r", Queue: "r"}, false, (*call).getMetadata},
	{"SetQueueMetadata", queueLevel, "PUT", "metadata", auth.Need{Resource: 'c', Account: "w"}, false, (*call).setMetadata},
	{"GetQueueACL", queueLevel, "GET", "acl", auth.Need{Resource: 'c'}, false, (*call).getPolicies},
	{"SetQueueACL", queueLevel, "PUT", "acl", auth.Need{Resource: 'c'}, true, (*call).setPolicies},
	{"PutMessage", messagesLevel, "POST", "", auth.Need{Resource: 'o', Account: "a", Queue: "a"}, true, (*call).putMessage},
	{"GetMessages", messagesLevel, "GET", "", auth.Need{Resource: 'o', Account: "p", Queue: "p"}, false, (*call).getMessages},
	{"PeekMessages", messagesLevel, "GET", "peek", auth.Need{Resource: 'o', Account: "r", Queue: "r"}, false, (*call).peekMessages},
	{"ClearMessages", messagesLevel, "DELETE", "", auth.Need{Resource: 'o', Account: "d"}, false, (*call).clearMessages},
	{"UpdateMessage", messageLevel, "PUT", "", auth.Need{Resource: 'o', Account: "u", Queue: "u"}, true, (*call).updateMessage},
	{"DeleteMessage", messageLevel, "DELETE", "", auth.Need{Resource: 'o', Account: "p", Queue: "p"}, false, (*call).deleteMessage},
}

// findOperation returns the operation of a request. HEAD is GET where the answer is in the headers.
func findOperation(level level, method string, query url.Values) (*operation, error) {
	comp, err := component(level, method, query)
	if err != nil {
		return nil, err
	}
	known := false
	for i := range operations {
		o := &operations[i]
		if o.level != level || o.comp != comp {
			continue
		}
		known = true
		if o.method == method || method == http.MethodHead && o.method == http.MethodGet && level == queueLevel {
			return o, nil
		}
	}
	asked := method == http.MethodGet || method == http.MethodHead
	switch {
	case known && (comp != "" || level != queueLevel || !asked):
		return nil, wire.UnsupportedVerb
	case comp == "":
		return nil, wire.MissingParameter.With("QueryParameterName", "comp")
	}
	return nil, wire.InvalidParameter.With("QueryParameterName", "comp").With("QueryParameterValue", comp)
}

// component returns the part of a thing that a query names.
func component(level level, method string, query url.Values) (string, error) {
	switch level {
	case serviceLevel:
		comp, restype := query.Get("comp"), query.Get("restype")
		switch {
		case comp != "" && comp != "list" && restype == "":
			return "", wire.MissingParameter.With("QueryParameterName", "restype")
		case restype != "" && restype != "service":
			return "", wire.InvalidParameter.With("QueryParameterName", "restype").With("QueryParameterValue", restype)
		}
		return comp, nil
	case messagesLevel:
		peek := query.Get("peekonly")
		switch {
		case method != http.MethodGet || peek == "" || strings.EqualFold(peek, "false"):
			return "", nil
		case strings.EqualFold(peek, "true"):
			return "peek", nil
		}
		return "", wire.InvalidParameter.With("QueryParameterName", "peekonly").With("QueryParameterValue", peek)
	case messageLevel:
		return "", nil
	default:
		return query.Get("comp"), nil
	}
}
