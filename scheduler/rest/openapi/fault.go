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
	{http.StatusBadRequest, "BadRequest", "The request is invalid; details name the fields by path."},
	{http.StatusBadRequest, "MissingApiVersionParameter", "Azure paths require api-version."},
	{http.StatusBadRequest, "InvalidApiVersionParameter", "The api-version is not supported."},
	{http.StatusUnauthorized, "AuthenticationFailed", "The caller is not authenticated: send a token."},
	{http.StatusForbidden, "AuthorizationFailed", "The caller lacks a role; the message names it."},
	{http.StatusForbidden, "CrossOrigin", "The server rejects cross-origin requests."},
	{http.StatusNotFound, "ResourceNotFound", "The named resource does not exist."},
	{http.StatusNotFound, "UnknownRoute", "The path does not exist."},
	{http.StatusMethodNotAllowed, "MethodNotAllowed", "The path does not support the method; Allow lists the supported methods."},
	{http.StatusConflict, "Conflict", "The state of the resource or a quota does not allow the operation."},
	{http.StatusPreconditionFailed, "PreconditionFailed", "If-Match or If-None-Match failed; ETag has the current value."},
	{http.StatusRequestEntityTooLarge, "RequestTooLarge", "The body is longer than 16 KB, or that of an event than 64 KB."},
	{http.StatusUnsupportedMediaType, "UnsupportedMediaType", "The body is XML; send JSON or YAML."},
	{http.StatusMisdirectedRequest, "UnknownHost", "The Host header does not name this server."},
	{http.StatusTooManyRequests, "TooManyRequests", "The caller exceeds the rate limit; Retry-After has the seconds to wait."},
	{http.StatusTooManyRequests, "TooManyTails", "The caller has too many open live tails."},
	{http.StatusInternalServerError, "InternalError", "A bug in the scheduler; see its log."},
	{http.StatusServiceUnavailable, "ServiceUnavailable", "The store is unavailable or timed out."},
	{http.StatusServiceUnavailable, "NotReady", "The process is not ready yet."},
	{http.StatusServiceUnavailable, "TooManyTails", "The process has too many open live tails."},
}

// refusalName returns the component for errors of a status.
func refusalName(s api.Style, status int) string {
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	if s == api.AWX && status != http.StatusMisdirectedRequest {
		return "AWX" + name
	}
	return name
}

// refusals returns the components for errors. On AWX paths, cross-origin errors and panics have the scheduler's form,
// because they do not depend on the path.
func refusals() map[string]*Response {
	all := map[string]*Response{}
	texts, codes := map[int][]string{}, map[int][]any{}
	for _, f := range Faults {
		texts[f.Status] = append(texts[f.Status], f.Code+": "+f.Text)
		codes[f.Status] = append(codes[f.Status], f.Code)
	}
	for status, lines := range texts {
		own, awx, text := refused(codes[status]), reference("AWXError"), strings.Join(lines, " ")
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
		r.Headers["WWW-Authenticate"] = &Header{Description: "the missing role, as a scope (RFC 6750)", Schema: Text}
	}
	if status == http.StatusPreconditionFailed {
		r.Headers["ETag"] = &Header{Description: "the current ETag; absent if the resource does not exist", Schema: Text}
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
		"RequestID":             needed("the request ID, also in the log", Text),
		"CorrelationID":         needed("the correlation ID of the request; default: the request ID", Text),
		"ETag":                  {Description: "the version of the resource; absent for dry runs", Schema: Text},
		"Location":              {Description: "the path of the created resource", Required: true, Schema: Text},
		"RetryAfter":            needed("seconds to wait", sequence),
		"WWWAuthenticate":       needed("the authentication challenge (RFC 6750)", Text),
		"Allow":                 needed("the methods of the path", Text),
		"CarillonSequence":      {Description: "the sequence after which a live tail starts", Schema: sequence},
		"CarillonFirstSequence": {Description: "the first retained sequence of a live tail", Schema: sequence},
	}
}
