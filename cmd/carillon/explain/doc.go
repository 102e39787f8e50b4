// Package explain is `carillon explain`: it describes the possible values of a field of a job or a collection.
// It derives them from the readers of these documents and the descriptions in the schemas.
package explain
