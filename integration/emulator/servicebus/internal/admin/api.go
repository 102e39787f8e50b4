package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/duration"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// newAPI returns the JSON interface. Pages of other origins may not change anything through a visitor's browser.
func (h *handler) newAPI() http.Handler {
	mux := http.NewServeMux()
	shown := []string{"entity", "from", "top", "session"}
	for pattern, request := range map[string]struct {
		serve      func(*http.Request) (any, error)
		parameters []string
	}{
		"GET /api/entities":       {h.listEntities, nil},
		"GET /api/messages":       {h.peek, shown},
		"DELETE /api/messages":    {h.purge, []string{"entity"}},
		"GET /api/deadletters":    {h.deadLetters, shown},
		"DELETE /api/deadletters": {h.purgeDeadLetters, []string{"entity"}},
		"POST /api/resubmit":      {h.resubmit, []string{"entity", "sequence"}},
		"GET /api/faults":         {h.listFaults, nil},
		"POST /api/faults":        {h.addFault, nil},
		"DELETE /api/faults":      {h.clearFaults, nil},
		"POST /api/disconnect":    {h.disconnect, nil},
		"GET /api/connections":    {h.countConnections, nil},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := checkParameters(r, request.parameters)
			var answer any
			if err == nil {
				answer, err = request.serve(r)
			}
			if err != nil {
				writeJSONError(w, statusOf(err), err)
				return
			}
			writeJSON(w, http.StatusOK, answer)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeJSONError(w, http.StatusNotFound, fmt.Errorf("there is no %s %s", r.Method, r.URL.Path))
	})
	return http.NewCrossOriginProtection().Handler(mux)
}

// checkParameters rejects unknown parameters, because ignoring a filter of a deletion would delete too much.
func checkParameters(r *http.Request, known []string) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadRequest, err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(known, name) {
			continue
		}
		if len(known) == 0 {
			return fmt.Errorf("%w: %.100q is no parameter of this request, which has none", errBadRequest, name)
		}
		return fmt.Errorf("%w: %.100q is no parameter of this request, which has %s", errBadRequest, name, strings.Join(known, ", "))
	}
	return nil
}

func (h *handler) serveAPI(w http.ResponseWriter, r *http.Request) {
	if err := h.authorize(r); err != nil {
		writeJSONError(w, http.StatusUnauthorized, err)
		return
	}
	h.api.ServeHTTP(w, r)
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(answer) //nolint:errchkjson // the client may have disconnected
}

func writeJSONError(w http.ResponseWriter, status int, err error) {
	code := strings.ToLower(strings.ReplaceAll(http.StatusText(status), " ", "_"))
	writeJSON(w, status, map[string]any{"error": map[string]string{"code": code, "message": err.Error()}})
}

type (
	entitiesJSON struct {
		Queues []entityJSON `json:"queues"`
		Topics []topicJSON  `json:"topics"`
	}
	entityJSON struct {
		Name            string        `json:"name"`
		Path            string        `json:"path"`
		Status          string        `json:"status"`
		RequiresSession bool          `json:"requiresSession"`
		Size            int64         `json:"sizeInBytes"`
		Counts          broker.Counts `json:"counts"`
	}
	topicJSON struct {
		Name          string       `json:"name"`
		Path          string       `json:"path"`
		Status        string       `json:"status"`
		Size          int64        `json:"sizeInBytes"`
		Scheduled     int64        `json:"scheduled"`
		Subscriptions []entityJSON `json:"subscriptions"`
	}
)

