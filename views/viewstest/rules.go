package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// rulesFixtures are chains of replacements, of which one that does not stand next to the
// operation holds it, and operations with a recipient on the suppression list.
func rulesFixtures() []Fixture {
	first := &views.Link{Label: "op_…4k0c1", URL: "/operations/op_first"}
	original := &views.Link{Label: "op_…9f2ka", URL: "/operations/op_original"}
	waits := taskPage(operation.Ready, operation.DecideOriginal, 23*time.Hour)
	waits.Head.Replaces, waits.Head.Original, waits.Head.Before = original, "open", first
	waits.Tried = views.Tried{Max: 5}
	waits.Panel.Cancel = cancel()

	doubt := reviewPage()
	doubt.Head.ReplacedBy, doubt.Head.Since, doubt.Head.SinceStands = original, original, "open"
	doubt.Panel.Reconcile.Finding, doubt.Panel.Reconcile.Then = views.FindingNotDone, views.ThenReexecute
	doubt.Panel.Reconcile.Errors = map[string]views.Say{"": views.Refused(operation.Refuse(operation.CodeReplacementOpen))}

	person := func(address string, reason operation.SuppressionReason, held bool) views.SuppressedPerson {
		return views.SuppressedPerson{Address: address, Reason: reason, URL: views.PathSuppressions + "?search=x", Held: held}
	}
	alone := mailPage()
	alone.Head.Suppressed = []views.SuppressedPerson{person("kim@example.test", operation.SuppressedUnsubscribed, false), person("kierownik.zakupow.dzialu.obslugi.klienta.kluczowego@bardzo-dluga-nazwa-domeny.example.test", operation.SuppressedBounce, false)}
	held := reviewPage()
	held.Head.Replaces, held.Head.Why = original, views.Refused(operation.Refuse(operation.CodeSuppressed))
	held.Head.Suppressed = []views.SuppressedPerson{person("kim@example.test", operation.SuppressedComplaint, true)}
	return []Fixture{
		{"operation-lineage-waits", views.OperationPage(waits)},
		{"operation-replaced-in-doubt", views.OperationPage(doubt)},
		{"operation-recipient-suppressed", views.OperationPage(alone)},
		{"operation-replacement-suppressed", views.OperationPage(held)},
	}
}
