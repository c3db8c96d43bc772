package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestCRM(t *testing.T) {
	t.Parallel()

	t.Run("CreatesAndReadsDirectly", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		made := p.effect(destCRM)
		p.wantStatus(made, http.StatusCreated)
		id, _ := made.at("id").(string)
		if !strings.HasPrefix(id, "TSK-") || made.at("reference") != "op_1" || made.at("url") != p.base+"/crm/view/"+id {
			t.Fatal(made.raw)
		}
		for _, path := range []string{"/crm/tasks/" + id, "/crm/tasks/by-reference/op_1"} {
			read := p.get(path)
			p.wantStatus(read, http.StatusOK)
			if read.at("id") != id || read.at("subject") != "Call C-1" {
				t.Fatalf("%s: %s", path, read.raw)
			}
		}
		p.wantStatus(p.get("/crm/tasks/by-reference/op_2"), http.StatusNotFound)
		p.wantStatus(p.get("/crm/tasks/TSK-none"), http.StatusNotFound)
		list := p.effects(destCRM, "op_1")
		if len(list) != 1 || list[0].ID != id || list[0].RequestHash != hashOf([]byte(effectRequests[destCRM].body)) {
			t.Fatalf("%+v", list)
		}
	})

	t.Run("RefusesASecondTaskWithTheReference", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		id := p.effect(destCRM).at("id")
		again := p.json("/crm/tasks", `{"subject":"Other","reference":"op_1"}`)
		p.wantStatus(again, http.StatusConflict)
		if again.at("category") != "CONFLICT" || again.at("id") != id {
			t.Fatal(again.raw)
		}
		p.wantEffects(destCRM, "op_1", 1)
	})

	t.Run("TrashedTaskIsHiddenAndHoldsItsReference", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		id, _ := p.effect(destCRM).at("id").(string)
		p.wantStatus(p.do("DELETE", "/crm/tasks/"+id, "", ""), http.StatusNoContent)
		p.wantStatus(p.do("DELETE", "/crm/tasks/"+id, "", ""), http.StatusNotFound)
		p.wantStatus(p.get("/crm/tasks/"+id), http.StatusNotFound)
		p.wantStatus(p.get("/crm/tasks/by-reference/op_1"), http.StatusNotFound)
		if g := p.get("/crm/tasks?reference=op_1"); g.at("total") != 0.0 {
			t.Fatal(g.raw)
		}
		archived := p.get("/crm/tasks/" + id + "?archived=true")
		if archived.status != http.StatusOK || archived.at("archived") != true {
			t.Fatal(archived.raw)
		}
		again := p.effect(destCRM)
		p.wantStatus(again, http.StatusConflict)
		if message, _ := again.at("message").(string); again.at("id") != nil || !strings.Contains(message, id) {
			t.Fatalf("the trashed task must be named in the message only: %s", again.raw)
		}
		if list := p.effects(destCRM, "op_1"); len(list) != 1 || !list[0].Deleted {
			t.Fatalf("%+v", list)
		}
	})

	t.Run("SearchLagsTheDirectReadDoesNot", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("settings", `{"destination":"crm","index_lag":"20s"}`)
		p.effect(destCRM)
		if g := p.get("/crm/tasks?reference=op_1"); g.at("total") != 0.0 || len(g.at("results").([]any)) != 0 {
			t.Fatal(g.raw)
		}
		p.wantStatus(p.get("/crm/tasks/by-reference/op_1"), http.StatusOK)
		p.control("clock", `{"advance":"21s"}`)
		if g := p.get("/crm/tasks?reference=op_1"); g.at("total") != 1.0 {
			t.Fatal(g.raw)
		}
	})

	t.Run("SearchPages", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		for range 3 {
			p.wantStatus(p.json("/crm/tasks", `{"subject":"S","contact":"c1"}`), http.StatusCreated)
		}
		p.json("/crm/tasks", `{"subject":"S","contact":"c2"}`)
		first := p.get("/crm/tasks?contact=c1&limit=2")
		if first.at("total") != 3.0 || len(first.at("results").([]any)) != 2 || first.at("paging", "next", "after") != "2" {
			t.Fatal(first.raw)
		}
		second := p.get("/crm/tasks?contact=c1&limit=2&after=2")
		if len(second.at("results").([]any)) != 1 || second.at("paging") != nil {
			t.Fatal(second.raw)
		}
	})

	t.Run("IgnoredUniquenessMakesTwo", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		p.control("faults", `{"destination":"crm","fault":"ignore_idempotency","times":2}`)
		p.wantStatus(p.effect(destCRM), http.StatusCreated)
		p.wantStatus(p.effect(destCRM), http.StatusCreated)
		p.wantEffects(destCRM, "op_1", 2)
		both := p.get("/crm/tasks/by-reference/op_1")
		p.wantStatus(both, http.StatusMultipleChoices)
		if both.at("total") != 2.0 {
			t.Fatal(both.raw)
		}
		p.wantStatus(p.effect(destCRM), http.StatusConflict)
	})

	t.Run("TwentyAtOnceMakeOne", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t)
		answers := make(chan got, 20)
		for range cap(answers) {
			go func() { answers <- p.effect(destCRM) }()
		}
		count := map[int]int{}
		for range cap(answers) {
			count[(<-answers).status]++
		}
		if count[http.StatusCreated] != 1 || count[http.StatusConflict] != 19 {
			t.Fatal(count)
		}
		p.wantEffects(destCRM, "op_1", 1)
	})

	for name, body := range map[string]string{
		"no JSON": "subject=x", "no subject": `{"reference":"op_1"}`, "a list": `[]`, "null": `null`, "reference no text": `{"subject":"S","reference":1}`,
	} {
		t.Run("Refuses/"+name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			g := p.json("/crm/tasks", body)
			p.wantStatus(g, http.StatusBadRequest)
			if g.at("category") != "VALIDATION_ERROR" {
				t.Fatal(g.raw)
			}
			p.wantEffects(destCRM, "", 0)
		})
	}
}
