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
// A page that has them also has the script and the style of [Assets]. The form that they stand in has the job's name in the
// field name.
//
//go:embed *.html
var Files embed.FS

//go:embed assets
var assets embed.FS

// Script and Style are what a page with a builder has among its scripts and styles.
const (
	Script = "builder/builder.js"
	Style  = "builder/builder.css"
)

// Path is where the script asks what is typed means.
const Path = frame.Root + "/preview"

var page = frame.Templates(Files, "*.html")

type room struct {
	service *service.Service
}

// Room answers what is typed into builders. It is in no menu.
func Room(s *service.Service) frame.Room {
	r := room{s}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // it is part of the program
	}
	return frame.Room{Name: "builder", Right: access.Known, Assets: files, Routes: []frame.Route{
		{Method: http.MethodPost, Path: Path, Right: access.Known, Do: r.preview},
	}}
}

// answered is what the script gets: what to show, and where.
type answered struct {
	Form    Form
	Outlook *Outlook
	Pasted  bool // the fields are others now
	Wrongs  []wrongs
}

// wrongs are the problems of a field.
type wrongs struct {
	Name  string
	Texts []Wrong
}

// preview says what the fields mean.
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
