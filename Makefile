# Holdpoint. `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := bash
DATA := $(or $(HOLDPOINT_DATA),.data)

.PHONY: help run test race bench lint lint-full generate generate-check gallery shots peers db build clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Install what is missing, build, and start everything (RESET=1: without the old data)
	@build/run.sh

test: ## Run all tests beside a throw-away PostgreSQL (PKG=./store/... for some of them)
	@build/test.sh

race: ## Run the tests with the race detector
	@build/setup.sh gcc
	@build/test.sh -race

bench: build ## Measure the gate against pgbench on this machine
	@build/setup.sh postgresql
	@bin/holdpoint bench

lint: ## Check formatting, go vet, staticcheck
	@build/lint.sh

lint-full: lint ## Also golangci-lint with gosec, sqlclosecheck, bodyclose (its build takes minutes)
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...

generate: ## Write all generated files
	@build/generate.sh

generate-check: ## Check that the generated files are up to date
	@build/generate.sh --check

gallery: ## Serve every page in every state, from fixtures, without a database
	@build/setup.sh go
	go run ./views/viewstest/gallery

shots: ## Write a picture of every page, wide and narrow, light and dark, to DATA/shots
	@build/setup.sh go chromium
	HOLDPOINT_SHOTS="$(abspath $(DATA))/shots" go test -count=1 ./views/viewstest -run TestPagesInABrowser
	@echo "Pictures: $(DATA)/shots"

peers: ## Test against real programs of others (PEER="mailpit stripe-mock" for some), fetched into the cache
	@build/peers.sh $(PEER)

db: ## Open the private database in psql
	@build/setup.sh go postgresql
	@go build -o bin/ ./store/pglocal/pgctl
	@bin/pgctl psql "$(DATA)"

build: ## Build bin/holdpoint and bin/sandbox
	@build/setup.sh go
	go build -o bin/ ./cmd/holdpoint ./cmd/sandbox

clean: ## Remove what was built (the data stays)
	rm -rf bin
