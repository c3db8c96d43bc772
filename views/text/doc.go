// Package text holds every sentence that people read, in English, Japanese and
// Polish, and says dates, times, numbers and durations as those languages do.
//
// It is a leaf: it imports none of our packages, so that pages and mails alike may
// use it. A Printer belongs to one reader: language, time zone and the moment at
// which the page is made.
package text
