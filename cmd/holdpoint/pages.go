package main

import (
	"context"

	"holdpoint/connector/assist"
	"holdpoint/handlers"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// pages adds the browser's side.
func pages(e *echo.Echo, r server, p *handlers.Provider, told store.NoticeChannels, model *assist.Client) {
	handlers.Register(e, handlers.Deps{Store: r.store, Log: r.log, Provider: p, Told: told, Assist: model})
}

// waiting counts what waits for a person, for the number at the inbox.
func waiting(st *store.Store) func(context.Context, store.User) (int, error) {
	return handlers.Waiting(st)
}
