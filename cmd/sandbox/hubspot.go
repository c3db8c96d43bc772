package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HubSpot's CRM v3: tasks with one unique property. Create refuses a second task with
// its value, batch upsert overwrites the first; the read by idProperty is direct, the
// search lags.

const (
	destHubSpot    = "hubspot"
	uniqueProperty = "holdpoint_operation_id"
)

func hubspotFailure(status int, message string) answer {
	category := map[int]string{
		http.StatusBadRequest: "VALIDATION_ERROR", http.StatusUnauthorized: "INVALID_AUTHENTICATION", http.StatusForbidden: "MISSING_SCOPES",
		http.StatusNotFound: "OBJECT_NOT_FOUND", http.StatusConflict: "CONFLICT", http.StatusTooManyRequests: "RATE_LIMITS",
	}[status]
	return jsonAnswer(status, map[string]any{
		"status": "error", "message": message, "category": cmpOr(category, "INTERNAL_ERROR"), "correlationId": "00000000-0000-4000-8000-000000000000",
	})
}

func (s *sandbox) routeHubSpot(mux *http.ServeMux) {
	const tasks = "/hubspot/crm/v3/objects/tasks"
	mux.HandleFunc("POST "+tasks, s.endpoint(destHubSpot, onEffect, createHubSpotTask))
	mux.HandleFunc("POST "+tasks+"/batch/upsert", s.endpoint(destHubSpot, onEffect, upsertHubSpotTasks))
	mux.HandleFunc("GET "+tasks+"/{id}", s.endpoint(destHubSpot, onLookup, readHubSpotTask))
	mux.HandleFunc("POST "+tasks+"/search", s.endpoint(destHubSpot, onLookup, searchHubSpotTasks))
}

type hubspotInput struct {
	ID           string            `json:"id"`
	IDProperty   string            `json:"idProperty"`
	Trace        string            `json:"objectWriteTraceId"`
	Properties   map[string]string `json:"properties"`
	Associations []any             `json:"associations"`
}

var hubspotProperties = regexp.MustCompile(`^(hs_task_subject|hs_task_body|hs_task_status|hs_task_priority|hs_task_type|hs_timestamp|hubspot_owner_id|` + uniqueProperty + `)$`)

var hubspotChoices = map[string][]string{
	"hs_task_status":   {"NOT_STARTED", "IN_PROGRESS", "WAITING", "COMPLETED", "DEFERRED"},
	"hs_task_priority": {"LOW", "MEDIUM", "HIGH", "NONE"},
	"hs_task_type":     {"TODO", "CALL", "EMAIL"},
}

// problem says what is wrong with the properties; "" = nothing.
func (in hubspotInput) problem() string {
	for name, value := range in.Properties {
		if !hubspotProperties.MatchString(name) {
			return fmt.Sprintf("Property %q does not exist", name)
		}
		if choices := hubspotChoices[name]; choices != nil && !slices.Contains(choices, value) {
			return fmt.Sprintf("%s was not one of the allowed options: %v", value, choices)
		}
	}
	if in.Properties["hs_timestamp"] == "" {
		return "Property \"hs_timestamp\" is required."
	}
	if _, err := time.Parse(time.RFC3339, in.Properties["hs_timestamp"]); err != nil {
		if _, err := strconv.ParseInt(in.Properties["hs_timestamp"], 10, 64); err != nil {
			return "hs_timestamp was not a valid long or date."
		}
	}
	return ""
}

func hubspotAlias(value string) string { return "unique:" + strings.ToLower(value) }

// hubspotEffect makes the effect of a new task.
func (c *call) hubspotEffect(in hubspotInput) effect {
	id, now := c.sandbox.ledger.nextID("", ""), c.now()
	properties := map[string]any{"hs_createdate": now.Format(time.RFC3339Nano), "hs_object_id": id}
	for name, value := range in.Properties {
		properties[name] = value
	}
	e := effect{
		Destination: destHubSpot, Effect: effectTask, ID: id, Reference: in.Properties[uniqueProperty], Key: c.key, RequestHash: hashOf(c.body), Time: now,
		Fields: map[string]any{"id": id, "properties": properties, "createdAt": now.Format(time.RFC3339Nano), "updatedAt": now.Format(time.RFC3339Nano), "archived": false},
	}
	if len(in.Associations) > 0 {
		e.Fields["associations"] = in.Associations
	}
	if e.Reference != "" {
		e.aliases = []string{hubspotAlias(e.Reference)}
	} else {
		e.Reference = operationIn.FindString(in.Properties["hs_task_body"])
	}
	return e
}

// operationIn finds the caller's own reference where only the text carries it.
var operationIn = regexp.MustCompile(`\bop_[0-9a-z]{1,26}\b`)

func (c *call) hubspotUnique() uniqueness {
	if c.ignoreKey {
		return uniqueNothing
	}
	return uniqueAlias
}

