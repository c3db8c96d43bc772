# syntax=docker/dockerfile:1
# Holdpoint's server and worker in one image. The database is not in it.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/holdpoint ./cmd/holdpoint && mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/holdpoint /usr/local/bin/holdpoint
# A fresh volume takes over this folder's owner.
COPY --from=build --chown=nonroot:nonroot /out/data /data
USER nonroot:nonroot
# Pages and API; the metrics address stays inside unless it is published.
EXPOSE 7300
ENV HOLDPOINT_ADDR=0.0.0.0:7300 HOLDPOINT_DATA=/data
VOLUME /data
ENTRYPOINT ["/usr/local/bin/holdpoint"]
CMD ["serve", "--no-jobs"]
