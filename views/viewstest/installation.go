package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func installationFixtures() []Fixture {
	going := views.InstallationModel{Frame: frame("", views.PathInstallation), InFlight: 2, Pause: reason(views.PathInstallation + "/pause")}
	stopped := views.InstallationModel{Frame: frame("", views.PathInstallation), Resume: &views.ReasonForm{Form: barred(operation.CodeNotEntitled, "role", string(operation.RoleAdmin))},
		Paused: &views.PausedBy{Scope: views.PauseAll, Who: support, Since: ago(time.Hour), Reason: "The shop is being moved"}}
	stopped.Frame.SendsPaused = true
	older := stopped
	older.Resume = reason(views.PathInstallation + "/resume")
	older.Paused = paused("witness_older")
	server, timeline := older, older
	server.Paused, timeline.Paused = paused("witness_server"), paused("witness_timeline")
	return []Fixture{{"installation", views.InstallationPage(going)}, {"installation-paused", views.InstallationPage(stopped)}, {"installation-older", views.InstallationPage(older)},
		{"installation-server", views.InstallationPage(server)}, {"installation-timeline", views.InstallationPage(timeline)}}
}

func paused(word string) *views.PausedBy {
	return &views.PausedBy{Scope: views.PauseAll, Who: views.SystemWho(), Since: ago(time.Hour), Reason: word + " " + ago(5*time.Hour).Format(time.RFC3339)}
}
