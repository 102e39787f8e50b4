// Package chart draws charts of time series as SVG in a page, with round numbers on the axes, a title and a description
// for screen readers, and a tooltip for each step. Pages need no script or style for it; colors come from the styles of
// the page.
//
//	Chart ──► Panel (one axis) ──► Series (one value per step)
//	  └────── Draw ──► SVG
//
// The drawing is stretched to the page's width. Text is placed next to it and does not scale, so that it stays readable
// on a narrow screen.
package chart
