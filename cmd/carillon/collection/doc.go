// Package collection has the commands that deal with collections.
package collection
