package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The CRM keeps tasks. It knows no Idempotency-Key; its protection is the
// unique property `reference`. A task in the trash is hidden from the search
// and from the read by reference, and still holds its reference.

const effectTask = "task"

var crmAPI = api{failure: func(status int, message string) answer {
	category := map[int]string{
		http.StatusBadRequest: "VALIDATION_ERROR", http.StatusUnauthorized: "INVALID_AUTHENTICATION",
		http.StatusNotFound: "OBJECT_NOT_FOUND", http.StatusConflict: "CONFLICT",
		http.StatusMultipleChoices: "MULTIPLE", http.StatusTooManyRequests: "RATE_LIMITS",
	}[status]
	if category == "" {
		category = "SERVER_ERROR"
	}
	return jsonAnswer(status, map[string]any{"status": "error", "category": category, "message": message})
}}

func (s *sandbox) routeCRM(mux *http.ServeMux) {
	mux.HandleFunc("POST /crm/tasks", s.endpoint(destCRM, onEffect, createTask))
	mux.HandleFunc("GET /crm/tasks", s.endpoint(destCRM, onLookup, searchTasks))
	mux.HandleFunc("GET /crm/tasks/{id}", s.endpoint(destCRM, onLookup, readTask))
	mux.HandleFunc("DELETE /crm/tasks/{id}", s.endpoint(destCRM, onEffect, trashTask))
	mux.HandleFunc("GET /crm/tasks/by-reference/{reference}", s.endpoint(destCRM, onLookup, readTaskByReference))
}

func createTask(c *call) answer {
	var fields map[string]any
	if err := json.Unmarshal(c.body, &fields); err != nil || fields == nil {
		return crmAPI.failure(http.StatusBadRequest, "The body is not a JSON object.")
	}
	if text(fields["subject"]) == "" {
		return crmAPI.failure(http.StatusBadRequest, "Property \"subject\" is required.")
	}
	if _, isText := fields["reference"].(string); fields["reference"] != nil && !isText {
		return crmAPI.failure(http.StatusBadRequest, "Property \"reference\" must be text.")
	}
	return c.execute(func() answer {
		id, now := c.sandbox.ledger.nextID("TSK", "-"), c.now()
		fields["id"] = id
		fields["url"] = "http://" + c.request.Host + "/crm/view/" + id
		fields["created_at"] = now.Format(time.RFC3339Nano)
		unique := uniqueReference
		if c.ignoreKey {
			unique = uniqueNothing
		}
		e, created := c.sandbox.ledger.add(effect{
			Destination: destCRM, Effect: effectTask, ID: id, Reference: text(fields["reference"]), Key: c.key,
			RequestHash: hashOf(c.body), Time: now, Fields: fields,
		}, unique)
		if !created {
			return executed(conflict(e))
		}
		return executed(jsonAnswer(http.StatusCreated, e.Fields))
	})
}

// conflict names the task that holds the reference. The ID stands in a field of
// its own only when the task can be read; a trashed one is named in the message.
func conflict(holder effect) answer {
	body := map[string]any{
		"status": "error", "category": "CONFLICT",
		"message": fmt.Sprintf("A task with reference %q already exists. Existing ID: %s", holder.Reference, holder.ID),
	}
	if !holder.Deleted {
		body["id"] = holder.ID
	}
	return jsonAnswer(http.StatusConflict, body)
}

func readTask(c *call) answer {
	id := c.request.PathValue("id")
	e, ok := c.sandbox.ledger.find(destCRM, effectTask, id)
	if !ok || e.Deleted && c.request.URL.Query().Get("archived") != "true" {
		return crmAPI.failure(http.StatusNotFound, fmt.Sprintf("There is no task %s, or it is in the trash.", id))
	}
	return jsonAnswer(http.StatusOK, taskBody(e))
}

func taskBody(e effect) map[string]any {
	if !e.Deleted {
		return e.Fields
	}
	body := map[string]any{"archived": true}
	for name, v := range e.Fields {
		body[name] = v
	}
	return body
}

// readTaskByReference reads directly, without the search index: what exists is
// seen at once. Several tasks with one reference (the unique property was
// ignored) are answered with 300 and all of them.
func readTaskByReference(c *call) answer {
	reference := c.request.PathValue("reference")
	found := c.liveTasks(reference, 0)
	switch len(found) {
	case 0:
		return crmAPI.failure(http.StatusNotFound, fmt.Sprintf("There is no task with reference %q.", reference))
	case 1:
		return jsonAnswer(http.StatusOK, found[0])
	}
	return jsonAnswer(http.StatusMultipleChoices, map[string]any{
		"status": "error", "category": "MULTIPLE", "message": "Several tasks have this reference.",
		"total": len(found), "results": found,
	})
}

// liveTasks gives the tasks with this reference that are not in the trash and
// at least as old as the lag.
func (c *call) liveTasks(reference string, lag time.Duration) []map[string]any {
	until := c.now().Add(-lag)
	out := []map[string]any{}
	for _, e := range c.sandbox.ledger.list(destCRM, reference) {
		if e.Effect == effectTask && !e.Deleted && !e.Time.After(until) {
			out = append(out, e.Fields)
		}
	}
	return out
}

// searchTasks asks the index, which lags. Filters: reference, contact. Pages
// hold 100 tasks unless limit says less; `after` of one page starts the next.
func searchTasks(c *call) answer {
	q := c.request.URL.Query()
	found := c.liveTasks(q.Get("reference"), c.searchLag())
	if contact := q.Get("contact"); contact != "" {
		kept := found[:0]
		for _, t := range found {
			if text(t["contact"]) == contact {
				kept = append(kept, t)
			}
		}
		found = kept
	}
	limit := queryNumber(q.Get("limit"), 100, 100)
	from := min(queryNumber(q.Get("after"), 0, len(found)), len(found))
	page := found[from:min(from+limit, len(found))]
	body := map[string]any{"total": len(found), "results": page}
	if next := from + len(page); next < len(found) {
		body["paging"] = map[string]any{"next": map[string]any{"after": strconv.Itoa(next)}}
	}
	return jsonAnswer(http.StatusOK, body)
}

// queryNumber reads a number of a query, with a fallback and an upper bound.
func queryNumber(s string, fallback, most int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return fallback
	}
	return min(n, most)
}

func trashTask(c *call) answer {
	id := c.request.PathValue("id")
	return c.execute(func() answer {
		gone := false
		_, ok := c.sandbox.ledger.update(destCRM, effectTask, id, func(e *effect) {
			gone = e.Deleted
			e.Deleted = true
		})
		if !ok || gone {
			return crmAPI.failure(http.StatusNotFound, fmt.Sprintf("There is no task %s, or it is in the trash.", id))
		}
		return executed(answer{status: http.StatusNoContent})
	})
}
