package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
)

// request is a compiled HTTP request.
type request struct {
	method  string
	path    template
	query   template // object or nil
	headers object
	form    template // object or nil
	parts   template // object or nil: the fields of multipart/form-data
	json    template // nil = none
	text    template // nil = none
}

type rawRequest struct {
	Method  string         `json:"method"`
	Path    string         `json:"path"`
	Query   map[string]any `json:"query"`
	Headers map[string]any `json:"headers"`
	Form    map[string]any `json:"form"`
	Parts   map[string]any `json:"multipart"`
	JSON    expression     `json:"json"`
	Text    *string        `json:"text"`
}

// compile prepares a request. Only the profile's own literal texts can hold holes.
func (r rawRequest) compile(s scope, path string, p *problems) *request {
	mark := operation.DeclareHoles
	out := &request{method: r.Method, path: compileText(s, r.Path, join(path, "path"), mark, p)}
	eachLiteral(out.path, func(s string) {
		if strings.ContainsAny(s, "?#\\ ") || hasControl(s) {
			p.add(join(path, "path"), "a path holds no ?, #, backslash or space; the query has a field of its own")
		}
	})
	headers := map[string]any{}
	for name, v := range r.Headers {
		if reservedHeader(name) {
			p.add(join(path, "headers."+name), "the header %s is set by the program", name)
		}
		headers[name] = v
	}
	out.headers, _ = compileTree(s, headers, join(path, "headers"), mark, p).(object)
	if r.Query != nil {
		out.query = compileTree(s, r.Query, join(path, "query"), mark, p)
	}
	bodies := 0
	if r.Form != nil {
		out.form = compileTree(s, r.Form, join(path, "form"), mark, p)
		bodies++
	}
	if r.Parts != nil {
		checkMultipart(r.Parts, join(path, "multipart"), p)
		out.parts = compileTree(s, r.Parts, join(path, "multipart"), mark, p)
		bodies++
	}
	if r.JSON.set {
		out.json = compileTree(s, r.JSON.raw, join(path, "json"), mark, p)
		bodies++
	}
	if r.Text != nil {
		out.text = compileText(s, *r.Text, join(path, "text"), mark, p)
		bodies++
	}
	if bodies > 1 {
		p.add(path, "a request has one body: form, multipart, json or text")
	}
	if bodies > 0 && r.Method == "GET" {
		p.add(path, "a GET has no body")
	}
	return out
}

// reservedHeader names the headers that the program sets itself, or that would let a
// request mean something else.
func reservedHeader(name string) bool {
	switch textproto.CanonicalMIMEHeaderKey(name) {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Authorization", "Cookie", "Te", "Trailer",
		"Upgrade", "Expect", "Proxy-Authorization", "Keep-Alive", "Accept-Encoding":
		return true
	}
	return false
}

func (r *request) templates() []template {
	ts := []template{r.path, r.headers}
	for _, t := range []template{r.query, r.form, r.parts, r.json, r.text} {
		if t != nil {
			ts = append(ts, t)
		}
	}
	return ts
}

func (r *request) each(visit func(*expr)) {
	for _, t := range r.templates() {
		t.each(visit)
	}
}

// holes lists the names of the holes that the profile declares.
func (r *request) holes() []string {
	var names []string
	for _, t := range r.templates() {
		eachLiteral(t, func(s string) {
			names = append(names, operation.Request{Body: s}.Holes()...)
		})
	}
	return names
}

func eachLiteral(t template, visit func(string)) {
	switch x := t.(type) {
	case literal:
		if s, ok := x.v.(string); ok {
			visit(s)
		}
	case mixed:
		for _, e := range x.parts {
			eachLiteral(e, visit)
		}
	case list:
		for _, e := range x {
			eachLiteral(e, visit)
		}
	case object:
		for _, e := range x.of {
			eachLiteral(e, visit)
		}
	}
}

var errNoTLS = errors.New("base_url must begin with https:// (http:// is permitted to a local destination only: local: true)")

