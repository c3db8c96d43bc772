// Package chrometest drives the headless Chromium of Debian for tests of pages: a tab
// with a size, a colour scheme and a language of its own, what went wrong in it, what it
// asked from where, and what axe-core finds.
//
// It imports nothing of ours. Nothing of the product imports it.
//
// vendor/axe.min.js is axe-core 4.14.1 as its npm package ships it (Mozilla Public
// License 2.0, vendor/axe-LICENSE).
package chrometest
