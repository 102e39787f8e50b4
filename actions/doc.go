// Package actions gathers the action types a Carillon process can run.
//
// An action type is implemented by a package below this one, such as
// actions/web; these packages are the only ones with effects on the outside
// world. Each offers a client, which is a [scheduler.ActionReader], and a
// [Registry] makes one of many. Package builtin has that of all types here:
//
//	registry := builtin.New(builtin.Config{Version: version})
//	defer registry.Close()
//
// A client that has a method Member(kind string) string tells which member of an
// action holds what belongs to a type; the registry then refuses that member
// beside other types, by name. One that has a method Close is closed with the
// registry.
//
// There is no global registry: what a process can run is what its main
// function put together.
package actions
