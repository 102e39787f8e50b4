package openapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/api"
)

// Fault is a possible error of an answer.
type Fault struct {
	Status int
	Code   string
	Text   string // the condition of the error, in English
}

// Faults lists all errors of the API.
var Faults = []Fault{
	{http.StatusBadRequest, "BadRequest", "Something of the request is wrong; details name it by its path."},
	{http.StatusBadRequest, "MissingApiVersionParameter", "A path of the resource manager needs api-version."},
	{http.StatusBadRequest, "InvalidApiVersionParameter", "There is no such api-version."},
	{http.StatusUnauthorized, "AuthenticationFailed", "It is not known who asks: send a token."},
	{http.StatusForbidden, "AuthorizationFailed", "Who asks may not do it; the message names the role that is missing."},
	{http.StatusForbidden, "CrossOrigin", "A page of another origin may not do it."},
	{http.StatusNotFound, "ResourceNotFound", "There is none of that name."},
	{http.StatusNotFound, "UnknownRoute", "There is nothing at that path."},
	{http.StatusMethodNotAllowed, "MethodNotAllowed", "The path does not have the method; Allow has those that it has."},
	{http.StatusConflict, "Conflict", "The state of the thing, or a quota, does not allow it."},
	{http.StatusPreconditionFailed, "PreconditionFailed", "If-Match or If-None-Match does not hold; ETag is the present one."},
	{http.StatusRequestEntityTooLarge, "RequestTooLarge", "The body is longer than 16 KB."},
	{http.StatusUnsupportedMediaType, "UnsupportedMediaType", "The body is XML; send JSON or YAML."},
	{http.StatusMisdirectedRequest, "UnknownHost", "The header Host has a name that is not this server's."},
	{http.StatusTooManyRequests, "TooManyRequests", "The caller sends too many requests; Retry-After has the seconds to wait."},
	{http.StatusTooManyRequests, "TooManyTails", "The caller has too many live tails."},
	{http.StatusInternalServerError, "InternalError", "A defect of the scheduler; its log says more."},
	{http.StatusServiceUnavailable, "ServiceUnavailable", "The store does not answer, or not in time."},
	{http.StatusServiceUnavailable, "NotReady", "The process cannot serve yet."},
	{http.StatusServiceUnavailable, "TooManyTails", "The process has too many live tails."},
}

// refusalName returns the component for errors of a status.
func refusalName(s api.Style, status int) string {
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	if s == api.AWX && status != http.StatusMisdirectedRequest {
		return "AWX" + name
	}
	return name
}

// refusals returns the components for errors. Errors that do not depend on the path, a page of another origin and a
// panic, have the scheduler's own form on the paths of AWX, too.
func refusals() map[string]*Response {
	all := map[string]*Response{}
	texts, codes := map[int][]string{}, map[int][]any{}
	for _, f := range Faults {
		texts[f.Status] = append(texts[f.Status], f.Code+": "+f.Text)
		codes[f.Status] = append(codes[f.Status], f.Code)
	}
	for status, told := range texts {
		own, awx, text := refused(codes[status]), reference("AWXError"), strings.Join(told, " ")
		if status == http.StatusForbidden || status == http.StatusInternalServerError {
			awx = Schema{"oneOf": []any{awx, own}}
		}
		all[refusalName(api.Short, status)] = refusal(status, text, own)
		if status != http.StatusMisdirectedRequest {
			all[refusalName(api.AWX, status)] = refusal(status, text, awx)
		}
	}
	return all
}

// refused returns the schema of an error with one of some codes.
func refused(codes []any) Schema {
	return Schema{"allOf": []any{reference("ErrorBody"), Schema{"properties": map[string]Schema{
		"error": {"properties": map[string]Schema{"code": {"enum": codes}}},
	}}}}
}

func refusal(status int, text string, schema Schema) *Response {
	r := &Response{Description: text, Headers: identified(), Content: map[string]Media{typeJSON: {schema}}}
	for name, statuses := range map[string][]int{
		"RetryAfter": {http.StatusTooManyRequests, http.StatusServiceUnavailable}, "WWWAuthenticate": {http.StatusUnauthorized},
		"Allow": {http.StatusMethodNotAllowed},
	} {
		if slices.Contains(statuses, status) {
			r.Headers[headerNames[name]] = &Header{Ref: "#/components/headers/" + name}
		}
	}
	if status == http.StatusForbidden {
		r.Headers["WWW-Authenticate"] = &Header{Description: "the role that is missing, as a scope (RFC 6750)", Schema: Text}
	}
	if status == http.StatusPreconditionFailed {
		r.Headers["ETag"] = &Header{Description: "that of what is there; none where nothing is", Schema: Text}
	}
	return r
}

// headerNames map components to the names of their headers.
var headerNames = map[string]string{
	"RetryAfter": "Retry-After", "WWWAuthenticate": "WWW-Authenticate", "Allow": "Allow", "Location": "Location", "ETag": "ETag",
	"RequestID": "X-Ms-Request-Id", "CorrelationID": "X-Ms-Correlation-Request-Id",
}

// identified returns the headers of all answers.
func identified() map[string]*Header {
	all := map[string]*Header{}
	for _, name := range []string{"RequestID", "CorrelationID"} {
		all[headerNames[name]] = &Header{Ref: "#/components/headers/" + name}
	}
	return all
}

// headers returns the components for headers.
func headers() map[string]*Header {
	needed := func(text string, schema Schema) *Header {
		return &Header{Description: text, Required: true, Schema: schema}
	}
	sequence := Schema{"type": "string", "pattern": "^[0-9]+$"}
	return map[string]*Header{
		"RequestID":             needed("id of the request, which the log repeats", Text),
		"CorrelationID":         needed("that of the request, or else its id", Text),
		"ETag":                  {Description: "tells whether it has changed; a dry run has none", Schema: Text},
		"Location":              {Description: "path of what was created", Required: true, Schema: Text},
		"RetryAfter":            needed("seconds to wait", sequence),
		"WWWAuthenticate":       needed("what is asked for (RFC 6750)", Text),
		"Allow":                 needed("the methods that the path has", Text),
		"CarillonSequence":      {Description: "of a live tail: the sequence after which it begins", Schema: sequence},
		"CarillonFirstSequence": {Description: "of a live tail: the first sequence that is kept", Schema: sequence},
	}
}
