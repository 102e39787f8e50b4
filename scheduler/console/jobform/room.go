package jobform

import (
	"embed"
	"io/fs"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

//go:embed assets
var files embed.FS

// Room has the assets of forms. It has no page.
func Room() frame.Room {
	assets, err := fs.Sub(files, "assets")
	if err != nil {
		panic(err)
	}
	return frame.Room{Name: "jobform", Assets: assets}
}
