// Package views renders Holdpoint's pages. Each page is a templ component
// (XPage) with a plain view model (XModel) shaped like the page; handlers fill the
// models and decide nothing here.
//
// It may import only static, operation and views/text of ours.
//
// # Forms
//
// Every form is a plain POST with the hidden fields of Form: form_id (unique key of
// this rendering: a double click is one decision), version, hash and revision (what
// the person was shown). The names of the other fields stand in the doc comment of
// each form type; handlers bind exactly these. A form with Barred set shows that
// refusal's sentence in place of its button.
//
// All text comes from views/text through the printer in the context (text.With).
package views
