// Package english is the phrases of which the descriptions of all languages are put together.
//
// They are exact: a reader can write the rule again. Hours are written with two digits, so that "of every hour from 09
// to 17" cannot be read as minutes.
package english
