package stage

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing/fstest"

	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// SheetPath is the path of the design sheet.
const SheetPath = frame.Root + "/sheet"

//go:embed sheet.html
var sheet embed.FS

// Token is a custom property of the style sheet of all pages.
type Token struct{ Name, Value, Kind string }

// tokens are the definitions in a style sheet.
var tokens = regexp.MustCompile(`--([a-z]+)([a-z0-9-]*): ([^;]+);`)

// Sheet serves the design sheet: all tokens and components, drawn by the templates and the style sheet of the console.
func Sheet(ctx context.Context) http.Handler {
	style := httptest.NewRecorder()
	ask := httptest.NewRequestWithContext(ctx, http.MethodGet, frame.Root+"/assets/now/frame/console.css", http.NoBody)
	frame.New(frame.Config{}).ServeHTTP(style, ask)
	light, _, _ := strings.Cut(style.Body.String(), "@media")
	var all []Token
	var css strings.Builder
	css.WriteString(".token { display: inline-block; min-height: 1.25rem; }\n")
	for _, m := range tokens.FindAllStringSubmatch(light, -1) {
		t := Token{m[1] + m[2], m[3], "colour"}
		property := "width: 3rem; border: 1px solid var(--edge); background"
		switch m[1] {
		case "font":
			t.Kind, property = m[1], "font-size"
		case "mono":
			t.Kind, property = "font", "font-family"
		case "space":
			t.Kind, property = m[1], "background: var(--main); width"
		case "radius":
			t.Kind, property = m[1], "width: 3rem; min-height: 2rem; border: 1px solid var(--edge); border-radius"
		}
		all = append(all, t)
		fmt.Fprintf(&css, ".token-%s { %s: var(--%[1]s); }\n", t.Name, property)
	}
	page := frame.Templates(sheet, "sheet.html")
	show := func(c *frame.Request) error { //nolint:contextcheck // requests have contexts of their own
		return c.Show(&frame.Page{Title: "Design sheet", Template: page, Data: all, Styles: []string{"sheet/sheet.css"}})
	}
	return frame.New(frame.Config{Sections: []frame.Section{{
		Name: "sheet", Assets: fstest.MapFS{"sheet.css": {Data: []byte(css.String())}},
		Routes: []frame.Route{{Method: http.MethodGet, Path: SheetPath, Right: auth.Known, Do: show}},
	}}})
}
