package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Salesforce: a Task by External ID. PATCH creates it, updates the one that is
// there, or answers 300 when several have the ID. Errors are a list.

const destSalesforce = "salesforce"

func salesforceFailure(status int, message string) answer {
	code := map[int]string{
		http.StatusUnauthorized: "INVALID_SESSION_ID", http.StatusForbidden: "INSUFFICIENT_ACCESS", http.StatusNotFound: "NOT_FOUND",
		http.StatusTooManyRequests: "REQUEST_LIMIT_EXCEEDED", http.StatusBadRequest: "INVALID_FIELD",
	}[status]
	return salesforceError(status, cmpOr(code, "UNKNOWN_EXCEPTION"), message)
}

func salesforceError(status int, code, message string, fields ...string) answer {
	e := map[string]any{"errorCode": code, "message": message}
	if len(fields) > 0 {
		e["fields"] = fields
	}
	return jsonAnswer(status, []any{e})
}

func (s *sandbox) routeSalesforce(mux *http.ServeMux) {
	const data = "/salesforce/services/data/{version}/"
	mux.HandleFunc("PATCH "+data+"sobjects/Task/{field}/{value}", s.endpoint(destSalesforce, onEffect, upsertSObject))
	mux.HandleFunc("POST "+data+"sobjects/Task", s.endpoint(destSalesforce, onEffect, createSObject))
	mux.HandleFunc("GET "+data+"sobjects/Task/{field}/{value}", s.endpoint(destSalesforce, onLookup, readSObject))
	mux.HandleFunc("GET "+data+"query", s.endpoint(destSalesforce, onLookup, querySObjects))
}

// externalID is the External ID field that this org has.
const externalID = "Holdpoint_Operation__c"

var salesforceFields = regexp.MustCompile(`^(Subject|ActivityDate|Description|WhoId|WhatId|OwnerId|Status|Priority|` + externalID + `)$`)

// salesforceTask reads and checks the fields of a task.
func (c *call) salesforceTask(ofURL string) (map[string]any, *answer) {
	refuse := func(a answer) (map[string]any, *answer) { return nil, &a }
	var fields map[string]any
	if json.Unmarshal(c.body, &fields) != nil || fields == nil {
		return refuse(salesforceError(http.StatusBadRequest, "JSON_PARSER_ERROR", "The body is not a JSON object."))
	}
	for name := range fields {
		switch {
		case !salesforceFields.MatchString(name):
			return refuse(salesforceError(http.StatusBadRequest, "INVALID_FIELD", fmt.Sprintf("No such column %q on sobject of type Task", name), name))
		case name == ofURL:
			return refuse(salesforceError(http.StatusBadRequest, "INVALID_FIELD", "The external ID stands in the URL and in the body.", name))
		}
	}
	return fields, nil
}

// salesforceEffect makes the effect of new fields. The alias is what Unique protects.
func (c *call) salesforceEffect(fields map[string]any) effect {
	id := c.sandbox.ledger.nextID("00T", "")
	out := map[string]any{
		"attributes": map[string]any{"type": "Task", "url": c.sObjectPath(id)}, "Status": "Not Started", "Priority": "Normal",
	}
	maps.Copy(out, fields)
	out["Id"] = id
	e := effect{
		Destination: destSalesforce, Effect: effectTask, ID: id, Reference: text(fields[externalID]), Key: c.key,
		RequestHash: hashOf(c.body), Time: c.now(), Fields: out,
	}
	if e.Reference != "" {
		e.aliases = []string{"external:" + strings.ToLower(e.Reference)}
	}
	return e
}

func (c *call) sObjectPath(id string) string {
	return "/services/data/" + c.request.PathValue("version") + "/sobjects/Task/" + id
}

// sObjects gives the tasks with this external ID.
func (c *call) sObjects(value string) []effect {
	var out []effect
	for _, e := range c.sandbox.ledger.list(destSalesforce, "external:"+strings.ToLower(value)) {
		if !e.Deleted {
			out = append(out, e)
		}
	}
	return out
}

