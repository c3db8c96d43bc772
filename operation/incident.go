package operation

// IncidentID names one incident: "inc_…".
type IncidentID string
