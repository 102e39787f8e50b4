// Package actions gathers the action types a Carillon process can run.
//
// An action type is implemented by a package below this one, such as
// actions/web; these packages are the only ones with effects on the outside
// world. Each offers a [scheduler.ActionReader], and a [Registry] makes one of
// many:
//
//	registry := actions.New(web.New(web.Config{Version: version}))
//
// There is no global registry: what a process can run is what its main
// function put together.
package actions
