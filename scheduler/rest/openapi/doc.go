// Package openapi tells what the HTTP API is, as an OpenAPI 3.1 document.
//
//  1. Operations, rights, query parameters and conditions are those that the API is served by: package rest hands over its
//     routes ([Route]), which are rows of the table in package api.
//  2. The schemas of answers are made of the Go types that encode them. Their texts are the comments of these types, and
//     their enumerations the constants: a test keeps sources.json, which has both, as the sources are.
//  3. What every operation may answer, such as 401 or 503, follows from its route; each adds what is its own.
//
// A test calls every operation of the document for every answer that it has, and holds what comes against it.
package openapi
