# Holdpoint's server and worker in one image. The database is not in it.
# syntax=docker/dockerfile:1
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/holdpoint ./cmd/holdpoint

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/holdpoint /usr/local/bin/holdpoint
USER nonroot:nonroot
# Pages and API; the metrics address stays inside unless it is published.
EXPOSE 7300
ENV HOLDPOINT_ADDR=0.0.0.0:7300
ENTRYPOINT ["/usr/local/bin/holdpoint"]
CMD ["serve", "--no-jobs"]
