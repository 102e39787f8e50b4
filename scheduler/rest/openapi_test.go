package rest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carillon-sched/carillon/scheduler/rest"
)

// promise is the API's own document, against which every answer of these tests is held.
type promise struct {
	Paths      map[string]map[string]promised `json:"paths"`
	Components struct {
		Schemas   map[string]any             `json:"schemas"`
		Responses map[string]promisedAnswer  `json:"responses"`
		Headers   map[string]*promisedHeader `json:"headers"`
	} `json:"components"`

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // of bodies, ready to validate, by their JSON
}

// promised is an operation.
type promised struct {
	ID         string                     `json:"operationId"`
	Summary    string                     `json:"summary"`
	Right      string                     `json:"x-carillon-right"`
	Parameters []promisedParameter        `json:"parameters"`
	Body       *struct{}                  `json:"requestBody"`
	Responses  map[string]*promisedAnswer `json:"responses"`
}

type promisedParameter struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Required bool   `json:"required"`
}

type promisedAnswer struct {
	Ref     string                     `json:"$ref"`
	Headers map[string]*promisedHeader `json:"headers"`
	Content map[string]promisedMedia   `json:"content"`
}

type promisedMedia struct {
	Schema any `json:"schema"`
}

type promisedHeader struct {
	Ref      string `json:"$ref"`
	Required bool   `json:"required"`
}

// theAPI returns what the API promises.
var theAPI = sync.OnceValue(func() *promise {
	p := &promise{}
	if err := json.Unmarshal(rest.OpenAPI("1.2.3"), p); err != nil {
		panic(err)
	}
	for name, s := range p.Components.Schemas {
		p.Components.Schemas[name] = closed(s, true)
	}
	p.withoutSecrets()
	p.schemas, p.compiler = map[string]*jsonschema.Schema{}, jsonschema.NewCompiler()
	p.compiler.DefaultDraft(jsonschema.Draft2020)
	p.compiler.AssertFormat()
	if err := p.compiler.AddResource("urn:api", map[string]any{"$defs": p.Components.Schemas}); err != nil {
		panic(err)
	}
	return p
})

// closed returns a schema whose objects have no other members than it tells of: what an answer has beyond the document is
// a mistake here, and none for clients. What refines another schema (allOf) is not closed by itself.
func closed(v any, whole bool) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = closed(v[i], whole)
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, member := range v {
			switch text, is := member.(string); {
			case name == "$ref" && is:
				all[name] = strings.Replace(text, "#/components/schemas/", "urn:api#/$defs/", 1)
			default:
				all[name] = closed(member, whole && name != "allOf")
			}
		}
		_, typed := v["type"].(string)
		_, has := v["properties"].(map[string]any)
		if _, open := v["additionalProperties"]; typed && has && whole && !open {
			all["additionalProperties"] = false
		}
		return all
	}
	return v
}

// withoutSecrets has nothing required that is written and not shown.
func (p *promise) withoutSecrets() {
	for _, s := range p.Components.Schemas {
		s, _ := s.(map[string]any)
		required, _ := s["required"].([]any)
		s["required"] = slices.DeleteFunc(slices.Clone(required), func(name any) bool {
			properties, _ := s["properties"].(map[string]any)
			member, _ := properties[name.(string)].(map[string]any)
			ref, _ := member["$ref"].(string)
			of, _ := p.Components.Schemas[strings.TrimPrefix(ref, "urn:api#/$defs/")].(map[string]any)
			return of["writeOnly"] != nil || member["writeOnly"] != nil
		})
	}
}

// find returns the operation that a request asks for; nil where the document has none. Fixed parts count before names, as
// they do for the server.
func (p *promise) find(method, path string) *promised {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var best *promised
	most := -1
	for pattern, operations := range p.Paths {
		if op, ok := operations[strings.ToLower(method)]; ok && matching(pattern, path) > most {
			best, most = &op, matching(pattern, path)
		}
	}
	return best
}