func upsertSObject(c *call) answer {
	field, value := c.request.PathValue("field"), c.request.PathValue("value")
	if field != externalID {
		return salesforceFailure(http.StatusNotFound, "Provided external ID field does not exist or is not accessible: "+field)
	}
	fields, refused := c.salesforceTask(field)
	if refused != nil {
		return *refused
	}
	return c.execute(func() answer {
		if found := c.sObjects(value); len(found) > 1 {
			return executed(c.severalSObjects(found))
		}
		named := maps.Clone(fields)
		named[field] = value
		unique := uniqueAlias
		if c.ignoreKey { // the field is no longer Unique, and two requests came at once
			unique = uniqueNothing
		}
		e, created := c.sandbox.ledger.add(c.salesforceEffect(named), unique)
		if created {
			return executed(jsonAnswer(http.StatusCreated, map[string]any{"id": e.ID, "success": true, "errors": []any{}, "created": true}))
		}
		c.sandbox.ledger.update(destSalesforce, effectTask, e.ID, func(e *effect) { maps.Copy(e.Fields, fields) })
		if version, err := strconv.ParseFloat(strings.TrimPrefix(c.request.PathValue("version"), "v"), 64); err == nil && version < 46 {
			return executed(answer{status: http.StatusNoContent})
		}
		return executed(jsonAnswer(http.StatusOK, map[string]any{"id": e.ID, "success": true, "errors": []any{}, "created": false}))
	})
}

func (c *call) severalSObjects(found []effect) answer {
	urls := make([]string, len(found))
	for i, e := range found {
		urls[i] = c.sObjectPath(e.ID)
	}
	return jsonAnswer(http.StatusMultipleChoices, urls)
}

// createSObject is the plain create: nothing protects it but the unique field.
func createSObject(c *call) answer {
	fields, refused := c.salesforceTask("")
	if refused != nil {
		return *refused
	}
	return c.execute(func() answer {
		unique := uniqueAlias
		if c.ignoreKey || text(fields[externalID]) == "" {
			unique = uniqueNothing
		}
		e, created := c.sandbox.ledger.add(c.salesforceEffect(fields), unique)
		if !created {
			return executed(salesforceError(http.StatusBadRequest, "DUPLICATE_VALUE", "duplicate value found: "+externalID+" duplicates value on record with id: "+e.ID, externalID))
		}
		return executed(jsonAnswer(http.StatusCreated, map[string]any{"id": e.ID, "success": true, "errors": []any{}}))
	})
}

// readSObject reads the database directly.
func readSObject(c *call) answer {
	field, value := c.request.PathValue("field"), c.request.PathValue("value")
	found := c.sObjects(value)
	switch {
	case field != externalID:
		return salesforceFailure(http.StatusNotFound, "Provided external ID field does not exist or is not accessible: "+field)
	case len(found) == 0:
		return salesforceFailure(http.StatusNotFound, "The requested resource does not exist")
	case len(found) > 1:
		return c.severalSObjects(found)
	}
	return jsonAnswer(http.StatusOK, found[0].Fields)
}

var soql = regexp.MustCompile(`(?i)^\s*SELECT\s+([A-Za-z_, ]+?)\s+FROM\s+Task\s+WHERE\s+(\w+)\s*=\s*'([^'\\]*)'\s*$`)

// querySObjects understands SELECT fields FROM Task WHERE field = 'value'.
func querySObjects(c *call) answer {
	m := soql.FindStringSubmatch(c.request.URL.Query().Get("q"))
	if m == nil {
		return salesforceError(http.StatusBadRequest, "MALFORMED_QUERY", "Only SELECT … FROM Task WHERE field = 'value' is understood.")
	}
	records := []map[string]any{}
	for _, e := range c.sandbox.ledger.list(destSalesforce, "") {
		if e.Deleted || !strings.EqualFold(text(e.Fields[m[2]]), m[3]) {
			continue
		}
		record := map[string]any{"attributes": e.Fields["attributes"]}
		for _, name := range strings.Split(m[1], ",") {
			name = strings.TrimSpace(name)
			record[name] = e.Fields[name]
		}
		records = append(records, record)
	}
	return jsonAnswer(http.StatusOK, map[string]any{"totalSize": len(records), "done": true, "records": records})
}
