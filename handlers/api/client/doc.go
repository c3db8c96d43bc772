// Package client is the Go client of the job API. It uses the standard library only and
// none of our other packages, so that a job of any program may import it.
//
// A job asks for a permit, takes the bytes it may send, acts, and reports:
//
//	c := client.New("https://hold.example.com", os.Getenv("HOLDPOINT_TOKEN"))
//	w := client.Worker{Client: c, Destination: "crm", Name: "crm-1", Act: act}
//	err := w.Run(ctx) // until ctx ends; what is in flight is finished
//
// act gets a Permit, the only thing that holds bytes to send, and gives a Report. Three
// rules keep the promise that there is never a second effect:
//
//   - Send exactly Permit.Request, once, and only while Permit.Left is above zero. The
//     context that act gets ends then. Do not let your HTTP client repeat requests.
//   - Report Confirmed only with the destination's own reference, NotStarted only with a
//     code that the destination's profile lists. Everything else is Unknown: a time-out,
//     a reset, an answer you do not understand, an exit code. The zero Report is Unknown.
//   - Do not try again by yourself. Whether and when is decided by Holdpoint.
package client
