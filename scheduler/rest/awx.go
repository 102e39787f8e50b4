package rest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/awx"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// previewAWX answers with the next ten instants of a recurrence.
func (a *server) previewAWX(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	v, err := readAWX(body)
	if err != nil {
		return err
	}
	rrule, err := rruleIn(v)
	if err != nil {
		return err
	}
	p, err := a.Service.PreviewAWX(r.Context(), rrule)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, v1.AWXPreview(p))
}

// awxZone is a time zone in the form of AWX.
type awxZone struct {
	Name string `json:"name"`
}

// zoneInfo answers with the names of all time zones.
func (a *server) zoneInfo(w http.ResponseWriter, _ *http.Request) error {
	names := spec.ZoneNames()
	zones := make([]awxZone, len(names))
	for i, name := range names {
		zones[i] = awxZone{name}
	}
	return answer(w, http.StatusOK, zones)
}

// readAWX parses the body as an object. As in AWX, an empty body is an empty object.
func readAWX(body []byte) (document.Value, error) {
	text := strings.TrimSpace(string(body))
	if text == "" {
		return document.ObjectValue(), nil
	}
	if text[0] != '{' && text[0] != '[' { // text that would be YAML
		return document.Value{}, awxFault("JSON parse error - not a JSON object")
	}
	v, err := document.Parse(body)
	if err != nil {
		return v, awxFault("JSON parse error - " + err.Error())
	}
	if v.Kind() != document.KindObject {
		return v, awxFault("JSON parse error - not a JSON object")
	}
	return v, nil
}

// rruleIn returns the field rrule of a body. As in AWX, unknown fields are ignored.
func rruleIn(v document.Value) (string, error) {
	rrule, ok := v.Member("rrule")
	switch {
	case !ok:
		return "", spec.AWXErrors{{Message: "This field is required."}}
	case rrule.Kind() == document.KindNull:
		return "", spec.AWXErrors{{Message: "This field may not be null."}}
	case rrule.Kind() != document.KindString:
		return "", spec.AWXErrors{{Message: "Not a valid string."}}
	}
	return strings.TrimSpace(rrule.Text()), nil
}

// awxFault is an error that AWX reports under "detail".
func awxFault(message string) error {
	return fault{http.StatusBadRequest, "BadRequest", message}
}

// refuseAWX sends an error in the form of AWX.
func (a *server) refuseAWX(w http.ResponseWriter, r *http.Request, err error) {
	if wrong, ok := errors.AsType[spec.AWXErrors](err); ok {
		messages := make([]document.Value, len(wrong))
		for i, message := range wrong.Messages() {
			messages[i] = document.StringValue(message)
		}
		_ = answer(w, http.StatusBadRequest, document.ObjectValue(document.Member{Name: "rrule", Value: document.ArrayValue(messages...)}))
		return
	}
	if wrong, ok := errors.AsType[awx.Errors](err); ok {
		_ = answer(w, http.StatusBadRequest, wrong.Document())
		return
	}
	d := describe(err)
	if d.Status == http.StatusMethodNotAllowed {
		d.Message = fmt.Sprintf("Method %q not allowed.", r.Method)
	}
	a.note(w, r, d.Status, err)
	send(w, d.Status, document.ObjectValue(document.Member{Name: "detail", Value: document.StringValue(d.Message)}).JSON())
}
