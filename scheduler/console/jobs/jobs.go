// Package jobs is the console's table of all jobs, with search as you type, filters, sorting and pages, and its bulk
// operations.
//
//	filter ──► table ──► selection ──► confirmation ──► progress ──► end
//	                                    proposed          running or canceled
//
// A bulk operation is an operation of the service, proposed until the user confirms it. The table comes from the search
// index. While the index is being built, it lists jobs by name only, without sorting and counts.
package jobs

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/service"
)

//go:embed *.html
var files embed.FS

//go:embed assets
var assets embed.FS

var (
	listPage   = frame.Templates(files, "list.html", "row.html")
	manyPage   = frame.Templates(files, "many.html")
	operations = frame.Templates(files, "operations.html")
)

// The paths of the room.
const (
	listPath = frame.Root + "/jobs"
	manyPath = frame.Root + "/many"
)

type room struct {
	service *service.Service
}

// Room returns the pages.
func Room(s *service.Service) frame.Room {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the file is embedded
	}
	r := room{s}
	return frame.Room{Name: "jobs", Path: listPath, Key: "j", Right: access.ReadAny, Assets: own, Routes: []frame.Route{
		{Method: http.MethodGet, Path: listPath, Right: access.ReadAny, Do: r.list},
		{Method: http.MethodPost, Path: manyPath, Right: access.OperateAny, Do: r.ask},
		{Method: http.MethodGet, Path: manyPath, Right: access.OperateAny, Do: r.listMany},
		{Method: http.MethodGet, Path: manyPath + "/{id}", Right: access.OperateAny, Do: r.showMany},
		{Method: http.MethodGet, Path: manyPath + "/{id}/events", Right: access.OperateAny, Do: r.followMany, Live: true},
		{Method: http.MethodPost, Path: manyPath + "/{id}/start", Right: access.OperateAny, Do: r.start},
		{Method: http.MethodPost, Path: manyPath + "/{id}/stop", Right: access.OperateAny, Do: r.stop},
	}}
}