// Base gives where the destination is: an absolute URL without a trailing slash, or
// for SMTP "smtp://host:port". Only a local destination may be reached without TLS.
func (p *Profile) Base(env Env) (string, error) {
	text, err := placeText(p.base, env)
	if err != nil {
		return "", err
	}
	if p.Kind == operation.RequestSMTP {
		host, port, err := net.SplitHostPort(text)
		if n, perr := strconv.ParseUint(port, 10, 16); err != nil || perr != nil || n == 0 || host == "" || strings.ContainsAny(host, "/@?# \r\n") {
			return "", errors.New("smtp.addr is not host:port")
		}
		return "smtp://" + net.JoinHostPort(host, port), nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "", errors.New("base_url is not an absolute URL")
	case u.Scheme != "https" && (u.Scheme != "http" || !p.Local):
		return "", errNoTLS
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("base_url holds no user, query or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Render gives the version that an approval covers: the normalised content and the
// exact request, holes open. env looks up the variables of the profile's places; now
// becomes the Date of a mail. The same arguments give the same version. What the
// content is at fault for is a *ContentError that names the parts; any other error is
// one of the set-up: a variable that is not set, a place that is none. Nothing may be
// submitted then.
func (a *Action) Render(content map[string]any, env Env, now time.Time) (operation.Version, error) {
	base, err := a.profile.Base(env)
	if err != nil {
		return operation.Version{}, err
	}
	if content, err = a.prepare(content); err != nil {
		return operation.Version{}, err
	}
	raw, err := marshal(content)
	if err != nil {
		return operation.Version{}, contentFault("content", nil, err)
	}
	vars := map[string]any{"content": plain(content)}
	var req operation.Request
	if a.mail != nil {
		req, err = a.mail.render(a.profile.SMTP, base, vars, now)
	} else {
		req, err = a.request.render(base, vars, a.protection)
	}
	if err != nil {
		return operation.Version{}, err
	}
	if err := req.Check(); err != nil {
		return operation.Version{}, contentFault("request", nil, err)
	}
	return operation.Version{
		Content: json.RawMessage(raw), Request: req, Destination: a.profile.Destination, Action: a.Name,
		Account: a.profile.Account, Environment: a.profile.Environment, Credential: a.profile.Auth.Name(),
	}, nil
}

// prepare normalises a content and checks it.
func (a *Action) prepare(content map[string]any) (map[string]any, error) {
	normal, _ := operation.NormalizeValue(content).(map[string]any)
	if normal == nil {
		normal = map[string]any{}
	}
	if f := unfit(normal, ""); f != nil {
		return nil, f
	}
	wrong, err := a.CheckContent(normal)
	if err != nil {
		return nil, err
	}
	if len(wrong) > 0 {
		return nil, &ContentError{Fields: wrong}
	}
	return normal, nil
}

// render gives the exact request. Header lines are sorted by name. Every error is a
// *ContentError.
func (r *request) render(base string, vars map[string]any, pt protection) (operation.Request, error) {
	out := operation.Request{Kind: operation.RequestHTTP, Method: r.method}
	path, err := r.renderPath(vars)
	if err != nil {
		return out, contentFault("request.path", r.path, err)
	}
	out.URL = base + path
	if r.query != nil {
		q, err := encodeForm(r.query, vars)
		if err != nil {
			return out, contentFault("request.query", r.query, err)
		}
		if q != "" {
			out.URL += "?" + q
		}
	}
	headers, from := map[string]string{}, map[string]template{}
	if err := r.body(&out, vars, headers); err != nil {
		return out, err
	}
	for _, name := range r.headers.names {
		ps, err := r.headers.of[name].pieces(vars)
		if err != nil {
			return out, contentFault("request.headers."+name, r.headers.of[name], err)
		}
		from[textproto.CanonicalMIMEHeaderKey(name)] = r.headers.of[name]
		headers[textproto.CanonicalMIMEHeaderKey(name)] = joinPieces(ps)
	}
	if pt.keyHeader != "" {
		headers[textproto.CanonicalMIMEHeaderKey(pt.keyHeader)] = pt.keyValue
	}
	for name, v := range headers {
		if hasControl(v) || v != strings.TrimSpace(v) {
			return out, contentFault("request.headers."+name, from[name], errHeaderValue)
		}
		out.Header = append(out.Header, operation.Header{Name: name, Value: v})
	}
	sort.Slice(out.Header, func(i, j int) bool { return out.Header[i].Name < out.Header[j].Name })
	if err := r.checkHoles(out, pt); err != nil {
		return out, contentFault("request", nil, err)
	}
	return out, nil
}

var errHeaderValue = errors.New("a header's value holds a line end, another control character or blanks around it")

// checkHoles makes sure that the request holds no hole but the declared ones.
func (r *request) checkHoles(out operation.Request, pt protection) error {
	declared := map[string]bool{}
	for _, name := range append(r.holes(), operation.Request{Body: pt.keyValue}.Holes()...) {
		declared[name] = true
	}
	for _, name := range out.Holes() {
		if !declared[name] {
			return fmt.Errorf("the request holds a hole {%s} that the profile does not declare", name)
		}
	}
	return nil
}

func (r *request) body(out *operation.Request, vars map[string]any, headers map[string]string) error {
	headers["Accept"] = "application/json"
	switch {
	case r.form != nil:
		f, err := encodeForm(r.form, vars)
		if err != nil {
			return contentFault("request.form", r.form, err)
		}
		out.Body, headers["Content-Type"] = f, "application/x-www-form-urlencoded"
	case r.parts != nil:
		body, kind, err := encodeMultipart(r.parts, vars)
		if err != nil {
			return contentFault("request.multipart", r.parts, err)
		}
		out.Body, headers["Content-Type"] = body, kind
	case r.json != nil:
		v, err := r.json.render(vars)
		if err != nil {
			return contentFault("request.json", r.json, err)
		}
		if out.Body, err = marshal(v); err != nil {
			return contentFault("request.json", r.json, err)
		}
		headers["Content-Type"] = "application/json"
	case r.text != nil:
		ps, err := r.text.pieces(vars)
		if err != nil {
			return contentFault("request.text", r.text, err)
		}
		out.Body, headers["Content-Type"] = joinPieces(ps), "text/plain; charset=utf-8"
	}
	return nil
}

// literalPath escapes what a profile's own text in a path may hold.
var literalPath = strings.NewReplacer(operation.HoleOpen, url.PathEscape(operation.HoleOpen),
	operation.HoleClose, url.PathEscape(operation.HoleClose), "(", "%28", ")", "%29", " ", "%20")

// renderPath escapes every value as one path segment (or a part of one). A value
// cannot be empty, climb with "..", or bring a slash.
func (r *request) renderPath(vars map[string]any) (string, error) {
	ps, err := r.path.pieces(vars)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fields := map[int][]string{} // number of a segment → the content that stands in it
	for _, p := range ps {
		if !p.value {
			b.WriteString(literalPath.Replace(p.text))
			continue
		}
		if p.text == "" || strings.ContainsAny(p.text, "/\\") || hasControl(p.text) {
			return "", &exprError{p.fields, fmt.Errorf("the value %q cannot stand in a path", p.text)}
		}
		n := strings.Count(b.String(), "/")
		fields[n] = append(fields[n], p.fields...)
		b.WriteString(url.PathEscape(p.text))
	}
	for n, segment := range strings.Split(b.String(), "/") {
		if plainSegment, err := url.PathUnescape(segment); err != nil || plainSegment == "." || plainSegment == ".." {
			return "", &exprError{fields[n], fmt.Errorf("the segment %q cannot stand in a path", segment)}
		}
	}
	return b.String(), nil
}

// hasControl reports whether a text holds a control character.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 })
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e || r < 0x20 })
}
