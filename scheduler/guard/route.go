package guard

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Routes are the handlers of an interface, by path and method. An [http.ServeMux] alone would report a conflict between
// GET /x/{id} and /x/preview.
type Routes map[string]map[string]http.Handler

// Add adds the handler of a path for some methods. Like [http.ServeMux], it panics if there is one.
func (all Routes) Add(path string, h http.Handler, methods ...string) {
	if all[path] == nil {
		all[path] = map[string]http.Handler{}
	}
	for _, method := range methods {
		if all[path][method] != nil {
			panic("guard: two handlers of " + method + " " + path)
		}
		all[path][method] = h
	}
}

// Register adds all routes to mux. refuse returns the handler of a path for other methods than allow, which are also in
// the header Allow.
func (all Routes) Register(mux *http.ServeMux, refuse func(path, allow string) http.Handler) {
	for path, methods := range all {
		allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
		refuse := refuse(path, allow)
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if h := methods[r.Method]; h != nil {
				h.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Allow", allow)
			refuse.ServeHTTP(w, r)
		})
	}
}

// UnknownHost returns the error text for a request whose header Host is not allowed, or "". A nil function allows all.
func UnknownHost(allowed func(host string) bool, r *http.Request) string {
	if allowed == nil || allowed(r.Host) {
		return ""
	}
	return fmt.Sprintf("%q is not a name of this server; start it with --allowed-host if it is", r.Host)
}
