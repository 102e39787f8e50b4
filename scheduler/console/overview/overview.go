// Package overview is the console's first page: what runs, what is due, what failed, and how the scheduler is.
package overview

import (
	"embed"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
)

//go:embed overview.html
var files embed.FS

var page = frame.Templates(files, "overview.html")

type room struct {
	service *service.Service
}

// Room returns the page.
func Room(s *service.Service) frame.Room {
	r := room{s}
	return frame.Room{Name: "overview", Path: "/", Key: "o", Right: access.ReadAny, Routes: []frame.Route{
		{Method: http.MethodGet, Path: "/{$}", Right: access.ReadAny, Do: r.show},
	}}
}

func (r room) show(c *frame.Call) error {
	return c.Show(&frame.Page{Title: c.Say("overview.menu"), Template: page})
}
