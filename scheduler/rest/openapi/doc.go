// Package openapi generates the OpenAPI 3.1 document of the HTTP API.
//
//	api.Operations ──► rest routes ──► [Route] ─┐
//	Go types, sources.json ────────► schemas ───┼──► [New] ──► [Document]
//	package schema (user input) ─► components ──┘
//
// Guarantees:
//
//  1. Operations, rights, query parameters and conditions are those that package rest serves.
//  2. The schemas of answers derive from the Go types that encode them, their descriptions from the comments of these types,
//     and their enumerations from the constants. A test keeps sources.json, which holds both, up to date.
//  3. The document lists all errors of an operation: common ones, such as 401 and 503, follow from its route.
//
// A test calls each operation for each documented answer and validates the results.
package openapi
