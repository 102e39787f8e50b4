package builder

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// Files are the templates "builder", which takes a [Form], and "outlook", which takes an [Outlook] or nil:
//
//	template.Must(frame.Templates(files, "page.html").ParseFS(builder.Files, "*.html"))
//
// A page that uses them also includes the script and the style of [Assets]. The surrounding form has the job's name in
// the field name.
//
//go:embed *.html
var Files embed.FS

//go:embed assets
var assets embed.FS

// Script and Style are the assets of a page with a builder.
const (
	Script = "builder/builder.js"
	Style  = "builder/builder.css"
)

// Path is the path at which the script requests a preview.
const Path = frame.Root + "/preview"

var page = frame.Templates(Files, "*.html")

type room struct {
	service *service.Service
}

// Room answers previews of builders. It has no menu entry.
func Room(s *service.Service) frame.Room {
	r := room{s}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the file is embedded
	}
	return frame.Room{Name: "builder", Right: access.Known, Assets: files, Routes: []frame.Route{
		{Method: http.MethodPost, Path: Path, Right: access.Known, Do: r.preview},
	}}
}

// answered is the answer to the script: contents, and their elements.
type answered struct {
	Form    Form
	Outlook *Outlook
	Pasted  bool // the fields were replaced
	Wrongs  []wrongs
}

// wrongs are the problems of a field.
type wrongs struct {
	Name  string
	Texts []Wrong
}

// preview answers with the preview of the fields.
func (r room) preview(c *frame.Call) error {
	values, err := c.ShortForm()
	if err != nil {
		return err
	}
	pasted := values.Get(Prefix+"paste") != ""
	s := Read(values)
	o, err := s.Look(c.Context(), r.service.Previewer, values.Get("name"), c.Zone())
	if err != nil {
		return err
	}
	a := answered{Form: s.Form, Outlook: o, Pasted: pasted && s.Form.Value("paste") == ""}
	for _, name := range shown {
		if texts := s.Form.Wrong(name); len(texts) > 0 {
			a.Wrongs = append(a.Wrongs, wrongs{Prefix + name, texts})
		}
	}
	return c.Show(&frame.Page{Template: page, Part: "builder-answer", Data: a})
}