// listEntities lists all entities with their counts.
func (h *handler) listEntities(*http.Request) (any, error) {
	list := entitiesJSON{Queues: []entityJSON{}, Topics: []topicJSON{}}
	for _, info := range h.Broker.Entities() {
		e := entityJSON{
			Name: info.Name, Path: info.Path, Status: statusText(info.Options.Status), RequiresSession: info.Options.RequiresSession,
			Size: info.Usage.Size, Counts: info.Usage.Counts,
		}
		switch info.Kind {
		case broker.QueueKind:
			list.Queues = append(list.Queues, e)
		case broker.TopicKind:
			list.Topics = append(list.Topics, topicJSON{
				Name: e.Name, Path: e.Path, Status: e.Status, Size: e.Size, Scheduled: e.Counts.Scheduled, Subscriptions: []entityJSON{},
			})
		case broker.SubscriptionKind:
			topic := &list.Topics[len(list.Topics)-1]
			topic.Subscriptions = append(topic.Subscriptions, e)
		}
	}
	return list, nil
}

// number returns a parameter of the query that is a positive integer.
func number(r *http.Request, name string, absent int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %s: %q is not a positive number", errBadRequest, name, text)
	}
	return n, nil
}

// entityOf returns the path that a request is about.
func entityOf(r *http.Request) (string, error) {
	path := strings.Trim(r.URL.Query().Get("entity"), "/")
	if path == "" {
		return "", fmt.Errorf("%w: entity: is missing", errBadRequest)
	}
	return path, nil
}

type faultJSON struct {
	Entity      string `json:"entity,omitempty"`
	Operation   string `json:"operation,omitempty"`
	Count       int    `json:"count,omitempty"`
	Condition   string `json:"condition,omitempty"`
	Description string `json:"description,omitempty"`
	Delay       string `json:"delay,omitempty"`
	Drop        bool   `json:"drop,omitempty"`
}

func (h *handler) listFaults(*http.Request) (any, error) {
	faults := []faultJSON{}
	for _, f := range h.Broker.Faults().All() {
		shown := faultJSON{
			Entity: f.Entity, Operation: string(f.Operation), Count: f.Count, Condition: string(f.Condition),
			Description: f.Description, Drop: f.Drop,
		}
		if f.Delay > 0 {
			shown.Delay = duration.Format(f.Delay)
		}
		faults = append(faults, shown)
	}
	return map[string]any{"faults": faults}, nil
}

// addFault orders a fault.
func (h *handler) addFault(r *http.Request) (any, error) {
	var asked faultJSON
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	ordered, err := asked.fault()
	if err != nil {
		return nil, err
	}
	h.Broker.Faults().Add(ordered)
	return h.listFaults(r)
}

func (f faultJSON) fault() (fault.Fault, error) {
	var problems []error
	ordered := fault.Fault{
		Entity: f.Entity, Operation: fault.Operation(f.Operation), Count: f.Count, Description: f.Description, Drop: f.Drop,
		Condition: amqp.Symbol(f.Condition),
	}
	switch ordered.Operation {
	case fault.AnyOperation, fault.OpAttach, fault.OpSend, fault.OpReceive, fault.OpSettle, fault.OpManage:
	default:
		problems = append(problems,
			fmt.Errorf("%w: operation: %q is none of attach, send, receive, settle, manage", errBadRequest, f.Operation))
	}
	if f.Delay != "" {
		var err error
		if ordered.Delay, err = parseDelay(f.Delay); err != nil {
			problems = append(problems, fmt.Errorf("%w: delay: %q: %w", errBadRequest, f.Delay, err))
		}
	}
	if f.Condition == "" && f.Delay == "" && !f.Drop {
		problems = append(problems, fmt.Errorf("%w: a fault needs a condition, a delay or drop", errBadRequest))
	}
	return ordered, errors.Join(problems...)
}

// parseDelay takes a duration as Service Bus or as Go writes it.
func parseDelay(text string) (time.Duration, error) {
	if strings.HasPrefix(text, "P") {
		return duration.Parse(text)
	}
	return time.ParseDuration(text)
}

func (h *handler) clearFaults(r *http.Request) (any, error) {
	h.Broker.Faults().Clear()
	return h.listFaults(r)
}

func (h *handler) disconnect(*http.Request) (any, error) {
	return map[string]int{"connections": h.Connections.Drop()}, nil
}

func (h *handler) countConnections(*http.Request) (any, error) {
	return map[string]int{"connections": h.Connections.Connections()}, nil
}