// matching returns how many fixed parts of a pattern a path has, -1 if it is not of the pattern. Those of the resource
// manager are taken in any letter case, and a last slash may be left out where the server lets it be.
func matching(pattern, path string) int {
	same := func(a, b string) bool { return a == b }
	if len(path) > 1 && strings.EqualFold(strings.SplitN(path, "/", 3)[1], "subscriptions") {
		same, path = strings.EqualFold, strings.TrimSuffix(path, "/")
	}
	if strings.HasPrefix(path, "/api/v2/") {
		path, pattern = strings.TrimSuffix(path, "/"), strings.TrimSuffix(pattern, "/")
	}
	want, have := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return -1
	}
	fixed := 0
	for i, part := range want {
		switch {
		case strings.HasPrefix(part, "{") && have[i] != "":
		case same(part, have[i]):
			fixed++
		default:
			return -1
		}
	}
	return fixed
}

// check returns what is wrong with an answer, and as what the document has it: operationId, status and media type.
func (p *promise) check(r *http.Request, a *kept) (as string, err error) {
	op := p.find(r.Method, r.URL.EscapedPath())
	if op == nil || a.status == http.StatusMethodNotAllowed {
		return "", p.unrouted(r, a)
	}
	if r.Method == http.MethodHead && a.status == http.StatusNoContent {
		return "", nil // of a resource group
	}
	promised := op.Responses[strconv.Itoa(a.status)]
	if promised == nil {
		return "", fmt.Errorf("%s does not have the status", op.ID)
	}
	if name, ok := strings.CutPrefix(promised.Ref, "#/components/responses/"); ok {
		component := p.Components.Responses[name]
		promised = &component
	}
	if err := p.headers(promised, a); err != nil {
		return "", fmt.Errorf("%s: %w", op.ID, err)
	}
	media, err := p.body(r, promised, a)
	if err != nil {
		return "", fmt.Errorf("%s: %w", op.ID, err)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", op.ID, a.status, media)), nil
}

// unrouted returns what is wrong with the answer to what is no operation: an error of the document, as the scheduler or AWX
// tells it, or the way to the path without what is superfluous in it.
func (p *promise) unrouted(r *http.Request, a *kept) error {
	if a.status == http.StatusTemporaryRedirect || a.status == http.StatusMovedPermanently {
		return nil
	}
	err := errors.New("the document does not have the operation")
	for _, style := range []string{"", "AWX"} {
		component, ok := p.Components.Responses[style+strings.ReplaceAll(http.StatusText(a.status), " ", "")]
		if !ok {
			continue
		}
		if err = p.headers(&component, a); err == nil {
			_, err = p.body(r, &component, a)
		}
		if err == nil {
			return nil
		}
	}
	return err
}

// headers checks that those are there which always are, and that others that an answer may have are told of.
func (p *promise) headers(promised *promisedAnswer, a *kept) error {
	for name, h := range promised.Headers {
		if ref, ok := strings.CutPrefix(h.Ref, "#/components/headers/"); ok {
			h = p.Components.Headers[ref]
		}
		if h.Required && a.head.Get(name) == "" {
			return fmt.Errorf("there is no header %s", name)
		}
	}
	for _, name := range []string{"Etag", "Location", "Retry-After", "Www-Authenticate", "Allow", "Carillon-Sequence", "Carillon-First-Sequence"} {
		told := slices.ContainsFunc(slices.Collect(maps.Keys(promised.Headers)), func(n string) bool { return strings.EqualFold(n, name) })
		if a.head.Get(name) != "" && !told {
			return fmt.Errorf("the header %s is not told of", name)
		}
	}
	return nil
}

// body checks the media type and the body of an answer.
func (p *promise) body(r *http.Request, promised *promisedAnswer, a *kept) (media string, err error) {
	if r.Method == http.MethodHead || a.head.Get("Content-Type") == "" && a.body.Len() == 0 {
		if len(promised.Content) > 0 && r.Method != http.MethodHead {
			return "", errors.New("there is no body")
		}
		return "", nil
	}
	if media, _, err = mime.ParseMediaType(a.head.Get("Content-Type")); err != nil {
		return "", err
	}
	told, ok := promised.Content[media]
	switch {
	case !ok:
		return "", fmt.Errorf("the media type %s is not told of", media)
	case a.long:
		return media, nil
	}
	for _, document := range documents(media, a.body.Bytes()) {
		if err := p.validate(told.Schema, document); err != nil {
			return "", fmt.Errorf("%.300s: %w", document, err)
		}
	}
	return media, nil
}

// documents are the JSON documents in a body. The last one of a live tail may be cut off.
func documents(media string, body []byte) (all [][]byte) {
	switch media {
	case "application/json", "application/schema+json":
		return [][]byte{body}
	case "application/x-ndjson":
		for line := range bytes.Lines(body) {
			if text := bytes.TrimSpace(line); len(text) > 0 && bytes.HasSuffix(line, []byte("\n")) {
				all = append(all, text)
			}
		}
	case "text/event-stream":
		for line := range bytes.Lines(body) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && bytes.HasSuffix(line, []byte("\n")) {
				all = append(all, data)
			}
		}
	}
	return all
}

