// Package english contains the phrases from which all languages compose their descriptions.
//
// Phrases are exact: a reader can reconstruct the rule. Hours have two digits, so that "of every hour from 09 to 17"
// cannot be read as minutes.
package english
