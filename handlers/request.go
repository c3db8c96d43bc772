package handlers

import (
	"fmt"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// requestView shows the exact request of a version with its holes, as it was approved.
func requestView(p *store.OperationPage, v store.VersionRow) views.RequestView {
	out := views.RequestView{Credential: v.Credential, Account: v.Account}
	r := v.Request()
	if r.Kind == "" {
		return out
	}
	text := requestText(r)
	out.Bytes, out.URL = len(r.Body), pathVersion(p.ID, v.ID)+"/request"
	shown, cut := views.Bound(text, views.ShownText)
	if out.Text = shown; cut {
		out.Cut = views.Cut{Shown: len(shown), Total: len(text), URL: out.URL}
	}
	return out
}

// requestText writes a request as it travels.
func requestText(r operation.Request) string {
	var b strings.Builder
	if r.Kind == operation.RequestSMTP {
		fmt.Fprintf(&b, "MAIL FROM:<%s>\n", r.From)
		for _, to := range r.To {
			fmt.Fprintf(&b, "RCPT TO:<%s>\n", to)
		}
		return b.String() + "\n" + r.Body
	}
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
	for _, h := range r.Header {
		fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value)
	}
	if r.Body != "" {
		b.WriteString("\n" + r.Body)
	}
	return b.String()
}

func pathVersion(id operation.ID, v operation.VersionID) string {
	return pathOperation(id) + "/versions/" + string(v)
}

func pathAttempt(id operation.ID, a operation.AttemptID) string {
	return pathOperation(id) + "/attempts/" + string(a) + "/request"
}
