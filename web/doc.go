// Package web is the frame around every page: Echo with its middleware, sessions, who
// looks, the reader's language, flash messages, forms kept over a sign-in, rendering,
// and the one place where errors become pages.
//
// It may import views, static, store and operation of ours. Pages stand in package
// handlers; no rule of the gate stands here.
package web