func createHubSpotTask(c *call) answer {
	var in hubspotInput
	if err := json.Unmarshal(c.body, &in); err != nil || in.Properties == nil || in.Associations == nil {
		return hubspotFailure(http.StatusBadRequest, "Invalid input JSON: properties and associations are required")
	}
	if why := in.problem(); why != "" {
		return hubspotFailure(http.StatusBadRequest, "Property values were not valid: "+why)
	}
	return c.execute(func() answer {
		e, created := c.sandbox.ledger.add(c.hubspotEffect(in), c.hubspotUnique())
		if !created {
			return executed(hubspotFailure(http.StatusBadRequest,
				fmt.Sprintf("Property values were not valid: %s already has the value %s for %s", e.ID, e.Reference, uniqueProperty)))
		}
		return executed(jsonAnswer(http.StatusCreated, e.Fields))
	})
}

// upsertHubSpotTasks judges each input alone: what is wrong with some is told in a 207.
func upsertHubSpotTasks(c *call) answer {
	var body struct {
		Inputs []hubspotInput `json:"inputs"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil || len(body.Inputs) == 0 || len(body.Inputs) > 100 {
		return hubspotFailure(http.StatusBadRequest, "Invalid input JSON: 1 to 100 inputs are required")
	}
	for _, in := range body.Inputs {
		if in.IDProperty != uniqueProperty || in.ID == "" {
			return hubspotFailure(http.StatusBadRequest, fmt.Sprintf("%q is no unique property of tasks", in.IDProperty))
		}
	}
	return c.execute(func() answer {
		began := c.now().Format(time.RFC3339Nano)
		results, problems := []any{}, []any{}
		for _, in := range body.Inputs {
			if why := in.problem(); why != "" {
				problems = append(problems, map[string]any{"status": "error", "category": "VALIDATION_ERROR", "message": why,
					"context": map[string]any{"objectWriteTraceId": []string{in.Trace}}})
				continue
			}
			results = append(results, c.upsertHubSpotTask(in))
		}
		out := map[string]any{"status": "COMPLETE", "results": results, "startedAt": began, "completedAt": c.now().Format(time.RFC3339Nano)}
		if len(problems) == 0 {
			return executed(jsonAnswer(http.StatusOK, out))
		}
		out["numErrors"], out["errors"] = len(problems), problems
		return executed(jsonAnswer(http.StatusMultiStatus, out))
	})
}

func (c *call) upsertHubSpotTask(in hubspotInput) map[string]any {
	named := maps.Clone(in.Properties)
	named[uniqueProperty] = in.ID
	e, created := c.sandbox.ledger.add(c.hubspotEffect(hubspotInput{Properties: named}), c.hubspotUnique())
	if !created {
		e, _ = c.sandbox.ledger.update(destHubSpot, effectTask, e.ID, func(e *effect) {
			old, _ := e.Fields["properties"].(map[string]any)
			properties := maps.Clone(old)
			for name, value := range in.Properties {
				properties[name] = value
			}
			e.Fields["properties"], e.Fields["updatedAt"] = properties, c.now().Format(time.RFC3339Nano)
		})
	}
	result := maps.Clone(e.Fields)
	result["new"] = created
	if in.Trace != "" {
		result["objectWriteTraceId"] = in.Trace
	}
	return result
}

// readHubSpotTask reads directly, by ID or by the unique property.
func readHubSpotTask(c *call) answer {
	id, property := c.request.PathValue("id"), c.request.URL.Query().Get("idProperty")
	if property != "" && property != uniqueProperty {
		return hubspotFailure(http.StatusBadRequest, fmt.Sprintf("%q is no unique property of tasks", property))
	}
	for _, e := range c.sandbox.ledger.list(destHubSpot, "") {
		if !e.Deleted && (property == "" && e.ID == id || property != "" && slices.Contains(e.aliases, hubspotAlias(id))) {
			return jsonAnswer(http.StatusOK, e.Fields)
		}
	}
	return hubspotFailure(http.StatusNotFound, "Object not found. objectId are usually numeric.")
}

// searchHubSpotTasks asks the index, which lags. It knows EQ and CONTAINS_TOKEN; all
// filters of the first group must hold.
func searchHubSpotTasks(c *call) answer {
	var body struct {
		FilterGroups []struct {
			Filters []struct {
				PropertyName, Operator, Value string
			} `json:"filters"`
		} `json:"filterGroups"`
		Limit int    `json:"limit"`
		After string `json:"after"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil || len(body.FilterGroups) > 1 {
		return hubspotFailure(http.StatusBadRequest, "Invalid input JSON, or more than one filter group")
	}
	until, found := c.now().Add(-c.searchLag()), []any{}
	for _, e := range c.sandbox.ledger.list(destHubSpot, "") {
		fits := !e.Deleted && !e.Time.After(until)
		properties, _ := e.Fields["properties"].(map[string]any)
		for _, g := range body.FilterGroups {
			for _, f := range g.Filters {
				value := text(properties[f.PropertyName])
				fits = fits && (f.Operator == "EQ" && value == f.Value || f.Operator == "CONTAINS_TOKEN" && strings.Contains(value, f.Value))
			}
		}
		if fits {
			found = append(found, e.Fields)
		}
	}
	limit := body.Limit
	if limit < 1 || limit > 100 {
		limit = 10
	}
	from := min(queryNumber(body.After, 0, len(found)), len(found))
	page := found[from:min(from+limit, len(found))]
	out := map[string]any{"total": len(found), "results": page}
	if next := from + len(page); next < len(found) {
		out["paging"] = map[string]any{"next": map[string]any{"after": strconv.Itoa(next)}}
	}
	return jsonAnswer(http.StatusOK, out)
}