// validate holds a document against a schema.
func (p *promise) validate(schema any, document []byte) error {
	ready, err := p.compiled(schema)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	return ready.Validate(withoutNulls(v, false))
}

// withoutNulls removes the members that are null from the documents of jobs and collections in an answer: they are as they
// were written, and null is nothing.
func withoutNulls(v any, within bool) any {
	switch v := v.(type) {
	case map[string]any:
		for name, of := range v {
			if v[name] = withoutNulls(of, within || name == "properties"); v[name] == nil && within {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i], within)
		}
	}
	return v
}

// compiled returns a schema that was found valid against the metaschema of JSON Schema 2020-12, ready to validate.
func (p *promise) compiled(schema any) (*jsonschema.Schema, error) {
	key, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if ready, ok := p.schemas[string(key)]; ok {
		return ready, nil
	}
	url := fmt.Sprintf("urn:schema:%d", len(p.schemas))
	if err := p.compiler.AddResource(url, closed(schema, true)); err != nil {
		return nil, err
	}
	p.schemas[string(key)], err = p.compiler.Compile(url)
	return p.schemas[string(key)], err
}

// kept is an answer that is kept, besides being sent.
type kept struct {
	http.ResponseWriter

	status int
	head   http.Header
	body   bytes.Buffer
	long   bool // the body is longer than what is kept
}

// longestKept is how much of a body is kept, in bytes.
const longestKept = 4 << 20

// WriteHeader keeps the status and the header.
func (k *kept) WriteHeader(status int) {
	if k.head == nil {
		k.status, k.head = status, k.Header().Clone()
	}
	k.ResponseWriter.WriteHeader(status)
}

// Write keeps a part of the body.
func (k *kept) Write(p []byte) (int, error) {
	if k.head == nil {
		k.status, k.head = http.StatusOK, k.Header().Clone()
	}
	if k.long = k.long || k.body.Len()+len(p) > longestKept; !k.long {
		k.body.Write(p)
	}
	return k.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (k *kept) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// witness collects what the answers of an API were, by the document.
type witness struct {
	t testing.TB

	mu    sync.Mutex
	seen  map[string]bool // operationId, status and media type
	codes map[string]bool // of errors
}

// over holds every answer of a handler against the document.
func (w *witness) over(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		k := &kept{ResponseWriter: out}
		asked := r.Clone(r.Context())
		next.ServeHTTP(k, r)
		if k.head == nil {
			k.status, k.head = http.StatusOK, k.Header().Clone()
		}
		as, err := theAPI().check(asked, k)
		if err != nil {
			w.t.Errorf("%s %s: %d is not as the document of the API has it: %v", asked.Method, asked.URL, k.status, err)
		}
		var refused struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
		}
		_ = json.Unmarshal(k.body.Bytes(), &refused) // others have no code
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen[as], w.codes[strconv.Itoa(k.status)+" "+refused.Error.Code] = true, true
	})
}
